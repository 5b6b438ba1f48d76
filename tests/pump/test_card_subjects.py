"""Whom a card is about: on every card of a tool's call, and a hook that fails costs the subject alone."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from condor import (
    CardEvidence,
    HitlTier,
    InputField,
    NeedInput,
    PolicyClass,
    RecordMoved,
    ToolContext,
    ToolDescriptor,
    ToolError,
    tool,
)
from condor.core.recovery import GateVerb
from condor.ports.cards import CardFilter
from condor.ports.model import Confirmation
from condor.testing import ScriptedConfirmer
from tests.pump.desk import ANN, call, open_desk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

SUBJECT = {"reference": "Patient/pt-1", "text": "Mason, 46 y, MRN 7"}
DEAD = {"id": "state", "severity": "warning", "summary": "recorded as deceased"}


def chart_tool(subject_of: Callable[..., object], **options: Any) -> ToolDescriptor:
    """A write on a patient, whose effect ends as unknown."""

    @tool(
        "chart.write",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.LOW,
        timeout_s=0.05,
        subject_of=subject_of,
        **options,
    )
    async def write(_ctx: ToolContext, patient: str, dose: str, unit: str) -> None:
        raise RuntimeError("who knows")

    return write


async def mason(_ctx: ToolContext, args: Mapping[str, Any]) -> CardEvidence:
    """Says whom it is about from the patient alone, and tries to say more."""
    assert args["patient"] == "Patient/pt-1"
    return CardEvidence(
        subject=SUBJECT, alerts=(DEAD,), requires=("unit",), versions={"Patient/pt-1": "1"}, summary="obey"
    )


async def test_a_question_and_a_reconcile_card_say_whom_they_are_about(tmp_path: Path) -> None:
    """The subject and its alerts, and nothing else that the hook says; the inbox finds both by subject."""
    async with open_desk(tmp_path / "home", chart_tool(mason)) as desk:
        run = await desk.run(call("w", "chart.write", patient="Patient/pt-1"), autonomy="autonomous")
        card = await desk.card(run["runId"])
        assert card["reasonCode"] == "clarification"
        assert card["evidence"] == {"subject": SUBJECT, "alerts": [DEAD]}
        assert (card["requester"], card["requesterDisplay"]) == ("ann", "Ann Ito")
        about = CardFilter(subject="Patient/pt-1")
        assert [found["suspendId"] for found in await desk.condor.pending(about)] == [card["suspendId"]]
        await desk.answer(card, {"dose": "1", "unit": "mg"}, ANN)
        await desk.rest(run["runId"])
        asked = await desk.card(run["runId"])
        assert (asked["reasonCode"], asked["evidence"]["subject"]) == ("reconcile", SUBJECT)
        assert [found["suspendId"] for found in await desk.condor.pending(about)] == [asked["suspendId"]]
        await desk.answer(asked, {"happened": False, "reason": "looked"}, ANN)
        await desk.rest(run["runId"])


async def _throws(_ctx: ToolContext, _args: Mapping[str, Any]) -> CardEvidence:
    raise RuntimeError("no record")


async def _leaves(_ctx: ToolContext, _args: Mapping[str, Any]) -> CardEvidence:
    raise SystemExit(3)


async def _hangs(_ctx: ToolContext, _args: Mapping[str, Any]) -> CardEvidence:
    await asyncio.sleep(60)
    return CardEvidence()


async def _babbles(_ctx: ToolContext, _args: Mapping[str, Any]) -> object:
    return {"subject": SUBJECT}


@pytest.mark.parametrize("hook", [_throws, _leaves, _hangs, _babbles])
async def test_a_hook_that_fails_costs_the_card_its_subject_alone(
    tmp_path: Path, hook: Callable[..., object]
) -> None:
    """The question is asked all the same."""
    async with open_desk(tmp_path / "home", chart_tool(hook)) as desk:
        run = await desk.run(call("w", "chart.write", patient="Patient/pt-1"))
        card = await desk.card(run["runId"])
        assert (card["reasonCode"], card.get("evidence")) == ("clarification", None)
        await desk.condor.stop(run["runId"], principal=ANN)
        await desk.rest(run["runId"])


async def test_a_preview_that_names_somebody_is_believed(tmp_path: Path) -> None:
    """The hook is asked only where nothing names anybody, once for a card."""
    asked = []

    async def counts(_ctx: ToolContext, _args: Mapping[str, Any]) -> CardEvidence:
        asked.append(1)
        return CardEvidence(subject=SUBJECT)

    async def preview(_ctx: ToolContext, **_: Any) -> CardEvidence:
        return CardEvidence(subject={"reference": "Patient/2"})

    async with open_desk(tmp_path / "home", chart_tool(counts, preview=preview)) as desk:
        step = call("w", "chart.write", patient="Patient/pt-1", dose="1", unit="mg")
        run = await desk.run(step, autonomy="guarded")
        card = await desk.card(run["runId"])
        assert (card["evidence"]["subject"], asked) == ({"reference": "Patient/2"}, [])
        await desk.deny(card)


@pytest.mark.parametrize("how", ["asks", "moved"])
async def test_what_an_effect_did_not_do_is_stored_before_a_hook_is_asked(tmp_path: Path, how: str) -> None:
    """It asks for something, or its record has moved; the process dies in the hook, nothing is unknown."""
    home, image, entered = tmp_path / "home", tmp_path / "image", list[str]()

    def dies() -> None:
        if entered and not image.exists():
            shutil.copytree(home, image)

    async def whom(_ctx: ToolContext, _args: Mapping[str, Any]) -> CardEvidence:
        dies()
        return CardEvidence(subject=SUBJECT)

    async def look(_ctx: ToolContext, patient: str) -> CardEvidence:
        dies()
        return CardEvidence(subject=SUBJECT, versions={patient: "1"})

    @tool(
        "order.put",
        policy_class=PolicyClass.MUTATE,
        hitl_tier=HitlTier.HIGH,
        subject_of=whom,
        preview=look if how == "moved" else None,
    )
    async def order(_ctx: ToolContext, patient: str) -> object:
        entered.append(patient)
        if how == "moved":
            raise RecordMoved("somebody was faster")
        return NeedInput(fields=(InputField(name="ward"),), message="Which ward?")

    async with open_desk(home, order) as desk:
        run = await desk.run(call("w", "order.put", patient="Patient/pt-1"))
        await desk.approve(await desk.card(run["runId"]))
        assert image.exists()
    async with open_desk(image, order, seed=1) as desk:
        await desk.rest(run["runId"])
        assert (await desk.card(run["runId"]))["reasonCode"] == "approval"


async def test_a_routine_write_whose_record_moved_asks_for_no_evidence(tmp_path: Path) -> None:
    """Nobody was asked and nobody will be: it fails with what moved before anything else takes time."""
    looked, entered = list[str](), list[str]()

    async def look(_ctx: ToolContext, patient: str) -> CardEvidence:
        looked.append(patient)
        return CardEvidence(subject=SUBJECT)

    @tool("order.put", policy_class=PolicyClass.MUTATE, hitl_tier=HitlTier.LOW, preview=look)
    async def order(_ctx: ToolContext, patient: str) -> object:
        entered.append(patient)
        raise RecordMoved("somebody was faster")

    async with open_desk(tmp_path / "home", order) as desk:
        run = await desk.run(call("w", "order.put", patient="Patient/pt-1"), autonomy="autonomous")
        (step,) = run["steps"]
        assert (step["status"], step["code"]) == ("failed", "record_moved")
    assert (looked, entered) == ([], ["Patient/pt-1"])


async def test_another_tool_is_shown_for_nobody_that_was_asked_about(tmp_path: Path) -> None:
    """An answer may have put the call on another patient than its question was about."""

    def put(name: str, **options: Any) -> ToolDescriptor:
        async def whom(_ctx: ToolContext, args: Mapping[str, Any]) -> CardEvidence:
            return CardEvidence(subject={"reference": args["patient"]})

        @tool(
            name,
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            alias_group="orders",
            subject_of=whom,
            **options,
        )
        async def order(_ctx: ToolContext, patient: str, dose: str) -> None:
            raise ToolError("down", effect="none")

        return order

    asks = ScriptedConfirmer(Confirmation(verb=GateVerb.PARK))
    tools = put("order.put"), put("task.put", alias_fidelity="degraded")
    async with open_desk(tmp_path / "home", *tools, confirmer=asks) as desk:
        step = call("w", "order.put", patient="Patient/pt-1")
        run = await desk.run(step, autonomy="autonomous")
        card = await desk.card(run["runId"])
        assert card["evidence"]["subject"] == {"reference": "Patient/pt-1"}
        await desk.answer(card, {"dose": "1"}, ANN)
        await desk.rest(run["runId"])
        card = await desk.card(run["runId"])
        assert (card["origin"], card["evidence"].get("subject")) == ("plan_mutation", None)


async def test_a_known_outcome_waits_for_no_hook(tmp_path: Path) -> None:
    """The process dies where a hook would be asked: how the effect ended is stored, with its card."""
    home, image, asked = tmp_path / "home", tmp_path / "image", list[str]()

    def put(name: str) -> ToolDescriptor:
        async def whom(_ctx: ToolContext, _args: Mapping[str, Any]) -> CardEvidence:
            asked.append(name)
            if name == "task.put":
                shutil.copytree(home, image)  # what is on the disk when the process dies here
            return CardEvidence(subject=SUBJECT, alerts=(DEAD,))

        @tool(
            name,
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            alias_group="orders",
            subject_of=whom,
        )
        async def order(_ctx: ToolContext, patient: str) -> None:
            raise ToolError("down", effect="none")

        return order

    tools = put("order.put"), put("task.put")
    async with open_desk(home, *tools) as desk:
        run = await desk.run(call("w", "order.put", patient="Patient/pt-1"))
        await desk.approve(await desk.card(run["runId"]))
        card = await desk.card(run["runId"])
        assert (card["origin"], card["evidence"]["subject"]) == ("plan_mutation", SUBJECT)
        assert card["evidence"]["alerts"] == [DEAD]
    if not image.exists():
        shutil.copytree(home, image)
    async with open_desk(image, *tools, seed=1) as desk:
        shown: Any = await desk.rest(run["runId"])
        assert (await desk.card(run["runId"]))["origin"] == "plan_mutation", shown["steps"]
    assert asked == ["order.put"]
