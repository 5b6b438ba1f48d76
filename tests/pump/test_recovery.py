"""When a step fails: retries, another tool, a person, the breaker; and an end that is certain."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from condor import HitlTier, PolicyClass, ToolContext, ToolDescriptor, ToolError, ToolResult, tool
from condor.ports.model import Confirmation
from condor.pump import retries
from condor.testing import ScriptedConfirmer, ToolFault, faulty, replan_storm
from tests.pump.desk import ANN, BOB, call, found, open_desk, read_tool, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor.core.recovery.substitution import Fidelity
    from condor.testing import Ledger


def _said(value: Any) -> str:
    return f"{value['said']} of {value['record']}."


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "RETRY_PAUSE_S", 0)


def source(
    name: str, *, fidelity: Fidelity = "equal", group: str = "books", **options: Any
) -> ToolDescriptor:
    """A read of an alias group that says its own name."""

    @tool(
        name,
        policy_class=PolicyClass.READ,
        alias_group=group,
        alias_fidelity=fidelity,
        report=lambda args, value: _said(value),
        **options,
    )
    async def read(ctx: ToolContext, record: str = "a") -> dict[str, Any]:
        return {"record": record, "said": name, "attempt": ctx.attempt}

    return read


def order(
    ledger: Ledger, name: str, *, fidelity: Fidelity = "equal", tier: HitlTier = HitlTier.LOW, **options: Any
) -> ToolDescriptor:
    """A low record write of an alias group."""

    @tool(
        name,
        policy_class=PolicyClass.MUTATE,
        hitl_tier=tier,
        alias_group="orders",
        alias_fidelity=fidelity,
        **options,
    )
    async def write(ctx: ToolContext, record: str) -> dict[str, Any]:
        return {"number": ledger.write(record, name, key=ctx.idempotency_key)}

    return write


READ = call("r", "one.read", record="a")


def statuses(run: Any) -> dict[str, str]:
    """Step → status."""
    return {step["id"]: step["status"] for step in run["steps"]}


def revised(events: list[Any]) -> list[Any]:
    """The edits that put another tool in place, or the same one again."""
    return [event for event in edits(events) if event["verb"] == "retry-with-different-tool"]


def pruned(events: list[Any]) -> list[Any]:
    """The tails that were taken out: the step each hung on, its rule, and what is not run."""
    return [
        (event["stepId"], event["rule"], event["skips"])
        for event in edits(events)
        if event["verb"] == "skip-remaining"
    ]


def edits(events: list[Any]) -> list[Any]:
    """Every edit of the plan."""
    return [event for event in events if event["kind"] == "plan.revised"]


# -- retries ---------------------------------------------------------------------------------


async def test_a_passing_fault_is_retried(tmp_path: Path, ledger: Ledger) -> None:
    """The same read again, charged; the step keeps its id and counts its attempts."""
    broken = faulty(read_tool(ledger), ToolFault(kind="fail", times=2))
    async with open_desk(tmp_path / "home", broken) as desk:
        end = await desk.run(call("r", "book.read"), autonomy="autonomous")
        assert (end["status"], end["steps"][0]["attempt"]) == ("succeeded", 3)
        assert end["budget"]["retries_per_step"] == {"used": 2, "limit": 6, "unit": "retries"}
        assert end["budget"]["plan_mutations"]["used"] == 0
        started = [event for event in await desk.events(end["runId"]) if event["kind"] == "step.started"]
        assert [event.get("attempt") for event in started] == [None, 2, 3]


async def test_a_fault_that_stays_fails_after_the_leafs_own_ceiling(tmp_path: Path, ledger: Ledger) -> None:
    """Four calls, then the step has failed and what hangs on it is not run."""
    calls: list[int] = []

    @tool("down.read", policy_class=PolicyClass.READ)
    async def down(ctx: ToolContext) -> None:
        calls.append(ctx.attempt)
        raise ToolError("no", retryable=True, effect="none")

    async with open_desk(tmp_path / "home", down, read_tool(ledger)) as desk:
        end = await desk.run(
            call("r", "down.read"), call("t", "book.read", record=found("r", "/x")), autonomy="autonomous"
        )
        assert calls == [1, 2, 3, 4]
        assert (end["status"], statuses(end)) == ("failed", {"r": "failed", "t": "skipped"})


async def test_the_ledger_is_an_envelope_around_the_leafs_ceiling(tmp_path: Path, ledger: Ledger) -> None:
    """A lower ceiling of the run is never exceeded by a leaf."""
    broken = faulty(read_tool(ledger), "fail")
    async with open_desk(tmp_path / "home", broken, limits={"retries_per_step_max": 1}) as desk:
        end = await desk.run(call("r", "book.read"), autonomy="autonomous")
        assert (end["status"], end["steps"][0]["attempt"]) == ("failed", 2)
        assert end["budget"]["retries_per_step"]["used"] == 1


async def test_an_effect_is_repeated_only_when_it_is_proven_absent(tmp_path: Path, ledger: Ledger) -> None:
    """``effect="none"`` and retryable: the same key again. A write that does not say so is not repeated."""
    safe = faulty(write_tool(ledger, "safe.write", tier=HitlTier.LOW), ToolFault(kind="fail", times=1))

    @tool("vague.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW)
    async def vague(ctx: ToolContext) -> None:
        ledger.write("v", "x", once=False)
        raise ToolError("something", retryable=True)

    async with open_desk(tmp_path / "home", safe, vague) as desk:
        end = await desk.run(call("w", "safe.write", record="a", value="x"), autonomy="autonomous")
        assert (end["status"], ledger.count("a")) == ("succeeded", 1)
        parked = await desk.run(call("w", "vague.write"), autonomy="autonomous")
        assert (parked["status"], ledger.count("v")) == ("suspended", 1)
        assert (await desk.card(parked["runId"]))["reasonCode"] == "reconcile"


@pytest.mark.parametrize(("kind", "count"), [("timeout-before", 0), ("timeout-after", 1)])
async def test_a_timed_out_write_is_unknown(tmp_path: Path, ledger: Ledger, kind: Any, count: int) -> None:
    """A17: not failed, never repeated blindly, never replaced by another tool; a person reconciles."""
    primary = faulty(order(ledger, "one.order"), kind)
    async with open_desk(tmp_path / "home", primary, order(ledger, "two.order")) as desk:
        run = await desk.run(call("w", "one.order", record="a"), autonomy="autonomous")
        assert (run["status"], statuses(run), ledger.count()) == ("suspended", {"w": "unknown"}, count)
        assert (await desk.card(run["runId"]))["reasonCode"] == "reconcile"
        assert revised(await desk.events(run["runId"])) == []


async def test_200_steps_of_which_30_percent_fail_once(tmp_path: Path, ledger: Ledger) -> None:
    """A long plan in a shaky world ends right."""
    calls: dict[str, int] = {}

    @tool("shaky.read", policy_class=PolicyClass.READ)
    async def shaky(ctx: ToolContext, n: int) -> dict[str, int]:
        calls[ctx.step_id] = calls.get(ctx.step_id, 0) + 1
        if n % 10 < 3 and calls[ctx.step_id] == 1:
            raise ToolError("busy", retryable=True, effect="none")
        return {"n": n}

    steps = [call("s0", "shaky.read", n=0)]
    for n in range(1, 200):
        waits = [] if n % 4 == 0 else [f"s{n - 1}"]
        steps.append(call(f"s{n}", "shaky.read", n=n, after=waits))
    async with open_desk(tmp_path / "home", shaky) as desk:
        end = await desk.run(*steps, autonomy="autonomous")
        assert end["status"] == "succeeded"
        assert sum(calls.values()) == 260
        assert end["budget"]["retries_per_step"]["used"] == 1


# -- another tool ----------------------------------------------------------------------------


async def test_another_tool_answers_and_it_is_said(tmp_path: Path) -> None:
    """An equal stand-in: one retry, then the other tool, at the same step, in the next revision."""
    one = faulty(source("one.read"), ToolFault(kind="fail", said="503"))
    async with open_desk(tmp_path / "home", one, source("two.read")) as desk:
        end = await desk.run(READ, autonomy="autonomous")
        step = end["steps"][0]
        assert (end["status"], step["tool"], step["insteadOf"], step["attempt"]) == (
            "succeeded", "two.read", "one.read", 3,
        )  # fmt: skip
        assert end["closing"] == "two.read of a. (“two.read” stood in for “one.read”: 503.)"
        assert (end["graph"]["revision"], end["budget"]["plan_mutations"]["used"]) == (2, 1)
        assert end["budget"]["replans"]["used"] == 0
        (edit,) = revised(await desk.events(end["runId"]))
        told = {name: edit[name] for name in ("revision", "verb", "stepId", "fromTool", "toTool", "rule")}
        assert told == {
            "revision": 2,
            "verb": "retry-with-different-tool",
            "stepId": "r",
            "fromTool": "one.read",
            "toTool": "two.read",
            "rule": "end.equal",
        }
        (row,) = await desk.audit(end["runId"], decision="plan-revised")
        assert (row["tool"], row["ruleId"], row["origin"]) == ("two.read", "end.equal", "plan_mutation")


async def test_a_decision_that_leaves_the_plan_alone_is_on_record(tmp_path: Path) -> None:
    """In the log at the end of its attempt, in `show`, and as an audit row of its own: with rule and verb."""
    one = faulty(source("one.read", group="alone"), "break")
    async with open_desk(tmp_path / "home", one) as desk:
        end = await desk.run(READ, autonomy="autonomous")
        (kept,) = end["recovery"]
        assert (kept["verb"], kept["rule"], kept["why"]) == (
            "none",
            "end.as-it-is",
            "nothing stands in for it",
        )
        (settled,) = [event for event in await desk.events(end["runId"]) if event["kind"] == "step.settled"]
        assert (settled["decision"], settled["rule"], settled["verb"]) == ("continue", "end.as-it-is", "none")
        (row,) = await desk.audit(end["runId"], decision="plan-kept")
        assert (row["stepId"], row["reasonCode"], row["ruleId"], row["origin"], row["tool"]) == (
            "r", "continue:none", "end.as-it-is", "plan_mutation", "one.read",
        )  # fmt: skip


async def test_edits_at_the_same_time_are_both_made(tmp_path: Path) -> None:
    """Each is a revision of its own, published once; neither takes back what the other did."""
    together = asyncio.Barrier(4)

    @tool("one.read", policy_class=PolicyClass.READ, alias_group="books")
    async def one(ctx: ToolContext, record: str) -> None:
        await together.wait()
        raise ToolError("503", effect="none")

    async with open_desk(tmp_path / "home", one, source("two.read"), limits={"replans_max": 5}) as desk:
        steps = [call(f"s{n}", "one.read", record=str(n)) for n in range(4)]
        end = await desk.run(*steps, autonomy="autonomous")
        made = revised(await desk.events(end["runId"]))
        assert [edit["revision"] for edit in made] == [2, 3, 4, 5]
        assert {edit["graph"] for edit in made} == {"graph:2", "graph:3", "graph:4", "graph:5"}
        assert [(step["tool"], step["attempt"]) for step in end["steps"]] == [("two.read", 2)] * 4
        assert (end["status"], end["graph"]["revision"]) == ("succeeded", 5)


async def test_what_waits_for_a_step_goes_on_with_its_substitute(tmp_path: Path) -> None:
    """A failed step on the way: a replan is charged and its followers run."""
    one = faulty(source("one.read"), "break")
    async with open_desk(tmp_path / "home", one, source("two.read")) as desk:
        end = await desk.run(READ, call("t", "two.read", record=found("r", "/said")), autonomy="autonomous")
        assert (end["status"], statuses(end)) == ("succeeded", {"r": "succeeded", "t": "succeeded"})
        assert end["steps"][1]["result"]["record"] == "two.read"
        assert end["budget"]["replans"]["used"] == 1


async def test_a_degraded_substitute_is_never_reported_as_done(tmp_path: Path, ledger: Ledger) -> None:
    """The step is degraded, the run too, and the closing says what was not done."""
    one = faulty(order(ledger, "one.order"), ToolFault(kind="break", said="the line is down"))
    two = order(ledger, "two.order", fidelity="degraded", report=lambda args, value: "I left a note.")
    async with open_desk(tmp_path / "home", one, two) as desk:
        end = await desk.run(call("w", "one.order", record="a"), autonomy="autonomous")
        assert (end["status"], statuses(end), ledger.count()) == ("degraded", {"w": "degraded"}, 1)
        assert end["closing"] == (
            "⚠ Not completed: “one.order” was not done: the line is down. Instead: I left a note."
        )


@pytest.mark.parametrize(
    ("code", "tool"),
    [
        ("not_in_record", "one.order"),
        ("bad_test", "one.order"),
        ("refused", "one.order"),
        (None, "two.order"),
        ("record_unavailable", "two.order"),
    ],
)
async def test_what_the_call_is_at_fault_for_is_not_put_to_another_tool(
    tmp_path: Path, ledger: Ledger, code: str | None, tool: str
) -> None:
    """A patient who is not in the record is no outage: nothing stands in, and the cause is said."""

    async def refuse(ctx: ToolContext, **_: object) -> None:
        raise ToolError("Patient/none is not in the record", effect="none", code=code)

    one = replace(order(ledger, "one.order"), function=refuse)
    two = order(ledger, "two.order", fidelity="degraded")
    async with open_desk(tmp_path / "home", one, two) as desk:
        end = await desk.run(call("w", "one.order", record="a"), autonomy="autonomous")
        assert end["steps"][0]["tool"] == tool
        if tool == "one.order":
            assert (end["status"], ledger.count()) == ("failed", 0)
            assert end["closing"].endswith("“one.order” failed: Patient/none is not in the record.")
            assert "plan.revised" not in [event["kind"] for event in await desk.events(end["runId"])]


@pytest.mark.parametrize("other", [HitlTier.LOW, HitlTier.HIGH])
async def test_a_high_tool_is_never_replaced(tmp_path: Path, ledger: Ledger, other: HitlTier) -> None:
    """A16: an approved high write that fails stays failed; no tool with the same end takes its place."""
    high = faulty(order(ledger, "one.order", tier=HitlTier.HIGH), "fail")
    async with open_desk(tmp_path / "home", high, order(ledger, "two.order", tier=other)) as desk:
        run = await desk.run(call("w", "one.order", record="a"))
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], ledger.count(), edits(await desk.events(end["runId"]))) == ("failed", 0, [])
        assert end["recovery"][0]["refused"] == [{"tool": "two.order", "because": "never-replaced"}]
        assert end["closing"].endswith(
            "No other tool could stand in for it: a call of a high tier, or one that takes something away, "
            "is never replaced."
        )


async def test_a_write_that_says_failed_without_proof_is_not_replaced(tmp_path: Path, ledger: Ledger) -> None:
    """``ToolResult(outcome="failed")`` says nothing of what was written; only ``effect="none"`` proves it."""

    @tool("one.order", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, alias_group="orders")
    async def one(ctx: ToolContext, record: str) -> ToolResult:
        ledger.write(record, "half of it", key=ctx.idempotency_key)
        return ToolResult(outcome="failed", value="only half of it")

    async with open_desk(tmp_path / "home", one, order(ledger, "two.order")) as desk:
        end = await desk.run(call("w", "one.order", record="a"), autonomy="autonomous")
        assert (end["status"], ledger.count(), revised(await desk.events(end["runId"]))) == ("failed", 1, [])


async def test_a_destructive_call_is_never_replaced(tmp_path: Path, ledger: Ledger) -> None:
    """Not even by one that is called the same."""

    def remove(name: str) -> ToolDescriptor:
        @tool(
            name,
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            alias_group="removals",
            ops={"delete"},
        )
        async def write(ctx: ToolContext, op: str, record: str) -> None:
            ledger.write(record, name, key=ctx.idempotency_key)

        return write

    async with open_desk(tmp_path / "home", faulty(remove("one.off"), "break"), remove("two.off")) as desk:
        run = await desk.run(call("w", "one.off", op="delete", record="a"), autonomy="autonomous")
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], ledger.count(), revised(await desk.events(end["runId"]))) == ("failed", 0, [])


async def test_a_substitute_passes_role_and_policy(tmp_path: Path) -> None:
    """A tool that the requester's role may not call is no substitute."""
    one = faulty(source("one.read"), "break")
    async with open_desk(tmp_path / "home", one, source("two.read", roles={"manager"})) as desk:
        end = await desk.run(READ, autonomy="autonomous")
        assert (end["status"], revised(await desk.events(end["runId"]))) == ("failed", [])
        assert end["closing"].endswith("No other tool could stand in for it: “two.read” needs another role.")


