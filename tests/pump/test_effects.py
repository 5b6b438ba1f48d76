"""Effects: what a tool may do to the pump, and how an unknown outcome is found out about."""

from __future__ import annotations

import asyncio
import enum
import http
import sys
from typing import TYPE_CHECKING, Any

import pytest

from condor import (
    CardEvidence,
    HitlTier,
    PolicyClass,
    Reconciled,
    RecordMoved,
    StaleSuspension,
    ToolContext,
    ToolError,
    ToolResult,
    tool,
)
from tests.pump.desk import ANN, BOB, call, found, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor import ToolDescriptor
    from condor.testing import Ledger
    from tests.pump.desk import Desk

W = call("w", "odd")


class Word(enum.StrEnum):
    YES = "yes"


class Level(enum.IntEnum):
    TOP = 3


class Metres(float):
    pass


class Count(int):
    pass


class Mean(Exception):
    def __str__(self) -> str:
        raise ValueError("cannot say")


def raising(error: BaseException) -> Any:
    async def body(ctx: ToolContext) -> None:
        raise error

    return body


def returning(value: object) -> Any:
    async def body(ctx: ToolContext) -> object:
        return value

    return body


async def sleeping(ctx: ToolContext) -> None:
    await asyncio.sleep(60)


async def cancelling_itself(ctx: ToolContext) -> None:
    raise asyncio.CancelledError


async def cancelling_a_child(ctx: ToolContext) -> None:
    child = asyncio.ensure_future(asyncio.sleep(60))
    child.cancel()
    await child


async def exiting(ctx: ToolContext) -> None:
    sys.exit(3)


def as_read(body: Any, **options: Any) -> ToolDescriptor:
    return tool("odd", policy_class=PolicyClass.READ, **options)(body)


def as_write(body: Any, **options: Any) -> ToolDescriptor:
    return tool("odd", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, **options)(body)


#: What a body does, and the code it ends with.
BAD = {
    "rubbish": (returning(object()), "bad_result"),
    "set": (returning({1, 2}), "bad_result"),
    "nan": (returning(float("nan")), "bad_result"),
    "surrogate": (returning("\ud800"), "bad_result"),
    "too deep": (returning(__import__("functools").reduce(lambda v, _: [v], range(3000), 0)), "bad_result"),
    "bad ToolResult": (returning(ToolResult(outcome="done")), "bad_result"),  # type: ignore[arg-type]
    "raises": (raising(ValueError("no")), "tool_raised"),
    "raises and cannot say": (raising(Mean()), "tool_raised"),
    "raises StopIteration": (raising(StopIteration()), "tool_raised"),
    "own timeout": (raising(TimeoutError()), "timeout"),
    "hangs": (sleeping, "timeout"),
    "tool error": (raising(ToolError("maybe", code="maybe")), "maybe"),
    "code that is no word": (raising(ToolError("x", code="Patient Smith")), "tool_error"),
    "cancels itself": (cancelling_itself, "tool_raised"),
    "cancels a child": (cancelling_a_child, "tool_raised"),
    "exits": (exiting, "tool_raised"),
}


@pytest.mark.parametrize("what", BAD)
async def test_a_read_that_goes_wrong_has_failed(tmp_path: Path, ledger: Ledger, what: str) -> None:
    """Nothing was written, so it failed; the run ends, with the reason, and so does nothing else."""
    body, code = BAD[what]
    async with open_desk(tmp_path / "home", as_read(body, timeout_s=0.02), read_tool(ledger)) as desk:
        end = await desk.run(W, call("r", "book.read"))
        assert end["status"] == "degraded"
        assert {step["id"]: (step["status"], step.get("code")) for step in end["steps"]} == {
            "w": ("failed", code),
            "r": ("succeeded", None),
        }
        assert "⚠ Not completed: “odd” failed" in end["closing"]


