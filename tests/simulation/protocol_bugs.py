"""Bugs of ours in the protocol of cards, planted one at a time: each is a mistake that somebody could make.

They exist in tests alone, and ``test_machine.py`` shows that the machine finds each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from condor.core.compiler.leaves import tool_call
from condor.core.suspend import read_edit
from condor.pump import call as pump_call
from condor.pump import leaf_runner, suspend_funnel
from condor.pump.phases import close, edit_call, halt, suspend_resume
from condor.pump.state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One mistake, and where it can show."""

    plant: Plant
    plans: tuple[str, ...]
    #: The rules that it shows under.
    rules: frozenset[str]
    #: Whether calls of ``state.write`` count as removals at first.
    removes: bool = False


def _edit_approves(patch: pytest.MonkeyPatch) -> None:
    """Who edited a call has seen it: no need to ask again."""
    gated = tool_call._gated

    def run_it(given: Any, call: Any, verdict: Any) -> Any:
        if not given.edits:
            return gated(given, call, verdict)
        contract = tool_call._contract(given, call, verdict, {})
        return tool_call._execute(given, call, verdict, contract, versions={}, approval=None)

    patch.setattr(tool_call, "_gated", run_it)


def _old_card_stays(patch: pytest.MonkeyPatch) -> None:
    """The edited call gets its card, and the old one is left open."""
    supersede: Any = vars(edit_call)["go_on"]

    async def keep(segment: Any, moves: Any, step_id: Any, **more: Any) -> Any:
        moves.decide.clear()
        return await supersede(segment, moves, step_id, **more)

    patch.setattr(edit_call, "go_on", keep)


def _any_contract(patch: pytest.MonkeyPatch) -> None:
    """An approval is good for whatever its step is about to do."""
    gated = tool_call._gated

    def believe(given: Any, call: Any, verdict: Any) -> Any:
        approval, evidence = given.approval, given.evidence
        if approval is not None and approval.answer.approved and (evidence or given.tool.preview is None):
            contract = tool_call._contract(given, call, verdict, evidence.versions if evidence else {})
            given = replace(given, approval=replace(approval, contract_hash=contract))
        return gated(given, call, verdict)

    patch.setattr(tool_call, "_gated", believe)


def _no_drift(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks whether the card is still what would run."""
    patch.setattr(suspend_resume, "drift_of", lambda segment, row: None)


def _looser_after_drift(patch: pytest.MonkeyPatch) -> None:
    """A release that calls a write harmless lets it run, although a person was asked."""
    leaf: Any = vars(leaf_runner)["tool_call_leaf"]

    def forget(given: Any) -> Any:
        return leaf(replace(given, was_gated=False, was_high=False))

    patch.setattr(leaf_runner, "tool_call_leaf", forget)


def _expired_counts(patch: pytest.MonkeyPatch) -> None:
    """The deadline is for the sweep alone."""
    decide: Any = vars(suspend_resume)["Decide"]

    def late(**facts: Any) -> Any:
        return decide(**{**facts, "refuse_expired": False})

    patch.setattr(suspend_resume, "Decide", late)


def _sweep_approves(patch: pytest.MonkeyPatch) -> None:
    """Nobody has objected in time: the sweep closes the card as approved."""
    decide: Any = vars(halt)["Decide"]

    def silence_is_consent(**facts: Any) -> Any:
        return decide(**{**facts, "status": "approved"})

    patch.setattr(halt, "Decide", silence_is_consent)


def _two_answers(patch: pytest.MonkeyPatch) -> None:
    """The compare-and-set of an answer is left out: the second one finds the card open."""
    commit = suspend_resume.go_on

    async def forget(segment: Any, moves: Any, step_id: Any, **more: Any) -> Any:
        moves.decide.clear()
        return await commit(segment, moves, step_id, **more)

    patch.setattr(suspend_resume, "go_on", forget)


def _siblings_stay(patch: pytest.MonkeyPatch) -> None:
    """A denial or a stop ends the run and leaves its other cards open."""
    patch.setattr(close, "stage_withdrawals", lambda segment, moves: None)
    patch.setattr(halt, "stage_withdrawals", lambda segment, moves: None)


def _denial_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """The same call is asked about again."""
    patch.setattr(pump_call, "_denied", lambda state: (frozenset(), frozenset()))


def _anybody_decides(patch: pytest.MonkeyPatch) -> None:
    """Who may answer is left to the client."""
    patch.setattr(suspend_resume, "may_not_answer", lambda principal, row: None)


def _editor_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Four eyes hold for who asked, not for who edited."""
    facts = suspend_funnel._facts

    def without(segment: Any, request: Any) -> dict[str, object]:
        return facts(segment, replace(request, edits=()))

    patch.setattr(suspend_funnel, "_facts", without)


def _any_argument(patch: pytest.MonkeyPatch) -> None:
    """An edit may change whatever the call has."""

    def believe(schema: Any, given: Any) -> Any:
        return given if isinstance(given, dict) and given else read_edit(schema, given)

    patch.setattr(edit_call, "read_edit", believe)


def _edit_from_the_plan(patch: pytest.MonkeyPatch) -> None:
    """An edit is applied to what the plan said, not to what the card showed: an earlier edit is lost."""
    arguments = pump_call._arguments

    def only_the_last(state: Any, node: Any, tool: Any, anew: Any) -> Any:
        args, answers, unmet, edits = arguments(state, node, tool, anew)
        if len(edits) > 1:
            args = {**node.args, **edits[-1].after}
        return args, answers, unmet, edits

    patch.setattr(pump_call, "_arguments", only_the_last)


def _tier_falls(patch: pytest.MonkeyPatch) -> None:
    """What a call is now is all that counts."""
    patch.setattr(pump_call, "_showed_high", lambda row: False)


def _one_generation(patch: pytest.MonkeyPatch) -> None:
    """A step's cards are not counted: the call edited there and back is the first card again."""
    patch.setattr(RunState, "generation", lambda self, step_id: 1)


def _bug(plant: Plant, plan: str, *rules: str, removes: bool = False) -> Bug:
    return Bug(plant=plant, plans=(plan,), rules=frozenset(rules), removes=removes)


BUGS: dict[str, Bug] = {
    "an edit approves": _bug(_edit_approves, "gated", "edit"),
    "the old card stays open": _bug(_old_card_stays, "gated", "edit"),
    "an approval is good for any contract": _bug(_any_contract, "seen", "answer", "record_moves"),
    "drift is not looked at": _bug(_no_drift, "gated", "answer", "drift"),
    "drift may be looser": _bug(_looser_after_drift, "state kept", "answer", "drift", removes=True),
    "an expired card counts": _bug(_expired_counts, "gated", "answer", "pass_time"),
    "the sweep approves": _bug(_sweep_approves, "gated", "pass_time"),
    "two answers are taken": _bug(_two_answers, "parallel", "answer", "answer_at_once"),
    "siblings stay open": _bug(_siblings_stay, "parallel", "answer", "stop"),
    "a denial is forgotten": _bug(_denial_is_forgotten, "twins", "answer"),
    "anybody decides": _bug(_anybody_decides, "four eyes", "answer"),
    "the editor is forgotten": _bug(_editor_is_forgotten, "four eyes", "edit", "answer"),
    "any argument may be edited": _bug(_any_argument, "gated", "edit_identity"),
    "an edit starts from the plan": _bug(_edit_from_the_plan, "state", "edit"),
    "the tier falls": _bug(_tier_falls, "state", "edit"),
    "generations are not counted": _bug(_one_generation, "gated", "edit"),
}
