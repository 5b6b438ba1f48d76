"""Gates: one wait is one card, on every path, and every card leads to one execution."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from condor import (
    AlreadyDecided,
    AnswerInvalid,
    ArgSpec,
    CardEvidence,
    HitlTier,
    InputField,
    NeedInput,
    PolicyClass,
    StaleSuspension,
    ToolContext,
    ToolError,
    tool,
)
from condor.core.errors import UnknownId
from tests.pump.desk import ANN, BOB, ask, call, found, nested, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing import Ledger

THREE = tuple(call(f"w{n}", "book.write", record="a", value="x") for n in range(3))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
async def test_parallel_gates_are_answered_once_each_in_any_order(
    tmp_path: Path, ledger: Ledger, order: tuple[int, ...]
) -> None:
    """Reports 6, 11, 12: three cards with ids of their own, three answers, three executions, none left."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(*THREE)
        cards = await desk.cards(run["runId"])
        assert len({card["suspendId"] for card in cards}) == 3
        assert [wait["suspendId"] for wait in run["why"]["waitsFor"]] == [card["suspendId"] for card in cards]
        for done, index in enumerate(order, start=1):
            await desk.approve(cards[index])
            assert (ledger.count(), len(await desk.cards(run["runId"]))) == (done, 3 - done)
        end = await desk.rest(run["runId"])
        assert (end["status"], len(end["suspensions"])) == ("succeeded", 3)


async def test_cards_keep_their_ids_over_a_restart(tmp_path: Path, ledger: Ledger) -> None:
    """Reports 11 and 20: a new process finds the same cards and resumes from them."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(*THREE)
        before = await desk.cards(run["runId"])
    async with open_desk(tmp_path / "home", write_tool(ledger), seed=1) as desk:
        assert await desk.cards(run["runId"]) == before
        for card in before:
            await desk.approve(card)
        assert ledger.count() == 3


async def test_two_gates_in_sequence(tmp_path: Path, ledger: Ledger) -> None:
    """Report 19: with the first gate answered, a reload shows the second, not the first."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(
            call("a", "book.write", record="a", value="x"),
            call("b", "book.write", record="b", value="y", after=["a"]),
        )
        first = await desk.card(run["runId"], "a")
        await desk.approve(first)
        second = await desk.card(run["runId"], "b")
    async with open_desk(tmp_path / "home", write_tool(ledger), seed=1) as desk:
        assert await desk.card(run["runId"]) == second
        with pytest.raises(AlreadyDecided):
            await desk.answer(first, {"approved": True})
        assert (await desk.approve(second))["status"] == "succeeded"
        assert [entry.record for entry in ledger.entries()] == ["a", "b"]


async def test_one_free_and_one_gated_call_give_one_card(tmp_path: Path, ledger: Ledger) -> None:
    """Report 16: a surplus decision finds nothing to decide and consumes nothing."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        run = await desk.run(call("r", "book.read"), call("w", "book.write", record="a", value="x"))
        card = await desk.card(run["runId"])
        for surplus in ("r", "w", "sus_" + "a" * 26):
            with pytest.raises(LookupError, match="no card"):
                try:
                    await desk.condor.resume(run["runId"], surplus, {"approved": True}, principal=BOB)
                except Exception as refused:
                    raise LookupError(str(refused)) from refused
        assert (await desk.approve(card))["status"] == "succeeded"
        assert ledger.count() == 1


async def test_mixed_answers_have_one_continuation(tmp_path: Path, ledger: Ledger) -> None:
    """Report 30: one yes and one no: one run goes on once, with what was approved."""
    async with open_desk(tmp_path / "home", write_tool(ledger, on_deny="skip"), read_tool(ledger)) as desk:
        run = await desk.run(
            call("a", "book.write", record="a", value="x"),
            call("b", "book.write", record="b", value="y"),
            call("r", "book.read", after=["a", "b"]),
        )
        await desk.deny(await desk.card(run["runId"], "b"))
        end = await desk.approve(await desk.card(run["runId"], "a"))
        assert end["status"] == "degraded"
        assert [entry.record for entry in ledger.entries()] == ["a"]
        assert [event["kind"] for event in await desk.events(run["runId"])].count("step.started") == 2


async def test_a_gate_two_levels_down_is_one_card_at_the_root(tmp_path: Path, ledger: Ledger) -> None:
    """Reports 22, 46, 13: nested plans are one run; the card names the path; every branch has its card."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(
            nested("s1", nested("s2", call("s3", "book.write", record="a", value="x"))),
            nested("t1", call("s3", "book.write", record="b", value="y")),
        )
        cards = await desk.cards(run["runId"])
        assert [card["stepId"] for card in cards] == ["s1/s2/s3", "t1/s3"]
        for card in cards:
            await desk.approve(card)
        assert ledger.count() == 2


