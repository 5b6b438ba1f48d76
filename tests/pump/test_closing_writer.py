"""A closing writer: its prose is told as it comes, guarded at its end, and fails at no run's cost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, HitlTier, PolicyClass, ToolContext, ToolError, tool
from condor.core.errors import StoreUnavailable
from condor.core.frames.ui_message import UiMessage
from condor.ports import deadline
from condor.ports.closing_writer import ClosingDelta, ClosingRequest
from condor.ports.encoding import decode
from condor.ports.messages import TextCut
from condor.ports.store import AuditFilter, AuditRow
from condor.pump import closing_prose

if TYPE_CHECKING:
    from pathlib import Path

Script = Callable[[ClosingRequest], AsyncIterator[ClosingDelta]]


@dataclass
class Scripted:
    """A writer that says what it is told to."""

    parts: list[str] = field(default_factory=list)
    #: Raised after the parts.
    fault: Exception | None = None
    #: Waits for ever after the parts.
    hangs: bool = False
    asked: list[ClosingRequest] = field(default_factory=list)
    closed: int = 0

    async def write(self, request: ClosingRequest) -> AsyncIterator[ClosingDelta]:
        self.asked.append(request)
        try:
            for part in self.parts:
                yield ClosingDelta(text=part)
            if self.fault:
                raise self.fault
            if self.hangs:
                await asyncio.Event().wait()
            yield ClosingDelta(text="", tokens=7, cost_usd=0.01)
        finally:
            self.closed += 1


@tool("mail.send", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, noun="the message")
async def send(_: ToolContext, to: str) -> dict[str, str]:
    """Send a message."""
    if to == "Bo Ek":
        raise ToolError("no such address", effect="none")
    return {"to": to}


PLAN = {
    "steps": [
        {"id": "s1", "tool": "mail.send", "args": {"to": "Anna Lind"}},
        {"id": "s2", "tool": "mail.send", "args": {"to": "Bo Ek"}},
    ]
}


def _body(row: AuditRow) -> dict[str, Any]:
    return dict(decode(row.body))


async def _run(home: Path, writer: Scripted) -> tuple[dict[str, Any], list[Any]]:
    async with Condor(tools=[send], home=home, writer=writer, tend=False) as condor:
        run = await condor.start(plan=PLAN, autonomy="autonomous")
        snapshot = await condor.wait(run.id)
        events = [event async for event in condor.watch(run.id)]
        payloads = await condor.store.payloads(
            run.id, [str(e.facts["text"]) for e in events if "text" in e.facts]
        )
        message = UiMessage(run.id)
        chunks = [
            chunk
            for event in events
            for chunk in message.project(
                event, lambda name: decode(payloads[name]) if name in payloads else None
            )
        ]
        rows = await condor.audit(AuditFilter(run_id=run.id))
        return {**snapshot, "audit": rows, "chunks": chunks}, events


async def test_prose_is_told_in_parts_and_guarded(tmp_path: Path) -> None:
    """Parts are events of their own; a false claim is answered by an event, a frame and an audit row."""
    writer = Scripted(["I sent the message to Anna", " Lind and the one to Bo Ek was sent", " as well."])
    run, events = await _run(tmp_path, writer)
    text = run["closing"]
    assert text.startswith("I sent the message to Anna Lind and the one to Bo Ek was sent as well.\n\n")
    assert "\u26a0 Correction: " in text
    assert "\u26a0 Not completed: " in text
    kinds = [event.kind for event in events]
    assert kinds.count("text.delta") >= 1
    assert kinds.index("text.delta") < kinds.index("text.done") < kinds.index("claim.corrected")
    corrected = [chunk["data"] for chunk in run["chunks"] if chunk["type"] == "data-claim-correction"]
    assert [(c["kind"], c["stepId"]) for c in corrected] == [("correction", "s2"), ("not-completed", "s2")]
    told = "".join(c["delta"] for c in run["chunks"] if c["type"] == "text-delta")
    assert told == text
    assert [row.get("stepId") for row in map(_body, run["audit"]) if row["decision"] == "corrected"] == ["s2"]
    assert writer.closed == 1


async def test_a_writer_is_told_the_evidence(tmp_path: Path) -> None:
    """It gets how every step ended, and the closing that stands without it."""
    writer = Scripted(["The message to Bo Ek failed."])
    await _run(tmp_path, writer)
    [asked] = writer.asked
    assert [(step.step_id, str(step.status)) for step in asked.evidence.steps] == [
        ("s1", "succeeded"),
        ("s2", "failed"),
    ]
    assert asked.evidence.steps[1].entities == ("Bo Ek",)
    assert "\u26a0 Not completed: the message failed" in asked.composed


async def test_reserved_prefixes_cannot_be_written(tmp_path: Path) -> None:
    """Also where the prefix comes in parts; it is escaped before it is stored."""
    run, _ = await _run(
        tmp_path, Scripted(["\u26a0", " Corr", "ection: no", "ne needed.\nNot comp", "leted: nothing"])
    )
    text = run["closing"]
    assert text.startswith("(!) Correction: none needed.\n(!) Not completed: nothing\n\n")


@pytest.mark.parametrize(
    "writer",
    [
        Scripted(["I have sent "], fault=RuntimeError("gone")),
        Scripted(["I have sent "], hangs=True),
        Scripted([], fault=RuntimeError("gone")),
        Scripted([], hangs=True),
        Scripted([]),
    ],
    ids=["breaks off", "hangs", "never begins", "never answers", "says nothing"],
)
async def test_a_writer_that_fails_costs_its_prose_alone(
    tmp_path: Path, writer: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The composed closing stands after what it said, and the run ends as it would have."""
    monkeypatch.setattr(closing_prose, "WRITING_S_MAX", 0.05)
    run, _ = await _run(tmp_path, writer)
    assert run["status"] == "degraded"
    text = run["closing"]
    assert text.startswith("I have sent \n\n" if writer.parts else "mail.send: done.")
    assert "\u26a0 Not completed: the message failed: no such address." in text
    assert writer.closed == 1


