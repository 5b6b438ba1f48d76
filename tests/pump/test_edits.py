"""Edit before approve: a call is changed on its card; the card is superseded, and the edited call asks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from condor import (
    AlreadyDecided,
    ArgSpec,
    CardEvidence,
    Effect,
    HitlTier,
    NotAnApprover,
    PolicyClass,
    Principal,
    StaleSuspension,
    SuspensionExpired,
    ToolContext,
    ToolError,
    tool,
)
from condor.core.errors import (
    AnswerRefused,
    EditInvalid,
    NotEditable,
    RefusedInput,
    RegistrationRefused,
    StoreUnavailable,
    UnknownId,
)
from condor.testing import FailDisk
from tests.pump.desk import (
    ADMIN,
    ANN,
    AUDITOR,
    BOB,
    CAT,
    ROBOT,
    ask,
    call,
    found,
    open_desk,
    read_tool,
    write_tool,
)

if TYPE_CHECKING:
    from pathlib import Path

    from condor import ToolDescriptor
    from condor.testing import Ledger
    from tests.pump.desk import Desk

WRITE = call("w", "book.write", record="a", value="x")


def book(ledger: Ledger, **options: Any) -> ToolDescriptor:
    """A write whose value may be edited, and whose record may not."""
    return write_tool(ledger, editable={"value"}, **options)


async def edit(
    desk: Desk, card: Any, principal: Principal = BOB, /, key: str | None = None, **args: Any
) -> Any:
    """Change arguments on a card; the new card."""
    return await desk.condor.edit(card["suspendId"], args, principal=principal, key=key)


async def test_the_edited_call_asks_with_a_card_of_its_own(tmp_path: Path, ledger: Ledger) -> None:
    """New generation, contract and id; who edited what; approved, exactly the edited call runs."""
    async with open_desk(tmp_path / "home", book(ledger)) as desk:
        run = await desk.run(WRITE)
        old = await desk.card(run["runId"])
        assert list(old["editSchema"]["properties"]) == ["value"]
        new = await edit(desk, old, value="y")
        assert (new["generation"], new["toolInput"]) == (2, {"record": "a", "value": "y"})
        assert {old["suspendId"], old["contractHash"]}.isdisjoint({new["suspendId"], new["contractHash"]})
        (told,) = new["edits"]
        assert (told["suspendId"], told["by"], told["byDisplay"]) == (old["suspendId"], "bob", "Bob Ode")
        assert (told["before"], told["after"]) == ({"value": "x"}, {"value": "y"})
        shown = await desk.rest(run["runId"])
        assert (shown["status"], ledger.count()) == ("suspended", 0)
        before = next(card for card in shown["suspensions"] if card["suspendId"] == old["suspendId"])
        assert (before["status"], before["decidedBy"], before["edit"]) == (
            "superseded",
            "bob",
            {"value": "y"},
        )
        end = await desk.approve(new, CAT)
        assert [(entry.record, entry.value) for entry in ledger.entries()] == [("a", "y")]
        assert end["closing"] == "book.write: done. (Edited by Bob Ode before it was approved.)"
        assert (await desk.decisions(run["runId"]))[1:-2] == ["suspended", "edited", "suspended", "approved"]
        (row,) = await desk.audit(run["runId"], decision="edited")
        assert (row["actor"], row["suspendId"], row["contractHash"]) == (
            "bob",
            old["suspendId"],
            old["contractHash"],
        )


async def test_an_edit_is_no_approval(tmp_path: Path, ledger: Ledger) -> None:
    """The editor's own yes is still needed, and is taken; an approval of the old card runs nothing."""
    async with open_desk(tmp_path / "home", book(ledger)) as desk:
        run = await desk.run(WRITE)
        old = await desk.card(run["runId"])
        new = await edit(desk, old, value="y")
        with pytest.raises(
            StaleSuspension, match=r"Bob Ode edited the call at .*answer the new card"
        ) as late:
            await desk.answer(old, {"approved": True}, CAT)
        assert (late.value.next_suspend_id, ledger.count()) == (new["suspendId"], 0)
        with pytest.raises(StaleSuspension, match="Bob Ode edited the call"):
            await edit(desk, old, CAT, value="z")
        assert (await desk.approve(new))["status"] == "succeeded"
        with pytest.raises(AlreadyDecided, match="approved by Bob Ode"):
            await edit(desk, new, value="z")


