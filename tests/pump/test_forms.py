"""Forms end to end: every kind of field is asked for, checked by the server, and then approved as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor import (
    AnswerInvalid,
    ArgSpec,
    CardEvidence,
    HitlTier,
    NotAnApprover,
    PolicyClass,
    Principal,
    ToolContext,
    ToolError,
    tool,
)
from tests.pump.desk import ANN, BOB, call, open_desk, write_tool

if TYPE_CHECKING:
    from pathlib import Path

    from condor import ToolDescriptor
    from condor.testing import Ledger

#: One argument of every kind; the day of the desk is 2026-11-30.
FIELDS = (
    ArgSpec(name="kind", label="Kind", required=True, hint={"enum": ["a", {"value": "b", "label": "Bee"}]}),
    ArgSpec(name="side", label="Side", required=True, hint={"enum": ["left", "right"], "radio": True}),
    ArgSpec(
        name="tests", label="Tests", type="array", required=True, hint={"multi": True, "enum": ["x", "y"]}
    ),
    ArgSpec(name="on", label="On", type="date", required=True, hint={"min": "today", "max": "today+30d"}),
    ArgSpec(name="at", label="At", type="date-time", required=True, hint={"min": "now"}),
    ArgSpec(name="count", label="Count", type="integer", required=True, hint={"min": 1, "max": 9}),
    ArgSpec(name="dose", label="Dose", type="decimal", required=True, hint={"min": 0.5}),
    ArgSpec(name="sure", label="Sure", type="boolean", required=True),
    ArgSpec(
        name="why", label="Why", required=True, hint={"textarea": True, "min_length": 3, "max_length": 20}
    ),
    ArgSpec(name="patient", type="reference", required=True, hint={"lookup": {"tool": "patient.search"}}),
    # Malformed hints: no room between the bounds, options of the wrong type, no form, no tool.
    ArgSpec(name="odd", required=True, hint={"enum": "ab", "format": "poem", "lookup": {"tool": 7}}),
    ArgSpec(name="odder", type="integer", required=True, hint={"min": 9, "max": 1, "enum": [None, {}]}),
)
GOOD: dict[str, Any] = {
    "kind": "b",
    "side": "left",
    "tests": ["y"],
    "on": "2026-12-01",
    "at": "2026-11-30T12:00:00Z",
    "count": 3,
    "dose": 2.5,
    "sure": False,
    "why": "it is due",
    "patient": "Patient/1",
    "odd": "anything",
    "odder": 5,
}
BAD = [
    ("kind", "c"),
    ("kind", ["a"]),
    ("side", "Left"),
    ("tests", []),
    ("tests", ["x", "x"]),
    ("tests", ["z"]),
    ("on", "2026-11-29"),
    ("on", "2027-01-01"),
    ("on", "tomorrow"),
    ("at", "2026-11-29T12:00:00Z"),
    ("at", "2026-12-01T12:00:00"),
    ("count", 0),
    ("count", 10),
    ("count", 1.5),
    ("count", "3"),
    ("count", True),
    ("dose", 0.4),
    ("dose", "2.5"),
    ("sure", "yes"),
    ("sure", 1),
    ("why", "so"),
    ("why", "x" * 21),
    ("why", "\u200b\u200b\u200b"),
    ("patient", ""),
    ("odd", ""),
    ("odder", "5"),
]


def form_tool(ledger: Ledger) -> ToolDescriptor:
    """A write that needs all of them."""

    @tool("form.write", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.HIGH, args=FIELDS)
    async def write(ctx: ToolContext, **args: Any) -> int:
        return ledger.write(str(args["patient"]), str(args["why"]), key=ctx.idempotency_key)

    return write


async def test_every_kind_of_field_is_asked_and_drawn(tmp_path: Path, ledger: Ledger) -> None:
    """One form for all that is missing; each by its hint, a malformed one as plain as its type allows."""
    async with open_desk(tmp_path / "home", form_tool(ledger)) as desk:
        run = await desk.run(call("w", "form.write"))
        card = await desk.card(run["runId"])
        shapes, ui = card["resumeSchema"]["properties"], card["uiSchema"]
        assert card["resumeSchema"]["required"] == [field.name for field in FIELDS]
        assert shapes["kind"]["oneOf"] == [{"const": "a", "title": "a"}, {"const": "b", "title": "Bee"}]
        assert shapes["tests"]["items"]["oneOf"][0]["const"] == "x"
        assert (shapes["on"]["formatMinimum"], shapes["on"]["formatMaximum"]) == ("2026-11-30", "2026-12-30")
        assert (shapes["at"]["format"], shapes["at"]["formatMinimum"]) == ("date-time", "2026-11-30")
        assert (shapes["count"]["minimum"], shapes["count"]["maximum"], shapes["dose"]["minimum"]) == (
            1,
            9,
            0.5,
        )
        assert shapes["odd"] == {"title": "odd", "type": "string", "minLength": 1}
        assert shapes["odder"] == {"title": "odder", "type": "integer"}
        assert ui == {
            "side": {"ui:widget": "radio"},
            "why": {"ui:widget": "textarea"},
            "patient": {"ui:lookup": {"tool": "patient.search"}},
        }


@pytest.mark.parametrize(("name", "value"), BAD, ids=[f"{name}={value!r:.20}" for name, value in BAD])
async def test_a_bad_field_is_refused_by_name(tmp_path: Path, ledger: Ledger, name: str, value: Any) -> None:
    """The server checks, whatever the form did; the place is named, and the card is as it was."""
    async with open_desk(tmp_path / "home", form_tool(ledger)) as desk:
        run = await desk.run(call("w", "form.write"))
        card = await desk.card(run["runId"])
        with pytest.raises(AnswerInvalid) as refused:
            await desk.answer(card, {**GOOD, name: value}, ANN)
        assert refused.value.path.split("/")[1] == name
        assert await desk.condor.show(run["runId"]) == run


async def test_what_was_answered_is_then_approved(tmp_path: Path, ledger: Ledger) -> None:
    """R07: two cards on one step, one after the other; the second shows every answer."""
    async with open_desk(tmp_path / "home", form_tool(ledger)) as desk:
        run = await desk.run(call("w", "form.write", kind="a", count=99))
        question = await desk.card(run["runId"])
        # What the plan said well is not asked again; what it said badly is, with the reason.
        assert set(question["resumeSchema"]["required"]) == GOOD.keys() - {"kind"}
        assert "Count: the number is above 9" in question["message"]
        await desk.answer(question, {name: value for name, value in GOOD.items() if name != "kind"}, ANN)
        await desk.rest(run["runId"])
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card["stepId"], ledger.count()) == ("approval", "w", 0)
        assert card["toolInput"] == {**GOOD, "kind": "a"}
        end = await desk.approve(card)
        assert (end["status"], len(end["suspensions"]), ledger.count()) == ("succeeded", 2, 1)


async def test_a_reference_that_the_record_does_not_know_is_asked_for_again(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A wrong answer to a lookup costs a question, not the run; a plan that is wrong fails its step."""

    async def preview(ctx: ToolContext, patient: str, value: str) -> CardEvidence:
        if patient != "Patient/1":
            raise ToolError(f"{patient} is not in the record", effect="none")
        return CardEvidence(summary=value)

    @tool(
        "chart.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        preview=preview,
        args=(
            ArgSpec(
                name="patient",
                label="Patient",
                type="reference",
                required=True,
                hint={"lookup": {"tool": "patient.search"}},
            ),
            ArgSpec(name="value", required=True),
        ),
    )
    async def write(ctx: ToolContext, patient: str, value: str) -> int:
        return ledger.write(patient, value, key=ctx.idempotency_key)

    async with open_desk(tmp_path / "home", write) as desk:
        run = await desk.run(call("w", "chart.write", value="x"))
        again = await desk.card(run["runId"])
        for wrong in ("Patient/2", "Patient/2", "nobody"):
            await desk.answer(again, {"patient": wrong}, ANN)
            await desk.rest(run["runId"])
            again = await desk.card(run["runId"])
            assert again["reasonCode"] == "clarification"
            assert again["message"] == f"Patient: {wrong} is not in the record"
        await desk.answer(again, {"patient": "Patient/1"}, ANN)
        await desk.rest(run["runId"])
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card["generation"], card["toolInput"]["patient"]) == (
            "approval",
            5,
            "Patient/1",
        )
        await desk.approve(card)
        assert ledger.count("Patient/1") == ledger.count() == 1
        planned = await desk.run(call("w", "chart.write", patient="Patient/2", value="x"))
        assert (planned["status"], planned["suspensions"]) == ("failed", [])