class _Junk:
    """An output processor that lets one part through and then gives or raises something else."""

    name = "junk"

    def __init__(self, gives: object) -> None:
        self._gives: object = gives
        self._fed = 0

    def feed(self, part: str, *, now_s: float) -> Any:
        self._fed += 1
        if self._fed == 1:
            return [part]
        if isinstance(self._gives, BaseException):
            raise self._gives
        return self._gives

    def end(self) -> Any:
        return []


@pytest.mark.parametrize(
    "gives",
    [RuntimeError("no"), TextCut("enough", [1]), [1, 2], "text", None, ["a", None]],  # type: ignore[list-item]
    ids=["raises", "cuts with junk", "numbers", "a text", "nothing", "half of it"],
)
async def test_a_processor_that_fails_costs_the_rest_of_the_prose(
    tmp_path: Path, gives: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it let through stays, what it did not look at is not told, the run ends as it would have."""
    monkeypatch.setattr("condor.processors.build_output_processors", lambda *_, **__: lambda: _Junk(gives))
    run, _ = await _run(tmp_path, Scripted(["I have sent ", "it to 4711."]))
    assert run["status"] == "degraded"
    assert run["closing"].startswith("I have sent \n\n")
    assert "4711" not in run["closing"]
    assert "\u26a0 Not completed: the message failed: no such address." in run["closing"]


async def test_a_text_without_end_is_cut(tmp_path: Path) -> None:
    """A limit on every text; the composed closing follows."""
    run, _ = await _run(tmp_path, Scripted(["word " * 1_000] * 1_000))
    text = run["closing"]
    assert text[: closing_prose.PROSE_CHARS_MAX] == ("word " * 10_000)[: closing_prose.PROSE_CHARS_MAX]
    assert len(text) < closing_prose.PROSE_CHARS_MAX + 1_000
    assert "mail.send: done." in text


async def test_a_text_that_was_interrupted_is_not_begun_again(tmp_path: Path) -> None:
    """The disk refuses the end; whoever closes the run then keeps what was told, and asks no writer anew."""
    refused: list[str] = []

    def faults(point: str) -> None:
        if point == "end.staged" and not refused:
            refused.append(point)
            raise StoreUnavailable("the disk is full")

    writer = Scripted(["I sent the message to Bo Ek."])
    async with Condor(tools=[send], home=tmp_path, writer=writer, tend=False, faults=faults) as condor:
        run = await condor.start(plan=PLAN, autonomy="autonomous")
        async with asyncio.timeout(10):
            while not condor.stands_still(run.id):  # noqa: ASYNC110 - nobody is told that it stands still
                await asyncio.sleep(0.01)
    async with Condor(tools=[send], home=tmp_path, writer=writer, tend=False) as condor:
        snapshot = await condor.wait(run.id)
        kinds = [str(event.kind) async for event in condor.watch(run.id)]
    assert len(writer.asked) == 1
    assert kinds.count("text.delta") == 1
    text = str(snapshot["closing"])
    assert text.startswith("I sent the message to Bo Ek.\n\n\u26a0 Correction: ")
    assert "\u26a0 Not completed: the message failed" in text


async def test_a_stop_ends_a_text(tmp_path: Path) -> None:
    """Whoever stops the run does not wait for the writer; the closing says who stopped it."""
    begun, goes_on = asyncio.Event(), asyncio.Event()

    class Slow:
        async def write(self, _: ClosingRequest) -> AsyncIterator[ClosingDelta]:
            yield ClosingDelta(text="x" * 200)
            begun.set()
            await goes_on.wait()
            yield ClosingDelta(text="The rest.")
            yield ClosingDelta(text="More.")

    async with Condor(tools=[send], home=tmp_path, writer=Slow(), tend=False) as condor:
        run = await condor.start(plan=PLAN, autonomy="autonomous")
        async with asyncio.timeout(10):
            await begun.wait()
        await condor.stop(run.id, reason="enough")
        goes_on.set()
        snapshot = await condor.wait(run.id)
    assert snapshot["status"] == "aborted"
    assert "The run was stopped by" in str(snapshot["closing"])
    assert "More." not in str(snapshot["closing"])


@pytest.mark.parametrize("where", ["ignores it", "hangs on its way out", "hangs when it is closed"])
async def test_a_writer_that_does_not_let_go_holds_no_run(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not end when it is cancelled or closed is abandoned; the run ends with what was told."""
    monkeypatch.setattr(closing_prose, "WRITING_S_MAX", 60.0 if where.endswith("closed") else 0.05)
    monkeypatch.setattr(closing_prose, "UNWIND_S", 0.01)
    monkeypatch.setattr(deadline, "UNWIND_S", 0.01)
    let_go = asyncio.Event()

    async def holds_on() -> None:
        while not let_go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await let_go.wait()

    class Stubborn:
        async def write(self, _: ClosingRequest) -> AsyncIterator[ClosingDelta]:
            try:
                yield ClosingDelta(text="I have sent ")
                if where.endswith("closed"):
                    yield ClosingDelta(text="x" * closing_prose.PROSE_CHARS_MAX)
                if where.startswith("hangs"):
                    await asyncio.Event().wait()
                await holds_on()
            finally:
                if where.startswith("hangs"):
                    await holds_on()

    try:
        async with asyncio.timeout(5):
            run, _ = await _run(tmp_path, Stubborn())  # type: ignore[arg-type]
        assert run["closing"].startswith("I have sent ")
        assert "\u26a0 Not completed: the message failed: no such address." in run["closing"]
    finally:
        let_go.set()
        await asyncio.sleep(0.01)