async def test_edits_add_up_and_survive_a_restart(tmp_path: Path, ledger: Ledger) -> None:
    """Two edits by two people, a new process between: the card shows both, in order."""
    async with open_desk(tmp_path / "home", book(ledger)) as desk:
        run = await desk.run(WRITE)
        await edit(desk, await desk.card(run["runId"]), value="y")
    async with open_desk(tmp_path / "home", book(ledger), seed=1) as desk:
        new = await edit(desk, await desk.card(run["runId"]), CAT, value="z")
        assert [(one["by"], one["before"], one["after"]) for one in new["edits"]] == [
            ("bob", {"value": "x"}, {"value": "y"}),
            ("cat", {"value": "y"}, {"value": "z"}),
        ]
        end = await desk.approve(new)
        assert "Edited by Bob Ode and Cat Moe before" in end["closing"]
        assert [entry.value for entry in ledger.entries()] == ["z"]


BAD_EDITS: list[tuple[Any, str]] = [
    ({"record": "b"}, "'record' may not be edited; take value, dose"),
    ({"value": "y", "surplus": 1}, "'surplus' may not be edited"),
    ({"value": None}, "value is needed: change it, but do not take it out"),
    ({"value": 7}, "a number stands where a text belongs"),
    ({"value": " "}, "write at least 1 character"),
    ({"dose": "12"}, "a text stands where a whole number belongs"),
    ({"dose": True}, "true or false stands where a whole number belongs"),
    ({"dose": 101}, "the number is above 100"),
    ({"dose": float("nan")}, "not JSON"),
    ({"value": "\ud800"}, "not JSON"),
    ({}, "the edit names no argument; take value, dose"),
    ([], "an array; send an object"),
    (None, "null; send an object"),
    ({"value": "x", "dose": 5}, "the edit changes nothing"),
]