async def test_who_answers_may_make_the_calls_that_the_answer_goes_into(
    tmp_path: Path, ledger: Ledger
) -> None:
    """A clerk may look up a book; whose book a manager's write is about is not theirs to choose."""

    @tool(
        "book.find",
        policy_class=PolicyClass.READ,
        roles={"clerk", "porter", "manager"},
        args=(ArgSpec(name="name", type="string", required=True),),
    )
    async def find(ctx: ToolContext, name: str) -> dict[str, Any]:
        return {"record": name}

    porter = Principal(id="pia", roles=frozenset({"porter"}))
    steps = (
        call("f", "book.find"),
        call("w", "book.write", after=["f"], record={"$from": "f", "path": "/record"}, value="x"),
    )
    async with open_desk(tmp_path / "home", find, write_tool(ledger, roles={"clerk", "manager"})) as desk:
        run = await desk.run(*steps)
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card["answerRoles"]) == ("clarification", ["clerk", "manager"])
        with pytest.raises(NotAnApprover):
            await desk.answer(card, {"name": "b"}, porter)
        await desk.answer(card, {"name": "a"}, BOB)
        await desk.rest(run["runId"])
        assert (await desk.card(run["runId"]))["toolInput"]["record"] == "a"


@pytest.mark.parametrize(
    ("asked", "later", "answers"),
    [
        (("w", "doctor"), [("w", "receptionist")], "doctor"),
        (("w", "doctor"), [("r", "receptionist")], "doctor"),
        (("r", "receptionist"), [("w", "doctor")], "doctor"),
        (("w", "doctor nurse"), [("w", "nurse clerk")], "nurse"),
        (("w", "doctor nurse"), [("r", "nurse"), ("w", "clerk")], "nurse"),
        (("w", "doctor nurse"), [("r", "nurse"), ("w", "doctor")], "doctor"),
        (("r", "clerk"), [("w", "doctor"), ("r", "clerk")], "doctor"),
        (("r", "clerk"), [("w", "doctor"), ("r", "nurse")], "doctor"),
        (("r", "clerk doctor"), [("w", "doctor nurse"), ("r", "clerk nurse doctor")], "doctor"),
        (("r", "clerk"), [("w", "")], "clerk"),
        (("w", ""), [("w", "doctor nurse"), ("r", "nurse")], "nurse"),
        (("w", ""), [], ""),
    ],
    ids=lambda value: "+".join(map("-".join, value)) if isinstance(value, list) else None,
)
@pytest.mark.parametrize("turned", [False, True])
async def test_a_question_about_an_effect_stays_with_who_may_make_it(
    tmp_path: Path, asked: tuple[str, str], later: list[tuple[str, str]], answers: str, turned: bool
) -> None:
    """Later calls narrow who answers; only a read is answered for by others; no order of theirs matters."""

    def make(name: str, kind: str, roles: str) -> ToolDescriptor:
        how: dict[str, Any] = {"policy_class": PolicyClass.READ}
        if kind == "w":
            how = {"policy_class": PolicyClass.MUTATE, "hitl_tier": HitlTier.HIGH}

        @tool(name, roles=set(roles.split()), args=(ArgSpec(name="on", required=True),), **how)
        async def act(ctx: ToolContext, on: str) -> dict[str, str]:
            return {"on": on}

        return act

    if turned:
        later = later[::-1]
    first, *others = (make(f"do.call{n}", *one) for n, one in enumerate([asked, *later]))
    steps = [call("s0", "do.call0")]
    said = {"$from": "s0", "path": "/on"}
    steps += [call(f"s{n}", other.name, on=said) for n, other in enumerate(others, 1)]
    who = Principal(id="all", roles=frozenset({"clerk", "doctor", "nurse", "receptionist"}))
    async with open_desk(tmp_path / "home", first, *others) as desk:
        run = await desk.run(*steps, principal=who)
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], " ".join(card["answerRoles"])) == ("clarification", answers)


async def test_a_chain_of_calls_narrows_who_answers(tmp_path: Path, ledger: Ledger) -> None:
    """What goes into a call through another one counts as well; who may not make the first is never taken."""
    needed = (ArgSpec(name="record", required=True), ArgSpec(name="value"))
    tools = (
        write_tool(ledger, "book.write0", roles={"doctor", "nurse"}, args=needed),
        write_tool(ledger, "book.write1", roles={"nurse", "doctor", "clerk"}),
        write_tool(ledger, "book.write2", roles={"clerk", "doctor"}),
    )
    steps = (
        call("a", "book.write0", value="x"),
        call("b", "book.write1", record="b", value={"$from": "a", "path": "/number"}),
        call("c", "book.write2", record="c", value={"$from": "b", "path": "/number"}),
    )
    who = Principal(id="all", roles=frozenset({"clerk", "doctor", "nurse"}))
    clerk = Principal(id="cl", roles=frozenset({"clerk"}))
    async with open_desk(tmp_path / "home", *tools) as desk:
        run = await desk.run(*steps, principal=who)
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card["answerRoles"]) == ("clarification", ["doctor"])
        with pytest.raises(NotAnApprover):
            await desk.answer(card, {"record": "a"}, clerk)