async def test_a_fallback_is_not_replaced_by_what_it_stands_in_for(tmp_path: Path) -> None:
    """What does less is the last resort."""
    one = faulty(source("one.read", fidelity="degraded"), "break")
    async with open_desk(tmp_path / "home", one, source("two.read")) as desk:
        end = await desk.run(READ, autonomy="autonomous")
        assert (end["status"], end["steps"][0]["tool"]) == ("failed", "one.read")


# -- taking a tail out -----------------------------------------------------------------------


async def test_a_tail_is_taken_out_once(tmp_path: Path) -> None:
    """One event for each step that steps hang on, before they are settled; one audit row; no revision."""
    one = faulty(source("one.read", group="alone"), ToolFault(kind="break", said="503"))
    async with open_desk(tmp_path / "home", one, source("two.read")) as desk:
        end = await desk.run(
            READ,
            call("q", "one.read", record="b"),
            call("s", "two.read", after=["r"]),
            call("t", "two.read", after=["s"]),
            call("u", "two.read", after=["q"]),
            call("v", "two.read"),
            autonomy="autonomous",
        )
        events = await desk.events(end["runId"])
        assert pruned(events) == [("r", "skip.no-way", ["s", "t"]), ("q", "skip.no-way", ["u"])]
        assert len(edits(events)) == 2
        kinds = [event["kind"] for event in events if event.get("stepId") in ("r", "s")]
        assert kinds[:4] == ["step.started", "step.settled", "plan.revised", "step.settled"]
        rows = await desk.audit(end["runId"], decision="plan-revised")
        assert [(row["stepId"], row["reasonCode"], row["ruleId"]) for row in rows] == [
            ("r", "re-scope-tools:skip-remaining", "skip.no-way"),
            ("q", "re-scope-tools:skip-remaining", "skip.no-way"),
        ]
        assert (end["graph"]["revision"], end["budget"]["plan_mutations"]["used"]) == (1, 0)