async def test_a_planned_approval_is_no_permission(tmp_path: Path, ledger: Ledger) -> None:
    """The plan's own gate never satisfies the tool policy: the write asks again, under its own rule."""
    async with open_desk(tmp_path / "home", write_tool(ledger, approver_roles={"manager"})) as desk:
        run = await desk.run(
            ask("p", "Shall we?"), call("w", "book.write", record="a", value="x", after=["p"])
        )
        planned = await desk.card(run["runId"])
        assert (planned["origin"], planned["headline"]) == ("planned_approval", "Shall we?")
        await desk.approve(planned, ANN)
        card = await desk.card(run["runId"])
        assert (card["stepId"], card["origin"], ledger.count()) == ("w", "tool_policy", 0)
        assert (await desk.approve(card))["status"] == "succeeded"


async def test_a_planned_approval_that_is_denied_holds_what_follows(tmp_path: Path, ledger: Ledger) -> None:
    """Nothing runs past a planned approval that nobody gave, even where a denial only skips."""
    async with open_desk(tmp_path / "home", read_tool(ledger)) as desk:
        run = await desk.run(ask("p", "Shall we?", onDeny="skip"), call("r", "book.read", after=["p"]))
        end = await desk.deny(await desk.card(run["runId"]))
        assert (end["status"], [step["status"] for step in end["steps"]]) == ("failed", ["skipped"] * 2)


async def test_missing_arguments_are_asked_for_then_approved(tmp_path: Path, ledger: Ledger) -> None:
    """Clarification first, then approval of what was filled in: two cards on one step."""
    async with open_desk(tmp_path / "home", write_tool(ledger, approver_roles={"manager"})) as desk:
        run = await desk.run(call("w", "book.write", record="a"))
        first = await desk.card(run["runId"])
        assert (first["reasonCode"], first["origin"], first["message"]) == (
            "clarification",
            "tool_input",
            "Value is missing",
        )
        assert list(first["resumeSchema"]["properties"]) == ["value"]
        for wrong in ({"approved": True}, {"value": 3}, {"value": ""}, {}, {"value": "x", "record": "b"}):
            with pytest.raises(AnswerInvalid):
                await desk.answer(first, wrong, ANN)
        await desk.answer(first, {"value": "x"}, ANN)
        await desk.rest(run["runId"])
        second = await desk.card(run["runId"])
        assert (second["reasonCode"], second["generation"]) == ("approval", 2)
        assert second["toolInput"] == {"record": "a", "value": "x"}
        end = await desk.approve(second)
        assert (end["status"], ledger.entries()[0].value) == ("succeeded", "x")
        assert {card["suspendId"] for card in end["suspensions"]} == {first["suspendId"], second["suspendId"]}


@pytest.mark.parametrize("path", ["/missing", "/nowhere", "/record/0", ""])
async def test_a_reference_that_finds_nothing_is_asked_for(tmp_path: Path, ledger: Ledger, path: str) -> None:
    """Never a neighbour, never a default: what an earlier result does not hold a person says."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        run = await desk.run(
            call("r", "book.read"), call("w", "book.write", record="a", value=found("r", path))
        )
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], ledger.count()) == ("clarification", 0)
        assert ("the plan takes it from step r" in card["message"]) == bool(path)


async def test_an_optional_argument_that_a_reference_leaves_empty_is_asked_for(
    tmp_path: Path, ledger: Ledger
) -> None:
    """The plan meant it to be there; a call without it would be another call than was planned."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        run = await desk.run(call("r", "book.read"), call("s", "book.read", record=found("r", "/nowhere")))
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card["stepId"]) == ("clarification", "s")
        await desk.answer(card, {"record": "b"})
        end = await desk.rest(run["runId"])
        assert (end["status"], end["steps"][1]["args"]) == ("succeeded", {"record": "b"})