@pytest.mark.parametrize("what", BAD)
async def test_an_effect_that_goes_wrong_is_unknown(tmp_path: Path, what: str) -> None:
    """It may have happened: neither failed nor done, nothing is repeated, a person is asked."""
    body, code = BAD[what]
    entered = []

    async def counted(ctx: ToolContext) -> object:
        entered.append(ctx.attempt)
        return await body(ctx)

    async with open_desk(tmp_path / "home", as_write(counted, timeout_s=0.02)) as desk:
        run = await desk.run(W, autonomy="autonomous")
        step = run["steps"][0]
        assert (run["status"], step["status"], step["code"]) == ("suspended", "unknown", code)
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card["headline"], entered) == ("reconcile", "Did it happen? odd", [1])
        await desk.condor.stop(run["runId"], principal=ANN)
        end = await desk.rest(run["runId"])
        assert (end["status"], end["steps"][0]["status"]) == ("aborted", "unknown")
        assert "⚠ Not completed: it is not known whether “odd” happened" in end["closing"]
        assert "unknown" in await desk.decisions(run["runId"])


GOOD = {
    "none": (None, None),
    "str enum": (Word.YES, "yes"),
    "int enum": (Level.TOP, 3),
    "status": (http.HTTPStatus.OK, 200),
    "float of its own": (Metres(1.5), 1.5),
    "int of its own": (Count(2), 2),
    "enum key": ({Word.YES: 1}, {"yes": 1}),
    "tuple": ((1, (2,)), [1, [2]]),
    "constructor": (
        {"lc": 2, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "true"}},
        {"lc": 2, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "true"}},
    ),
    "reference": ({"$from": "w"}, {"$from": "w"}),
}


@pytest.mark.parametrize("what", GOOD)
async def test_json_of_any_python_shape_is_kept(tmp_path: Path, what: str) -> None:
    """B15, report 4: what a tool returns is plain data, None included; it is stored, and done."""
    value, stored = GOOD[what]
    async with open_desk(tmp_path / "home", as_write(returning(value))) as desk:
        end = await desk.run(W, autonomy="autonomous")
        assert (end["status"], end["steps"][0].get("result")) == ("succeeded", stored)


@pytest.mark.parametrize("outcome", ["succeeded", "degraded", "failed", "skipped"])
async def test_a_tool_says_how_it_went(tmp_path: Path, outcome: Any) -> None:
    """``ToolResult``: the author's word, for reads and effects."""
    result = ToolResult(outcome=outcome, value="because")
    async with open_desk(tmp_path / "home", as_write(returning(result))) as desk:
        end = await desk.run(W, autonomy="autonomous")
        ends = {"succeeded": "succeeded", "degraded": "degraded", "failed": "failed", "skipped": "failed"}
        assert (end["status"], end["steps"][0]["status"]) == (ends[outcome], outcome)
        assert ("⚠ Not completed:" in end["closing"]) == (outcome != "succeeded")


async def test_absence_that_is_proven_has_failed(tmp_path: Path, ledger: Ledger) -> None:
    """Only ``effect="none"`` proves that nothing was written."""
    error = ToolError("refused by the ward", effect="none", code="refused")
    async with open_desk(tmp_path / "home", as_write(raising(error))) as desk:
        end = await desk.run(W, autonomy="autonomous")
        assert (end["status"], end["closing"]) == (
            "failed",
            "⚠ Not completed: “odd” failed: refused by the ward.",
        )
        (row,) = await desk.audit(end["runId"], decision="executed")
        assert row["reasonCode"] == "failed:refused"


# -- unknown outcomes ------------------------------------------------------------------------


def lossy(ledger: Ledger, *, lose: int, wrote: bool = True, **options: Any) -> ToolDescriptor:
    """A write whose first answers are lost on the way, after (or before) it was written."""
    left = [lose]
    once = options.get("idempotent", False)

    async def asked(ctx: ToolContext) -> Reconciled:
        entry = ledger.find(ctx.idempotency_key)
        return Reconciled(happened=entry is not None, value={"number": entry.number} if entry else None)

    if options.pop("reconciles", False):
        options["reconcile"] = asked

    @tool("odd", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, **options)
    async def write(ctx: ToolContext) -> dict[str, int]:
        lost = left[0] > 0
        left[0] -= 1
        if lost and not wrote:
            raise TimeoutError
        number = ledger.write("a", "x", key=ctx.idempotency_key, once=once)
        if lost:
            raise TimeoutError
        return {"number": number}

    return write


async def approved(desk: Desk) -> Any:
    run = await desk.run(W)
    return await desk.approve(await desk.card(run["runId"]))