async def test_a_tail_that_goes_in_pieces_is_whole_in_show(tmp_path: Path, ledger: Ledger) -> None:
    """What waits for something else too is taken out when that is over; each piece is an edit of its own."""
    one = faulty(source("one.read", group="alone"), "break")
    async with open_desk(tmp_path / "home", one, source("two.read"), write_tool(ledger)) as desk:
        run = await desk.run(
            READ,
            call("s", "two.read", after=["r"]),
            call("w", "book.write", record="a", value="x"),
            call("t", "two.read", after=["r", "w"]),
            autonomy="autonomous",
        )
        assert pruned(await desk.events(run["runId"])) == [("r", "skip.no-way", ["s"])]
        end = await desk.approve(await desk.card(run["runId"]))
        assert pruned(await desk.events(run["runId"])) == [
            ("r", "skip.no-way", ["s"]), ("r", "skip.no-way", ["t"]),
        ]  # fmt: skip
        tail = end["recovery"][-1]
        assert (tail["verb"], tail["skips"], tail["rule"]) == ("skip-remaining", ["s", "t"], "skip.no-way")


async def test_a_step_that_was_not_run_takes_its_tail_along(tmp_path: Path, ledger: Ledger) -> None:
    """A denied write that is skipped: decision ``skip``."""
    async with open_desk(tmp_path / "home", write_tool(ledger), read_tool(ledger)) as desk:
        run = await desk.run(
            call("w", "book.write", record="a", value="x", on_deny="skip"),
            call("t", "book.read", after=["w"]),
        )
        end = await desk.deny(await desk.card(run["runId"]))
        events = await desk.events(end["runId"])
        assert (pruned(events), len(edits(events))) == ([("w", "skip.not-run", ["t"])], 1)