async def test_a_reference_carries_an_earlier_result(tmp_path: Path, ledger: Ledger) -> None:
    """What was shown on the card is the resolved value; what is inside it is data."""
    async with open_desk(tmp_path / "home", read_tool(ledger), write_tool(ledger)) as desk:
        run = await desk.run(
            call("r", "book.read", record='{"$from":"w"}'),
            call("w", "book.write", record="a", value=found("r", "/record")),
        )
        card = await desk.card(run["runId"])
        assert card["toolInput"] == {"record": "a", "value": '{"$from":"w"}'}
        await desk.approve(card)
        assert ledger.entries()[0].value == '{"$from":"w"}'


def choosy_write(ledger: Ledger, tier: HitlTier) -> Any:
    """Asks which of two, then writes it."""

    @tool("book.choose", policy_class=PolicyClass.MUTATE, hitl_tier=tier)
    async def choose(ctx: ToolContext, record: str) -> Any:
        if "which" not in ctx.answers:
            which = InputField(name="which", label="Which one?", type="code", hint={"enum": ["old", "new"]})
            return NeedInput(fields=(which,), message="There are two.")
        ledger.write(record, str(ctx.answers["which"]), key=ctx.idempotency_key)
        return ctx.answers["which"]

    return choose


async def test_a_tool_that_needs_input_asks_then_is_approved(tmp_path: Path, ledger: Ledger) -> None:
    """A question of the tool is a clarification; what was answered is part of what is approved then."""
    async with open_desk(tmp_path / "home", choosy_write(ledger, HitlTier.HIGH)) as desk:
        run = await desk.run(call("c", "book.choose", record="a"))
        await desk.approve(await desk.card(run["runId"]))
        question = await desk.card(run["runId"])
        said = "Not run, although it was approved: There are two."
        assert (question["reasonCode"], question["message"]) == ("clarification", said)
        with pytest.raises(AnswerInvalid):
            await desk.answer(question, {"which": "other"}, ANN)
        await desk.answer(question, {"which": "new"}, ANN)
        await desk.rest(run["runId"])
        again = await desk.card(run["runId"])
        assert (again["reasonCode"], again["generation"], ledger.count()) == ("approval", 3, 0)
        assert (await desk.approve(again))["status"] == "succeeded"
        assert [entry.value for entry in ledger.entries()] == ["new"]


async def test_a_tool_that_needs_input_in_an_autonomous_run(tmp_path: Path, ledger: Ledger) -> None:
    """A low-tier write that asks one question gives one card; halted there, it was never begun."""
    async with open_desk(tmp_path / "home", choosy_write(ledger, HitlTier.LOW)) as desk:
        run = await desk.run(call("c", "book.choose", record="a"), autonomy="autonomous")
        await desk.answer(await desk.card(run["runId"]), {"which": "old"}, ANN)
        assert (await desk.rest(run["runId"]))["status"] == "succeeded"
        other = await desk.run(call("c", "book.choose", record="b"), autonomy="autonomous")
        await desk.condor.stop(other["runId"], principal=ANN)
        end = await desk.rest(other["runId"])
        assert (end["status"], end["steps"][0]["status"]) == ("aborted", "skipped")
        assert "not known" not in end["closing"]
        assert [entry.record for entry in ledger.entries()] == ["a"]


async def test_a_gated_tool_inside_a_wrapper_that_retries(tmp_path: Path, ledger: Ledger) -> None:
    """Report 10: suspending is a returned value of the gate; no wrapper of the body sees or swallows it."""
    tries = []

    def stubborn(body: Any) -> Any:
        async def wrapped(ctx: ToolContext, record: str, value: str) -> Any:
            for _ in range(3):
                tries.append(record)
                try:
                    return await body(ctx, record=record, value=value)
                except Exception:  # noqa: BLE001 - the wrapper of the report
                    continue
            return "fallback"

        return wrapped

    tool_ = write_tool(ledger)
    object.__setattr__(tool_, "function", stubborn(tool_.function))
    async with open_desk(tmp_path / "home", tool_) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        assert (run["status"], tries, len(await desk.cards(run["runId"]))) == ("suspended", [], 1)
        await desk.approve(await desk.card(run["runId"]))
        assert (tries, ledger.count()) == (["a"], 1)