@pytest.mark.parametrize("wrote", [True, False])
async def test_an_idempotent_tool_is_entered_again_under_its_key(
    tmp_path: Path, ledger: Ledger, wrote: bool
) -> None:
    """The same key gives one effect; nobody is asked a second time."""
    async with open_desk(tmp_path / "home", lossy(ledger, lose=2, wrote=wrote, idempotent=True)) as desk:
        end = await approved(desk)
        assert (end["status"], ledger.count(), end["steps"][0]["attempt"]) == ("succeeded", 1, 3)
        assert len(end["suspensions"]) == 1
        assert (await desk.decisions(end["runId"])).count("approved") == 1


async def test_an_idempotent_tool_that_never_answers_ends_with_a_person(
    tmp_path: Path, ledger: Ledger
) -> None:
    """Three times at most under one key; then a person finds out, and their word settles it."""
    async with open_desk(tmp_path / "home", lossy(ledger, lose=9, idempotent=True)) as desk:
        parked = await approved(desk)
        card = await desk.card(parked["runId"])
        assert (card["reasonCode"], parked["steps"][0]["attempt"], ledger.count()) == ("reconcile", 3, 1)
        await desk.answer(card, {"happened": True, "reason": "seen"}, BOB)
        end = await desk.rest(parked["runId"])
        assert (end["status"], ledger.count()) == ("succeeded", 1)
        assert "reconciled" in await desk.decisions(end["runId"])


@pytest.mark.parametrize("wrote", [True, False])
async def test_a_reconcile_hook_is_asked_before_anything_is_repeated(
    tmp_path: Path, ledger: Ledger, wrote: bool
) -> None:
    """It happened: its result is taken. It did not: its absence is proven, so it runs again."""
    async with open_desk(tmp_path / "home", lossy(ledger, lose=1, wrote=wrote, reconciles=True)) as desk:
        end = await approved(desk)
        assert (end["status"], ledger.count(), len(end["suspensions"])) == ("succeeded", 1, 1)
        assert end["steps"][0]["attempt"] == (1 if wrote else 2)
        assert end["steps"][0]["result"] == {"number": 1}


@pytest.mark.parametrize("said", [None, "yes", RuntimeError("down"), "hangs", Reconciled(happened=None)])
async def test_a_hook_that_cannot_say_leaves_it_to_a_person(
    tmp_path: Path, ledger: Ledger, said: object
) -> None:
    """Anything but a clear yes or no is no answer."""

    async def hook(ctx: ToolContext) -> object:
        if said == "hangs":
            await asyncio.sleep(60)
        if isinstance(said, Exception):
            raise said
        return said

    tool_ = lossy(ledger, lose=1, reconcile=hook, timeout_s=0.05)
    async with open_desk(tmp_path / "home", tool_) as desk:
        parked = await approved(desk)
        assert (await desk.card(parked["runId"]))["reasonCode"] == "reconcile"
        await desk.condor.stop(parked["runId"])


async def test_a_person_says_that_it_did_not_happen(tmp_path: Path, ledger: Ledger) -> None:
    """No: back to the gate, with a new card of the next generation; the new yes runs it once."""
    async with open_desk(tmp_path / "home", lossy(ledger, lose=1, wrote=False)) as desk:
        parked = await approved(desk)
        question = await desk.card(parked["runId"])
        assert (question["generation"], "expiresAt" in question) == (2, False)
        await desk.answer(question, {"happened": False, "reason": "not in the book"}, BOB)
        await desk.rest(parked["runId"])
        card = await desk.card(parked["runId"])
        assert (card["reasonCode"], card["generation"], ledger.count()) == ("approval", 3, 0)
        end = await desk.approve(card)
        assert (end["status"], ledger.count()) == ("succeeded", 1)


async def test_a_person_says_that_it_happened(tmp_path: Path, ledger: Ledger) -> None:
    """Yes: it is done, once; what hangs on its result is asked for, since nobody knows it."""
    tools = (lossy(ledger, lose=1), write_tool(ledger, tier=HitlTier.LOW))
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(
            W,
            call("n", "book.write", record="b", value={"$from": "w", "path": "/number"}),
            autonomy="autonomous",
        )
        parked = await desk.approve(await desk.card(run["runId"]))
        await desk.answer(await desk.card(parked["runId"]), {"happened": True, "reason": "seen"}, BOB)
        await desk.rest(parked["runId"])
        card = await desk.card(parked["runId"])
        assert (card["stepId"], card["reasonCode"]) == ("n", "clarification")
        await desk.answer(card, {"value": "1"}, ANN)
        assert (await desk.rest(parked["runId"]))["status"] == "succeeded"
        assert ledger.count() == 2