async def test_the_end_of_a_plan_takes_nothing_out(tmp_path: Path) -> None:
    """A last step that fails leaves no tail: no edit is told, its decision is kept."""
    one = faulty(source("one.read", group="alone"), "break")
    async with open_desk(tmp_path / "home", one) as desk:
        end = await desk.run(READ, autonomy="autonomous")
        assert edits(await desk.events(end["runId"])) == []
        assert end["recovery"] == [
            {
                "stepId": "r", "attempt": 1, "decision": "continue", "rule": "end.as-it-is",
                "verb": "none", "fromTool": "one.read", "why": "nothing stands in for it",
            }
        ]  # fmt: skip


# -- under supervision -----------------------------------------------------------------------


async def test_under_supervision_an_edit_parks_first(tmp_path: Path) -> None:
    """The same funnel, origin ``plan_mutation``; approved, the edit is applied once; the card is used up."""
    one = faulty(source("one.read"), ToolFault(kind="break", said="503"))
    async with open_desk(tmp_path / "home", one, source("two.read")) as desk:
        run = await desk.run(READ, call("t", "two.read", record=found("r", "/said")))
        card = await desk.card(run["runId"])
        assert (card["origin"], card["reasonCode"], card["toolName"]) == (
            "plan_mutation", "approval", "two.read",
        )  # fmt: skip
        assert card["evidence"]["before"] == {"tool": "one.read"}
        assert card["evidence"]["after"] == {"tool": "two.read"}
        assert statuses(run) == {"r": "suspended", "t": "pending"}
        end = await desk.approve(card, ANN)
        assert (end["status"], end["steps"][0]["tool"]) == ("succeeded", "two.read")
        assert len(revised(await desk.events(end["runId"]))) == 1
        decisions = await desk.decisions(end["runId"])
        assert decisions.count("approved") == decisions.count("plan-revised") == 1


