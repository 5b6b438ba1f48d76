"""A closing that a model writes: streamed, held against the evidence, and gone without loss when it fails."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from condor.pump import closing_prose
from tests.models.wire import KEY, Answer, fails, serving, words
from tests.pump.desk import call, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from condor.testing import Ledger
    from tests.models.wire import Endpoint
    from tests.pump.desk import Desk


@asynccontextmanager
async def desk_with(served: Endpoint, home: Path, ledger: Ledger, **more: Any) -> AsyncIterator[Desk]:
    """A desk whose closings this model writes."""
    limits = {
        "model_name": "fake-1",
        "model_base_url": served.url,
        "model_key": KEY,
        "model_for": "write",
        "model_timeout_s": 5,
        **more,
    }
    async with open_desk(home, read_tool(ledger), write_tool(ledger), limits=limits) as desk:
        yield desk


async def test_it_is_written_in_parts_and_paid_for(tmp_path: Path, ledger: Ledger) -> None:
    """The parts are in the log, the whole is the closing, the model was told what the run can prove."""
    parts = ("I read ", "the book ", "for you.")
    async with serving(words("", parts=parts)) as served, desk_with(served, tmp_path / "h", ledger) as desk:
        end = await desk.run(call("r", "book.read"))
        kinds = [event["kind"] for event in await desk.events(end["runId"])]
    assert end["status"] == "succeeded"
    assert end["closing"].startswith("I read the book for you.")
    assert "text.delta" in kinds
    assert end["budget"]["tokens"]["used"] == 1000
    assert '"status":"succeeded"' in served.prompts[0]
    assert "<data source=" in served.prompts[0]


async def test_a_false_claim_is_corrected(tmp_path: Path, ledger: Ledger) -> None:
    """A denied write that the model calls done is named as what it is; a sign of ours it cannot make."""
    lie = words("", parts=("The record was written", " successfully. ⚠ Correc", "tion: trust me."))
    async with serving(lie) as served, desk_with(served, tmp_path / "h", ledger) as desk:
        parked = await desk.run(call("w", "book.write", record="a", value="1"))
        end = await desk.deny(await desk.card(parked["runId"]))
    assert end["status"] == "aborted"
    assert "⚠ Not completed:" in end["closing"]
    assert "⚠ Correction: trust me" not in end["closing"]
    assert ledger.count() == 0


@pytest.mark.parametrize(
    "answer",
    [
        fails(500),
        Answer(hangs=True),
        Answer(raw=b"<html>"),
        words("", parts=("I read ", "the "), cut_after=1),
        words(""),
    ],
    ids=["500", "silence", "rubbish", "breaks off", "empty"],
)
async def test_a_writer_that_fails_costs_the_run_nothing(
    tmp_path: Path, ledger: Ledger, answer: Answer
) -> None:
    """The composed closing stands, and the run ends as it had ended."""
    async with (
        serving(answer) as served,
        desk_with(served, tmp_path / "h", ledger, model_timeout_s=0.5) as desk,
    ):
        end = await desk.run(call("r", "book.read"))
    assert end["status"] == "succeeded"
    assert "book.read: done." in end["closing"]
    assert len(served.asked) == 1


CUT: dict[str, Answer] = {
    "its limit": words("", parts=("The book was re",), finish="length", usage=None),
    "its filter": words("", parts=("The book was re",), finish="content_filter", usage=None),
    "breaks off": words("", parts=("The book was re", "ad."), cut_after=1),
}


@pytest.mark.parametrize("answer", CUT.values(), ids=CUT)
async def test_a_closing_that_was_cut_does_not_stand_alone(
    tmp_path: Path, ledger: Ledger, answer: Answer
) -> None:
    """Whoever cut it off: the composed closing follows, and what was written is paid for by its length."""
    async with serving(answer) as served, desk_with(served, tmp_path / "h", ledger) as desk:
        end = await desk.run(call("r", "book.read"))
        asked = sum(len(str(one["content"])) for one in served.asked[0]["messages"])
    assert end["closing"].startswith("The book was re\n\n")
    assert "book.read: done." in end["closing"]
    assert asked // 3 <= end["budget"]["tokens"]["used"] < asked // 2


async def test_a_closing_that_never_comes_is_paid_for(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that was asked and hangs has read the question, whoever loses patience; one away has not."""
    monkeypatch.setattr(closing_prose, "WRITING_S_MAX", 0.5)
    used = []
    for number, (answer, patience) in enumerate(
        [(Answer(hangs=True), 0.3), (Answer(hangs=True), 5), (fails(500), 5)]
    ):
        async with (
            serving(answer) as served,
            desk_with(served, tmp_path / str(number), ledger, model_timeout_s=patience) as desk,
        ):
            end = await desk.run(call("r", "book.read"))
        assert "book.read: done." in end["closing"]
        used.append(end["budget"]["tokens"]["used"])
    assert used[0] == used[1] > 100
    assert used[2] == 0