async def test_an_unknown_effect_does_not_hold_up_the_rest(tmp_path: Path, ledger: Ledger) -> None:
    """Report 48: independent steps go on; what hangs on it is held, not skipped."""
    tools = (lossy(ledger, lose=1), read_tool(ledger))
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(W, call("r", "book.read", after=["w"]), call("q", "book.read"))
        parked = await desk.approve(await desk.card(run["runId"]))
        assert {step["id"]: step["status"] for step in parked["steps"]} == {
            "w": "unknown",
            "r": "pending",
            "q": "succeeded",
        }
        await desk.condor.stop(parked["runId"])


async def test_what_a_tool_does_to_its_arguments_changes_no_later_call(
    tmp_path: Path, ledger: Ledger
) -> None:
    """The second entry under the key gets what was approved, not what the first left of it."""
    seen = []

    @tool("odd", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, idempotent=True)
    async def careless(ctx: ToolContext, parts: dict[str, Any]) -> str:
        seen.append({"a": parts.get("a"), "list": list(parts["list"])})
        parts.pop("a", None)
        parts["list"].clear()
        if len(seen) == 1:
            raise TimeoutError
        return "done"

    async with open_desk(tmp_path / "home", careless) as desk:
        run = await desk.run(call("w", "odd", parts={"a": 1, "list": [1, 2]}))
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], seen) == ("succeeded", [{"a": 1, "list": [1, 2]}] * 2)
        assert end["steps"][0]["args"] == {"parts": {"a": 1, "list": [1, 2]}}


async def test_what_a_tool_does_to_its_result_changes_no_later_step(tmp_path: Path, ledger: Ledger) -> None:
    """A step builds on the result as it was stored: the same before and after a restart."""
    shared = {"value": "first"}

    @tool("odd", policy_class=PolicyClass.READ)
    async def read(ctx: ToolContext) -> dict[str, str]:
        return shared

    @tool("odd.later", policy_class=PolicyClass.READ)
    async def later(ctx: ToolContext) -> None:
        shared["value"] = "second"

    async with open_desk(tmp_path / "home", read, later, write_tool(ledger)) as desk:
        run = await desk.run(
            call("r", "odd"),
            call("l", "odd.later", after=["r"]),
            call("w", "book.write", record="a", value=found("r", "/value"), after=["l"]),
        )
        card = await desk.card(run["runId"])
        assert card["toolInput"]["value"] == "first"
        await desk.approve(card)
        assert ledger.entries()[0].value == "first"


# -- the record moves ------------------------------------------------------------------------


async def test_a_record_that_moved_is_asked_about_again(tmp_path: Path, ledger: Ledger) -> None:
    """The write refuses what is not as it was shown; the new card says what moved and shows what is now."""

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        return CardEvidence(versions={record: ledger.version(record)}, before=ledger.count(record))

    @tool("book.put", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, preview=preview)
    async def put(ctx: ToolContext, record: str, value: str) -> str:
        if ledger.count(record) == 1:
            ledger.write(record, "somebody else")  # in the moment between the second look and the write
        if ctx.record_versions[record] != ledger.version(record):
            raise RecordMoved(f"version {ledger.version(record)} instead of {ctx.record_versions[record]}")
        ledger.write(record, value, key=ctx.idempotency_key)
        return "put"

    ledger.write("a", "first")
    async with open_desk(tmp_path / "home", put) as desk:
        run = await desk.run(call("p", "book.put", record="a", value="x"))
        first = await desk.card(run["runId"])
        assert first["evidence"] == {"before": 1, "versions": {"a": "1"}}
        again = await desk.approve(first)
        second = await desk.card(run["runId"])
        assert (again["status"], again["steps"][0]["status"]) == ("suspended", "suspended")
        assert (second["generation"], second["message"]) == (2, "version 2 instead of 1")
        assert second["evidence"] == {"before": 2, "versions": {"a": "2"}}
        end = await desk.approve(second)
        assert (end["status"], ledger.entries("a")[-1].value) == ("succeeded", "x")
        assert len({entry.key for entry in ledger.entries("a")}) == 2