async def test_denying_an_edit_skips_the_edit(tmp_path: Path) -> None:
    """The step ends as it had ended; the run goes on without what hangs on it."""
    one = faulty(source("one.read"), ToolFault(kind="break", said="503"))
    async with open_desk(tmp_path / "home", one, source("two.read")) as desk:
        run = await desk.run(READ, call("t", "two.read", record=found("r")), call("u", "two.read"))
        end = await desk.deny(await desk.card(run["runId"]), reason="two.read is a copy")
        assert statuses(end) == {"r": "failed", "t": "skipped", "u": "succeeded"}
        events = await desk.events(end["runId"])
        assert (end["status"], revised(events)) == ("degraded", [])
        assert pruned(events) == [("r", "skip.declined", ["t"])]
        said = "one.read” failed: 503. Bob Ode did not let “two.read” stand in for it: two.read is a copy."
        assert said in end["closing"]
        assert end["steps"][0]["code"] == "unavailable"


@pytest.mark.parametrize("end", ["stopped", "expired"])
async def test_a_run_that_ends_while_an_edit_is_asked(tmp_path: Path, end: str) -> None:
    """The step is left as it had ended, and the closing says that it failed."""
    one = faulty(source("one.read"), ToolFault(kind="break", said="503"))
    async with open_desk(tmp_path / "home", one, source("two.read"), ttl_s=60) as desk:
        run = await desk.run(READ)
        if end == "stopped":
            await desk.condor.stop(run["runId"], principal=BOB)
        else:
            desk.clock.advance(61)
            await desk.condor._running().sweep()
        shown: Any = await desk.rest(run["runId"])
        assert (shown["status"], statuses(shown)) == ("aborted", {"r": "failed"})
        assert "“one.read” failed: 503." in shown["closing"]