@pytest.mark.parametrize(("args", "why"), BAD_EDITS, ids=[why[:30] for _, why in BAD_EDITS])
async def test_a_bad_edit_changes_nothing(tmp_path: Path, ledger: Ledger, args: Any, why: str) -> None:
    """Validated as a clarification is; refused with its place; the card can still be approved as it was."""

    @tool(
        "book.dose",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        editable={"value", "dose"},
        args=(
            ArgSpec(name="record", required=True),
            ArgSpec(name="value", required=True),
            ArgSpec(name="dose", type="integer", hint={"min": 1, "max": 100}),
        ),
    )
    async def dose(ctx: ToolContext, record: str, value: str, dose: int = 0) -> int:
        return ledger.write(record, value, key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", dose) as desk:
        run = await desk.run(call("w", "book.dose", record="a", value="x", dose=5))
        with pytest.raises(EditInvalid) as refused:
            await desk.condor.edit((await desk.card(run["runId"]))["suspendId"], args, principal=BOB)
        assert why in str(refused.value)
        assert await desk.condor.show(run["runId"]) == run
        assert (await desk.approve(await desk.card(run["runId"])))["status"] == "succeeded"


async def test_what_a_tool_can_do_without_may_be_taken_out(tmp_path: Path, ledger: Ledger) -> None:
    """Null takes an optional argument out; the card says that it was there."""

    @tool("book.note", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, editable={"note"})
    async def note(ctx: ToolContext, record: str, note: str = "none") -> int:
        return ledger.write(record, note, key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", note) as desk:
        run = await desk.run(call("w", "book.note", record="a", note="by hand"))
        new = await edit(desk, await desk.card(run["runId"]), note=None)
        assert (new["toolInput"], new["edits"][0]["after"]) == ({"record": "a"}, {})
        await desk.approve(new)
        assert [entry.value for entry in ledger.entries()] == ["none"]


@pytest.mark.parametrize("who", [AUDITOR, ADMIN, ROBOT, Principal(id="dan", roles=frozenset({"driver"}))])
async def test_who_may_not_answer_may_not_edit(tmp_path: Path, ledger: Ledger, who: Principal) -> None:
    """The same people as for an answer; the try is audited and changes nothing."""
    async with open_desk(tmp_path / "home", book(ledger, approver_roles={"manager"})) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        with pytest.raises(NotAnApprover):
            await edit(desk, card, who, value="y")
        assert await desk.card(run["runId"]) == card
        (row,) = await desk.audit(run["runId"], decision="decision-rejected")
        assert (row["actor"], row["reasonCode"]) == (who.id, "not_an_approver")


async def test_four_eyes_hold_for_an_edit(tmp_path: Path, ledger: Ledger) -> None:
    """Where the requester is excluded, so is whoever wrote the call as it is now: a second person decides."""
    async with open_desk(tmp_path / "home", book(ledger, requester_excluded=True)) as desk:
        run = await desk.run(WRITE)
        with pytest.raises(NotAnApprover, match="Ann Ito asked for this"):
            await edit(desk, await desk.card(run["runId"]), ANN, value="y")
        new = await edit(desk, await desk.card(run["runId"]), value="y")
        assert new["editors"] == ["bob"]
        with pytest.raises(NotAnApprover, match="Bob Ode edited this call; another person must decide"):
            await desk.answer(new, {"approved": True})
        assert ledger.count() == 0
        assert (await desk.approve(new, CAT))["status"] == "succeeded"


async def test_only_the_card_of_a_call_is_edited_and_only_where_its_tool_allows_it(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A planned approval, a question and a tool without editable arguments are answered as they are."""
    tools = (book(ledger), write_tool(ledger, "plain.write"))
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(
            ask("p", "Go on?"),
            call("q", "book.write", record="a"),
            call("w", "plain.write", record="a", value="x"),
        )
        for step, why in (
            ("p", "no approval of a call"),
            ("q", "no approval of a call"),
            ("w", "allows no edit"),
        ):
            card = await desk.card(run["runId"], step)
            with pytest.raises(NotEditable, match=why):
                await edit(desk, card, ANN, value="y")
            assert "editSchema" not in card
        with pytest.raises(UnknownId):
            await desk.condor.edit("sus_" + "a" * 26, {"value": "y"}, principal=BOB)


async def test_an_edit_that_cannot_be_seen_is_refused(tmp_path: Path, ledger: Ledger) -> None:
    """A bidirectional override in an edit would reach the record; the card stands."""
    async with open_desk(tmp_path / "home", book(ledger)) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        with pytest.raises(EditInvalid, match=r"U\+202E at character 4 cannot be seen"):
            await edit(desk, card, value="UTI\u202e")
        assert await desk.card(run["runId"]) == card


async def test_an_expired_card_is_not_edited(tmp_path: Path, ledger: Ledger) -> None:
    """The deadline stands in the compare-and-set; an edit revives nothing."""
    async with open_desk(tmp_path / "home", book(ledger), ttl_s=60) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        desk.clock.advance(61)
        with pytest.raises(SuspensionExpired):
            await edit(desk, card, value="y")
        assert (await desk.rest(run["runId"]))["status"] == "aborted", "the refusal closed the card"
        desk.clock.advance(-3_600)
        with pytest.raises(SuspensionExpired):
            await edit(desk, card, value="y")
        with pytest.raises(SuspensionExpired):
            await desk.approve(card)
        assert (ledger.count(), (await desk.decisions(run["runId"])).count("expired")) == (0, 1)


async def test_the_same_edit_under_one_key_is_one_edit(tmp_path: Path, ledger: Ledger) -> None:
    """Sent again it is the same card; under the same key another edit is refused; a key is its person's."""
    async with open_desk(tmp_path / "home", book(ledger)) as desk:
        run = await desk.run(WRITE)
        old = await desk.card(run["runId"])
        new = await edit(desk, old, key="k", value="y")
        assert await edit(desk, old, key="k", value="y") == new
        with pytest.raises(RefusedInput, match="used for another edit") as refused:
            await edit(desk, old, key="k", value="z")
        assert refused.value.code == "idempotency_key_reused"
        with pytest.raises(StaleSuspension):
            await edit(desk, old, CAT, key="k", value="y")
        assert (await desk.decisions(run["runId"])).count("edited") == 1


async def test_of_edits_and_answers_at_once_one_wins(tmp_path: Path, ledger: Ledger) -> None:
    """Twenty at once: one closes the card, the others are told who; at most what was approved runs, once."""
    async with open_desk(tmp_path / "home", book(ledger)) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])

        async def tried(number: int) -> str:
            try:
                if number % 2:
                    await edit(desk, card, CAT, value=f"v{number}")
                    return "edited"
                await desk.answer(card, {"approved": True})
            except AnswerRefused as refused:
                return refused.code
            return "approved"

        told = await asyncio.gather(*(tried(number) for number in range(20)))
        won = [word for word in told if word in ("edited", "approved")]
        assert len(won) == 1
        assert set(told) - set(won) <= {"already_decided", "stale_suspension"}
        await desk.rest(run["runId"])
        assert ledger.count() == (1 if won == ["approved"] else 0)


async def test_an_edit_makes_no_call_less_risky(tmp_path: Path, ledger: Ledger) -> None:
    """An autonomous routine write that its content made high stays high when the content is edited away."""

    @tool("book.state", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, editable={"status"})
    async def state(ctx: ToolContext, record: str, status: str) -> int:
        return ledger.write(record, status, key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", state) as desk:
        run = await desk.run(call("w", "book.state", record="a", status="cancelled"), autonomy="autonomous")
        old = await desk.card(run["runId"])
        assert old["policy"]["promotions"] == ["destructive-content"]
        new = await edit(desk, old, status="active")
        assert (new["policy"]["effectiveTier"], new["policy"]["ruleId"]) == (
            "high",
            "mutate.high-tier-always-approval",
        )
        assert ledger.count() == 0
        assert (await desk.approve(new))["status"] == "succeeded"


async def test_an_edit_cannot_walk_around_a_denial(tmp_path: Path, ledger: Ledger) -> None:
    """Edited into a call that was declined it is refused; into the same effect it is promoted and asked."""

    def effects(args: Any) -> tuple[Effect, ...]:
        return (Effect(verb="write", target=str(args.get("value"))),)

    low = book(ledger, tier=HitlTier.LOW, effect_of=effects)
    twin = write_tool(ledger, "twin.write", effect_of=effects, on_deny="skip")
    async with open_desk(tmp_path / "home", low, twin) as desk:
        run = await desk.run(
            call("d", "book.write", record="a", value="y", on_deny="skip"),
            call("t", "twin.write", record="a", value="z"),
            WRITE,
        )
        await desk.deny(await desk.card(run["runId"], "d"))
        await desk.deny(await desk.card(run["runId"], "t"))
        with pytest.raises(EditInvalid, match="declined exactly this call"):
            await edit(desk, await desk.card(run["runId"], "w"), value="y")
        new = await edit(desk, await desk.card(run["runId"], "w"), value="z")
        assert new["policy"]["promotions"] == ["denied-effect"]
        assert ledger.count() == 0


async def test_an_edit_that_cannot_be_shown_is_refused(tmp_path: Path, ledger: Ledger) -> None:
    """The tool reads the record for the edited call first; its refusal leaves the card as it was."""

    async def preview(ctx: ToolContext, record: str, value: str) -> CardEvidence:
        if value == "y":
            raise ToolError("there is no y", effect="none")
        return CardEvidence(summary=f"{record} becomes {value}", versions={f"Book/{record}": "1"})

    async with open_desk(tmp_path / "home", book(ledger, preview=preview)) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        with pytest.raises(EditInvalid, match="cannot be shown: there is no y"):
            await edit(desk, card, value="y")
        assert await desk.card(run["runId"]) == card
        new = await edit(desk, card, value="z")
        assert new["evidence"]["summary"] == "a becomes z"


async def test_what_the_edited_call_needs_besides_is_asked_first(tmp_path: Path, ledger: Ledger) -> None:
    """An edit may make another argument necessary: a question, then the card of the whole call."""

    async def preview(ctx: ToolContext, record: str, value: str, why: str = "") -> CardEvidence:
        return CardEvidence(summary=value, requires=("why",) if value == "much" else ())

    @tool(
        "book.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        preview=preview,
        editable={"value"},
    )
    async def write(ctx: ToolContext, record: str, value: str, why: str = "") -> int:
        return ledger.write(record, f"{value}: {why}", key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", write) as desk:
        run = await desk.run(WRITE)
        question = await edit(desk, await desk.card(run["runId"]), value="much")
        assert (question["reasonCode"], list(question["resumeSchema"]["properties"])) == (
            "clarification",
            ["why"],
        )
        await desk.answer(question, {"why": "it hurts"}, ANN)
        await desk.rest(run["runId"])
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card["edits"][0]["after"]) == ("approval", {"value": "much"})
        await desk.approve(card)
        assert [entry.value for entry in ledger.entries()] == ["much: it hurts"]


async def test_an_argument_from_an_earlier_step_may_be_edited(tmp_path: Path, ledger: Ledger) -> None:
    """The edit takes the place of what the reference found."""
    async with open_desk(tmp_path / "home", book(ledger), read_tool(ledger)) as desk:
        run = await desk.run(
            call("r", "book.read", record="n1"),
            call("w", "book.write", record="a", value=found("r", "/record")),
        )
        new = await edit(desk, await desk.card(run["runId"]), value="y")
        assert new["edits"][0]["before"] == {"value": "n1"}
        await desk.approve(new)
        assert [entry.value for entry in ledger.entries()] == ["y"]


async def test_an_edit_beside_work_in_flight(tmp_path: Path, ledger: Ledger) -> None:
    """The new card comes while another step still works; nothing of that is disturbed."""
    held = asyncio.Event()

    @tool("slow.read", policy_class=PolicyClass.READ)
    async def slow(ctx: ToolContext) -> str:
        await held.wait()
        return "at last"

    async with open_desk(tmp_path / "home", book(ledger), slow) as desk:
        run_id = await desk.start(WRITE, call("s", "slow.read"))
        await desk.seen(run_id, "approval.required")
        new = await edit(desk, await desk.card(run_id), value="y")
        assert new["toolInput"]["value"] == "y"
        held.set()
        assert (await desk.approve(new))["status"] == "succeeded"


async def test_a_full_disk_takes_no_edit(tmp_path: Path, ledger: Ledger) -> None:
    """Refused whole; the card is as it was, and the same edit is taken later."""
    disk = FailDisk(1, armed=False)
    async with open_desk(tmp_path / "home", book(ledger), faults=disk) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        disk.arm()
        with pytest.raises(Exception, match="disk"):
            await edit(desk, card, value="y")
        assert await desk.card(run["runId"]) == card
        assert (await edit(desk, card, value="y"))["generation"] == 2


async def test_an_edit_whose_card_cannot_be_stored_is_said_to_be_taken(
    tmp_path: Path, ledger: Ledger
) -> None:
    """The disk fills between the edit and its card: nobody waits without an end, and the card comes later."""
    disk = FailDisk(2, armed=False)
    async with open_desk(tmp_path / "home", book(ledger), faults=disk, tend=False) as desk:
        run = await desk.run(WRITE)
        card = await desk.card(run["runId"])
        disk.arm()
        with pytest.raises(StoreUnavailable, match="the edit was taken"):
            await asyncio.wait_for(edit(desk, card, value="y"), 10)
        assert await desk.condor._running().retry_stranded() == 1
        asked = await desk.rest(run["runId"])
        assert [(c["status"], c["toolInput"]["value"]) for c in asked["suspensions"]] == [
            ("superseded", "x"),
            ("pending", "y"),
        ]


@pytest.mark.parametrize(
    ("editable", "why"),
    [
        ({"surplus"}, "no argument"),
        ({"op"}, "which op it is"),
        ("value", "a set of words"),
        ({7}, "a set of words"),
    ],
)
def test_a_descriptor_that_cannot_mean_it_is_refused(editable: Any, why: str) -> None:
    """Only arguments of the tool, never the one that says what kind of call it is."""
    with pytest.raises(RegistrationRefused, match=why):

        @tool(
            "book.op",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.HIGH,
            ops={"create", "delete"},
            op_arg="op",
            editable=editable,
        )
        async def write(ctx: ToolContext, op: str, value: str) -> None:
            """Nothing."""


async def test_a_card_that_was_asked_once_is_asked_again_when_the_policy_becomes_looser(
    tmp_path: Path, ledger: Ledger
) -> None:
    """Drift is never looser: a tool that became routine meanwhile still waits for its person."""
    step = call("w", "book.write", record="a", value="x")
    async with open_desk(tmp_path / "home", write_tool(ledger)) as desk:
        run = await desk.run(step, autonomy="autonomous")
        card = await desk.card(run["runId"])
    low = write_tool(ledger, tier=HitlTier.LOW)
    async with open_desk(tmp_path / "home", low, seed=1) as desk:
        with pytest.raises(StaleSuspension, match=r"the descriptor of .* has changed"):
            await desk.answer(card, {"approved": True})
        new = await desk.card(run["runId"])
        assert (new["policy"]["effectiveTier"], ledger.count()) == ("high", 0)
        assert (await desk.approve(new))["status"] == "succeeded"
        assert ledger.count() == 1