async def test_the_same_call_twice_is_asked_twice(tmp_path: Path, ledger: Ledger) -> None:
    """Report 7: an approval passes its own call once; an identical second one has its own card."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(
            call("a", "book.write", record="a", value="x"),
            call("b", "book.write", record="a", value="x", after=["a"]),
        )
        first = await desk.card(run["runId"])
        await desk.approve(first)
        second = await desk.card(run["runId"])
        assert (second["stepId"], ledger.count()) == ("b", 1)
        assert second["contractHash"] == first["contractHash"]
        await desk.approve(second)
        assert ledger.count() == 2


async def test_a_review_of_three_rounds_writes_three_times(tmp_path: Path, ledger: Ledger) -> None:
    """Report 8: nothing before a gate is replayed when the run goes on."""
    async with open_desk(tmp_path / "home", write_tool(ledger, "log.write", tier=HitlTier.LOW)) as desk:
        steps = []
        for n in range(3):
            before = [f"g{n - 1}"] if n else []
            steps.append(call(f"l{n}", "log.write", record="log", value=str(n), after=before))
            steps.append(ask(f"g{n}", f"Round {n}", after=[f"l{n}"]))
        run = await desk.run(*steps, autonomy="autonomous")
        for n in range(3):
            assert [entry.value for entry in ledger.entries()] == [str(k) for k in range(n + 1)]
            await desk.approve(await desk.card(run["runId"]))
        assert ledger.count() == 3


async def test_an_answer_to_an_earlier_wait_never_answers_a_later_one(tmp_path: Path, ledger: Ledger) -> None:
    """Report 15: the same step waits again: another generation, another id; the old answer is refused."""
    state = {"version": "1"}

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        return CardEvidence(versions={record: state["version"]}, summary=f"version {state['version']}")

    async with open_desk(tmp_path / "home", write_tool(ledger, preview=preview)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        first = await desk.card(run["runId"])
        state["version"] = "2"
        await desk.approve(first)
        second = await desk.card(run["runId"])
        assert (second["generation"], second["suspendId"] != first["suspendId"]) == (2, True)
        assert "has changed since" in second["message"]
        with pytest.raises(AlreadyDecided):
            await desk.answer(first, {"approved": True})
        assert ledger.count() == 0
        state["version"] = "3"
        await desk.approve(second)
        third = await desk.card(run["runId"])
        state["version"] = "2"  # what the second card showed, which nobody may use any more
        await desk.approve(third)
        assert ledger.count() == 0
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], ledger.count(), end["suspensions"][-1]["generation"]) == ("succeeded", 1, 4)


async def test_an_alert_that_appears_or_worsens_asks_again(tmp_path: Path, ledger: Ledger) -> None:
    """Evidence has its own digest: a milder or equal picture passes, a worse one does not."""
    alerts: list[dict[str, str]] = [{"id": "x", "severity": "warning"}]

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        return CardEvidence(alerts=tuple(dict(alert) for alert in alerts))

    async with open_desk(tmp_path / "home", write_tool(ledger, preview=preview)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        alerts[0]["severity"] = "critical"
        await desk.approve(await desk.card(run["runId"]))
        card = await desk.card(run["runId"])
        assert "more severe" in card["message"]
        alerts.append({"id": "y", "severity": "info"})
        await desk.approve(card)
        card = await desk.card(run["runId"])
        assert (card["generation"], ledger.count()) == (3, 0)
        alerts.pop()
        alerts[0]["severity"] = "info"
        assert (await desk.approve(card))["status"] == "succeeded"


@pytest.mark.parametrize("planned", [{}, {"override_reason": "the plan says so"}], ids=["none", "planned"])
async def test_a_critical_alert_needs_a_reason_first(
    tmp_path: Path, ledger: Ledger, planned: dict[str, str]
) -> None:
    """``override_reason`` becomes a missing argument: clarification, then approval of the whole.

    A reason that stands in the plan is nobody's who saw the alert.
    """

    async def preview(ctx: ToolContext, **_: Any) -> CardEvidence:
        return CardEvidence(
            alerts=({"id": "x", "severity": "critical", "summary": "no"},), requires=("override_reason",)
        )

    @tool(
        "book.override",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        preview=preview,
        args=[ArgSpec(name="record", required=True), ArgSpec(name="override_reason", label="Why anyway")],
    )
    async def override(ctx: ToolContext, record: str, override_reason: str = "") -> str:
        ledger.write(record, override_reason, key=ctx.idempotency_key)
        return override_reason

    async with open_desk(tmp_path / "home", override) as desk:
        run = await desk.run(call("w", "book.override", record="a", **planned))
        question = await desk.card(run["runId"])
        assert (question["reasonCode"], question["message"]) == ("clarification", "Why anyway is missing")
        assert question["evidence"]["alerts"][0]["summary"] == "no"
        await desk.answer(question, {"override_reason": "benefit outweighs"}, ANN)
        await desk.rest(run["runId"])
        card = await desk.card(run["runId"])
        assert card["toolInput"]["override_reason"] == "benefit outweighs"
        assert (await desk.approve(card))["status"] == "succeeded"
        assert ledger.entries()[0].value == "benefit outweighs"


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"action": "change"}, "New value is missing"),
        ({"action": "drop", "value": "x"}, "Why is missing"),
        ({"action": "change", "value": " "}, "New value is missing"),
        ({"action": "keep"}, ""),
    ],
)
async def test_one_argument_makes_another_necessary(
    tmp_path: Path, ledger: Ledger, given: dict[str, str], asked: str
) -> None:
    """What the others make necessary is asked for like any missing argument, gated or not."""

    @tool(
        "book.turn",
        policy_class=PolicyClass.READ,
        args=[
            ArgSpec(name="action", required=True),
            ArgSpec(name="value", label="New value", required_if={"action": ("change",)}),
            ArgSpec(name="reason", label="Why", required_if={"value": (), "action": ("drop",)}),
        ],
    )
    async def turn(ctx: ToolContext, **args: str) -> dict[str, str]:
        return args

    async with open_desk(tmp_path / "home", turn) as desk:
        run = await desk.run(call("w", "book.turn", **given))
        cards = await desk.cards(run["runId"])
        assert [card["message"] for card in cards] == ([asked] if asked else [])


async def test_a_record_that_cannot_be_read_shows_no_card(tmp_path: Path, ledger: Ledger) -> None:
    """Without what a person must see there is no card to approve: the step fails, named."""

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        raise ToolError("the record is closed", effect="none", code="closed")

    async with open_desk(tmp_path / "home", write_tool(ledger, preview=preview)) as desk:
        end = await desk.run(call("w", "book.write", record="a", value="x"))
        assert (end["status"], end["suspensions"], ledger.count()) == ("failed", [], 0)
        assert end["closing"] == "⚠ Not completed: “book.write” failed: the record is closed."


async def test_cards_of_one_run_are_not_those_of_another(tmp_path: Path, ledger: Ledger) -> None:
    """Report 23: a card belongs to its run; the inbox lists every open one, oldest first, once."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        runs = [await desk.run(*THREE) for _ in range(2)]
        own = [[card["suspendId"] for card in await desk.cards(run["runId"])] for run in runs]
        assert set(own[0]).isdisjoint(own[1])
        inbox: Any = await desk.condor.pending()
        assert [card["suspendId"] for card in inbox] == own[0] + own[1]
        page: Any = await desk.condor.pending(limit=2, after=own[0][1])
        assert [card["suspendId"] for card in page] == [own[0][2], own[1][0]]
        with pytest.raises(UnknownId):
            await desk.condor.resume(runs[0]["runId"], own[1][0], {"approved": True}, principal=BOB)
        assert [len(await desk.cards(run["runId"])) for run in runs] == [3, 3]
        assert ledger.count() == 0


async def test_a_stale_card_names_the_one_that_took_its_place(tmp_path: Path, ledger: Ledger) -> None:
    """A14: the descriptor changed while the run was parked: nothing runs, the new card is named."""
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        old = await desk.card(run["runId"])
    changed = write_tool(ledger, tier=HitlTier.LOW, title="A harmless note")
    async with open_desk(tmp_path / "home", changed, seed=1) as desk:
        with pytest.raises(StaleSuspension) as stale:
            await desk.answer(old, {"approved": True})
        assert stale.value.cause == "the descriptor of book.write has changed since the card was shown"
        new = await desk.card(run["runId"])
        assert (stale.value.next_suspend_id, new["generation"]) == (new["suspendId"], 2)
        assert ledger.count() == 0
        with pytest.raises(StaleSuspension, match=new["suspendId"]):
            await desk.answer(old, {"approved": True})
        (card,) = [card for card in (await desk.rest(run["runId"]))["suspensions"] if card != new]
        assert card["status"] == "superseded"
        assert (await desk.approve(new))["status"] == "succeeded"
        assert ledger.count() == 1