async def test_an_approved_edit_does_not_approve_the_call(tmp_path: Path, ledger: Ledger) -> None:
    """An approval never carries over: the substitute's own card follows."""
    one = faulty(order(ledger, "one.order"), "break")
    async with open_desk(tmp_path / "home", one, order(ledger, "two.order")) as desk:
        run = await desk.run(call("w", "one.order", record="a"))
        edit = await desk.approve(await desk.card(run["runId"]))
        assert (await desk.card(edit["runId"]))["origin"] == "plan_mutation"
        own = await desk.approve(await desk.card(run["runId"]))
        card = await desk.card(own["runId"])
        assert (card["origin"], card["toolName"], ledger.count()) == ("tool_policy", "two.order", 0)
        end = await desk.approve(card)
        assert (end["status"], ledger.count()) == ("succeeded", 1)


async def test_two_edits_asked_at_once(tmp_path: Path) -> None:
    """The second card was about an earlier revision: it is stale, and a new one takes its place."""
    one = faulty(source("one.read"), "break")
    async with open_desk(tmp_path / "home", one, source("two.read")) as desk:
        run = await desk.run(READ, call("q", "one.read", record="b"))
        first, second = await desk.cards(run["runId"])
        await desk.approve(first)
        with pytest.raises(Exception, match="the plan has been edited since the card was shown"):
            await desk.answer(second, {"approved": True})
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], end["graph"]["revision"]) == ("succeeded", 3)