async def test_a_routine_write_whose_record_moved_has_failed(tmp_path: Path) -> None:
    """Nobody was asked, so nobody is asked again: it failed, and says how."""
    async with open_desk(tmp_path / "home", as_write(raising(RecordMoved("it moved")))) as desk:
        end = await desk.run(W, autonomy="autonomous")
        assert (end["status"], end["steps"][0]["code"]) == ("failed", "record_moved")
        assert end["closing"] == "⚠ Not completed: “odd” failed: it moved."


async def test_a_halt_while_the_record_moved_leaves_it_unwritten(tmp_path: Path, ledger: Ledger) -> None:
    """Known not to have happened, so not reported as unknown, when the run is stopped before the new card."""
    gate, reading = asyncio.Event(), asyncio.Event()
    reads = []

    async def preview(ctx: ToolContext) -> CardEvidence:
        reads.append(1)
        if len(reads) == 3:
            reading.set()
            await gate.wait()
        return CardEvidence()

    tool_ = tool("odd", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, preview=preview)(
        raising(RecordMoved("it moved"))
    )
    async with open_desk(tmp_path / "home", tool_) as desk:
        run = await desk.run(W)
        await desk.answer(await desk.card(run["runId"]), {"approved": True})
        await reading.wait()
        await desk.condor.stop(run["runId"], principal=BOB)
        gate.set()
        end = await desk.rest(run["runId"])
        assert (end["status"], end["steps"][0]["status"]) == ("aborted", "skipped")
        assert "not known" not in end["closing"]


# -- drift -----------------------------------------------------------------------------------


async def test_a_changed_byte_of_the_descriptor_is_stale(tmp_path: Path, ledger: Ledger) -> None:
    """Report 39: what was shown is what runs, or nothing does; and back again is another change."""
    async with open_desk(tmp_path / "home", write_tool(ledger, title="Write")) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
    for seed, title in enumerate(("Writes", "Write"), start=1):
        async with open_desk(tmp_path / "home", write_tool(ledger, title=title), seed=seed) as desk:
            with pytest.raises(StaleSuspension):
                await desk.answer(await desk.card(run["runId"]), {"approved": True})
            assert (await desk.card(run["runId"]))["headline"] == title
            assert ledger.count() == 0


async def test_a_tool_that_is_gone_is_no_denial(tmp_path: Path, ledger: Ledger) -> None:
    """After a restart without its tool a card can be denied, but not approved; nothing is lost."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        card = await desk.card(run["runId"])
    async with open_desk(tmp_path / "home", read_tool(ledger), seed=1) as desk:
        with pytest.raises(StaleSuspension, match=r"no tool book\.write in this process"):
            await desk.answer(card, {"approved": True})
        assert await desk.card(run["runId"]) == card
    async with open_desk(tmp_path / "home", write_tool(ledger), seed=2) as desk:
        assert (await desk.approve(card))["status"] == "succeeded"
    async with open_desk(tmp_path / "home", write_tool(ledger), seed=3) as desk:
        other = await desk.run(call("w", "book.write", record="b", value="x"))
    async with open_desk(tmp_path / "home", read_tool(ledger), seed=4) as desk:
        end = await desk.deny(await desk.card(other["runId"]))
        assert (end["status"], end["closing"]) == (
            "aborted",
            "⚠ Not completed: book.write was declined by Bob Ode (no). It was not run.",
        )


async def test_a_tool_that_is_gone_when_a_run_goes_on_fails_its_step(tmp_path: Path, ledger: Ledger) -> None:
    """A step without its tool has failed, by name; the rest of the run is as it would have been."""
    tools = (read_tool(ledger), write_tool(ledger))
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(
            call("w", "book.write", record="a", value="x"), call("r", "book.read", after=["w"])
        )
    async with open_desk(tmp_path / "home", write_tool(ledger), seed=1) as desk:
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], ledger.count()) == ("degraded", 1)
        assert end["steps"][1]["code"] == "unknown_tool"