async def test_a_restart_keeps_the_question(tmp_path: Path) -> None:
    """The card, the held outcome and the charge survive the process."""
    home = tmp_path / "home"
    one = faulty(source("one.read"), "break")
    async with open_desk(home, one, source("two.read")) as desk:
        run = await desk.run(READ)
    async with open_desk(home, one, source("two.read"), seed=1) as desk:
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], end["budget"]["plan_mutations"]["used"]) == ("succeeded", 1)


async def test_a_denied_write_does_not_come_back_another_way(tmp_path: Path, ledger: Ledger) -> None:
    """A denial is no failure: nothing is substituted, and the run ends."""
    async with open_desk(tmp_path / "home", order(ledger, "one.order"), order(ledger, "two.order")) as desk:
        run = await desk.run(call("w", "one.order", record="a", on_deny="skip"))
        end = await desk.deny(await desk.card(run["runId"]))
        assert (end["status"], statuses(end), ledger.count()) == ("failed", {"w": "skipped"}, 0)
        assert revised(await desk.events(end["runId"])) == []


# -- the breaker -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("configured", "most"),
    [(1, 1), (3, 3), (5, 5), (0, 2), (-1, 2), ("NaN", 2), (float("inf"), 2), (10**9, 2), ("2; 1000000", 2)],
)
async def test_a_replan_storm_ends(tmp_path: Path, ledger: Ledger, configured: Any, most: int) -> None:
    """A18: at most so many replans, then a typed stop that closing, show and audit explain."""
    storm = replan_storm(read_tool(ledger))
    limits = {"replans_max": configured, "identical_decisions_max": 20}
    async with open_desk(tmp_path / "home", storm, limits=limits) as desk:
        end = await desk.run(call("r", "book.read"), autonomy="autonomous")
        assert end["status"] == "failed"
        assert end["budget"]["replans"] == {"used": most, "limit": most, "unit": "replans"}
        assert end["budget"]["stop"]["limit"] == "replans_max"
        events = await desk.events(end["runId"])
        assert len(revised(events)) == most
        (stop,) = [event for event in events if event["kind"] == "breaker.stopped"]
        assert (stop["limit"], stop["outcome"]) == ("replans_max", "failed")
        said = f"The run was stopped by its circuit breaker: {most} of at most {most} replans were used up."
        assert end["closing"].splitlines()[0] == said
        (row,) = await desk.audit(end["runId"], decision="stopped")
        assert (row["reasonCode"], row["actor"]) == ("breaker.replans_max", "system")


async def test_a_storm_beside_a_success_is_degraded(tmp_path: Path, ledger: Ledger) -> None:
    """The stop is degraded when any leaf succeeded; what was not begun is not begun."""
    storm = replan_storm(source("storm.read", group="alone"))
    async with open_desk(tmp_path / "home", storm, read_tool(ledger)) as desk:
        end = await desk.run(
            call("a", "book.read"),
            call("r", "storm.read", after=["a"]),
            call("z", "book.read", after=["r"]),
            autonomy="autonomous",
        )
        assert (end["status"], statuses(end)) == (
            "degraded", {"a": "succeeded", "r": "failed", "z": "skipped"},
        )  # fmt: skip
        assert end["budget"]["stop"]["outcome"] == "degraded"


async def test_parked_time_costs_nothing_and_work_does(tmp_path: Path, ledger: Ledger) -> None:
    """Wall time is what was worked: a night at a card is free, an hour in a tool is not."""
    home = tmp_path / "home"
    desks: list[Any] = []

    @tool("slow.read", policy_class=PolicyClass.READ)
    async def slow(ctx: ToolContext) -> None:
        desks[0].clock.advance(61)

    limits = {"wall_time_s_max": 60}
    async with open_desk(home, slow, write_tool(ledger), limits=limits, ttl_s=10**6) as desk:
        desks.append(desk)
        run = await desk.run(call("w", "book.write", record="a", value="x"))
        desk.clock.advance(50_000)
        end = await desk.approve(await desk.card(run["runId"]))
        assert (end["status"], end["budget"]["wall_time_s"]["used"]) == ("succeeded", 0)
        over = await desk.run(call("r", "slow.read"), call("s", "slow.read", after=["r"]))
        assert (over["status"], statuses(over)) == ("degraded", {"r": "succeeded", "s": "skipped"})
        assert over["budget"]["stop"]["limit"] == "wall_time_s_max"


async def test_out_of_time_nothing_is_entered_again(tmp_path: Path, ledger: Ledger) -> None:
    """An idempotent write that timed out is not tried again once the run's time is over."""
    desks: list[Any] = []

    @tool("slow.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, idempotent=True)
    async def slow(ctx: ToolContext) -> None:
        ledger.write("a", "x", key=ctx.idempotency_key, once=False)
        desks[0].clock.advance(61)
        raise TimeoutError

    async with open_desk(tmp_path / "home", slow, limits={"wall_time_s_max": 60}) as desk:
        desks.append(desk)
        end = await desk.run(call("w", "slow.write"), autonomy="autonomous")
        assert (end["status"], statuses(end), ledger.count("a")) == ("failed", {"w": "unknown"}, 1)
        assert end["budget"]["stop"]["limit"] == "wall_time_s_max"
        assert "it is not known whether" in end["closing"]


async def test_a_restart_refills_nothing(tmp_path: Path) -> None:
    """What was charged before the process ended is charged after it."""
    home = tmp_path / "home"
    storm = replan_storm(source("one.read", group="alone"))
    limits = {"replans_max": 3, "identical_decisions_max": 20}
    async with open_desk(home, storm, limits=limits) as desk:
        run = await desk.run(READ)
        run = await desk.approve(await desk.card(run["runId"]))
        run = await desk.approve(await desk.card(run["runId"]))
        assert run["budget"]["replans"]["used"] == 2
    async with open_desk(home, storm, limits=limits, seed=1) as desk:
        run = await desk.approve(await desk.card(run["runId"]))
        assert (run["status"], run["budget"]["replans"]["used"]) == ("failed", 3)
        assert run["budget"]["stop"]["limit"] == "replans_max"


# -- a second opinion ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (Confirmation(verb="retry-with-different-tool"), "degraded"),
        (Confirmation(verb="none"), "degraded"),
        (Confirmation(verb="park"), "suspended"),
        (Confirmation(verb="approve everything"), "suspended"),
        (RuntimeError("the model is away"), "suspended"),
        (Confirmation(verb="skip-remaining"), "failed"),
        (Confirmation(verb="halt"), "failed"),
        (Confirmation(verb="none", tokens=10**9), "failed"),
    ],
)
async def test_a_confirmer_can_only_tighten(tmp_path: Path, ledger: Ledger, said: Any, status: str) -> None:
    """It is asked where a rule is ambiguous, agrees or is stricter; a fault of it asks a person."""
    one = faulty(order(ledger, "one.order"), "break")
    confirmer = ScriptedConfirmer(said)
    async with open_desk(
        tmp_path / "home", one, order(ledger, "two.order", fidelity="degraded"), confirmer=confirmer
    ) as desk:
        end = await desk.run(call("w", "one.order", record="a"), autonomy="autonomous")
        assert (end["status"], ledger.count()) == (status, int(status == "degraded"))
        (question,) = confirmer.asked
        assert (question.rule_id, question.from_tool, question.to_tool) == (
            "end.degraded", "one.order", "two.order",
        )  # fmt: skip
        if status == "suspended":
            assert (await desk.card(end["runId"]))["origin"] == "plan_mutation"
            await desk.condor.stop(end["runId"], principal=BOB)


async def test_a_confirmer_is_not_asked_where_the_rule_is_plain(tmp_path: Path) -> None:
    """An equal substitute needs no second opinion."""
    confirmer = ScriptedConfirmer(Confirmation(verb="halt"))
    one = faulty(source("one.read"), "break")
    async with open_desk(tmp_path / "home", one, source("two.read"), confirmer=confirmer) as desk:
        assert (await desk.run(READ, autonomy="autonomous"))["status"] == "succeeded"
        assert confirmer.asked == []
