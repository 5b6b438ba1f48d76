"""The offline planner: a request in a clinician's words becomes a plan, or an honest no.

Law 1: the same text on the same day gives the same plan; no network, no model, no record.
Law 2: a request is planned whole or not at all. What was not understood is named.
Law 3: nothing is guessed: who, how much, how often and by which route are as typed, or are asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from condor import RequestNotUnderstood
from condor_hms.playbook import allergy, discontinue, flag, interactions, lab_orders, prescribe, reads
from condor_hms.playbook.draft import TEXT_CHARS_MAX, Draft, has_invisible, normalise
from condor_hms.playbook.formulas import plan_formula
from condor_hms.playbook.medicines import take_medicines
from condor_hms.playbook.names import take_identifiers
from condor_hms.playbook.reading import Reading
from condor_hms.playbook.refusals import refuse
from condor_hms.playbook.vocabulary import FLAG_WORDS, POLITE, pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from condor.ports.model import PlanningRequest
    from condor_hms.playbook.steps import Plan

__all__ = ["PlaybookPlanner"]


#: Requests about the rules instead of about a patient.
_AGAINST_THE_RULES = pattern(
    r"(?:ignore|disregard|forget|override|bypass|skip|disable|turn off) (?:\S+ ){0,4}?"
    r"(?:rules?|instructions?|prompts?|approvals?|polic(?:y|ies)|safety|checks?|guardrails?|cards?)"
    r"|system prompt|you are now|pretend|jailbreak|without (?:asking|approval|confirmation|a card)"
    r"|(?:pre|auto)-?approved?|already approved|approve (?:it|this|everything|all)"
)


class PlaybookPlanner:
    """Plans the kinds of request that ``refusals.KINDS`` lists."""

    def __init__(self, staff: Mapping[str, str] | None = None) -> None:
        """``staff``: how a clinician is called, folded → ``Practitioner/id``; without it nobody is known."""
        self._staff = staff or {}

    async def plan(self, request: PlanningRequest) -> object:
        """Plan JSON as in the public format.

        Raises:
            RequestNotUnderstood: with the part that was not understood, and what can be asked.
        """
        planned = plan_text(request, self._staff)
        have = {tool.name for tool in request.tools}
        missing = sorted({step["tool"] for step in planned["steps"]} - have)
        if missing:
            raise refuse(f"this needs {' and '.join(missing)}, which is not here")
        return planned


def plan_text(request: PlanningRequest, staff: Mapping[str, str], *, inside: bool = False) -> Plan:
    """The plan of one request; see ``PlaybookPlanner.plan``.

    Args:
        inside: it stands in the text of another request, and is not searched for one itself.
    """
    text = normalise(request.text)
    if not text:
        raise refuse("the request is empty")
    if len(text) > TEXT_CHARS_MAX:
        raise refuse(f"the request has {len(text)} characters; at most {TEXT_CHARS_MAX} are read")
    if has_invisible(request.text):
        raise refuse("the request holds invisible characters; type it again")
    draft = Draft(text)
    if draft.has(_AGAINST_THE_RULES):
        raise refuse("the rules of approval are not mine to change")

    def is_request(part: str) -> bool:
        if inside:
            return False
        try:
            plan_text(replace(request, text=part), staff, inside=True)
        except RequestNotUnderstood:
            return False
        return True

    known = plan_formula(text, request.today, staff, is_request)
    if known is not None:
        return known
    polite = bool(draft.take_all(POLITE))
    reading = Reading(draft=draft, today=request.today, known=take_identifiers(draft, request.today))
    return _kind_of(reading, polite=polite)(reading)


#: A kind of request: what it is called, and what plans it.
Kind: TypeAlias = "tuple[str, Callable[[Reading], Plan]]"


def _kind_of(reading: Reading, *, polite: bool) -> Callable[[Reading], Plan]:
    """Which one thing is asked for.

    Raises:
        RequestNotUnderstood: two writes at once, or a question where a request would be (“Flag her?”); a
            polite question (“could you …?”) is a request.
    """
    draft = reading.draft
    asked = _interaction_check(draft) or _writes(draft)
    if len(asked) > 1:
        raise refuse(f"two things in one request ({' and '.join(name for name, _ in asked)})")
    if asked and asked[0][1] is not interactions.plan_interactions and "?" in draft.text and not polite:
        raise refuse("a question is no order; say it as a request, or ask about the record")
    if asked:
        return asked[0][1]
    return prescribe.plan_prescribe if prescribe.is_implied(reading) else reads.plan_read


def _interaction_check(draft: Draft) -> list[Kind]:
    """A question about interactions that comes before any order, or without one."""
    check = interactions.CUE.search(draft.low)
    if check is None:
        return []
    orders = [match.start() for cue in (prescribe.CUE, discontinue.CUE) if (match := cue.search(draft.low))]
    if any(start < check.start() for start in orders):
        return []
    return [("check interactions", interactions.plan_interactions)]


def _writes(draft: Draft) -> list[Kind]:
    found: list[Kind] = []
    flag_named = bool(FLAG_WORDS.search(draft.low))
    is_flag = draft.has(flag.CUE) or (flag_named and draft.has(flag.RISK) and draft.has(flag.SETTING))
    is_allergy = draft.has(allergy.ALLERGY) and draft.has(allergy.WRITE_VERB)
    if is_allergy and not (is_flag and flag_named):
        found.append(("record an allergy", allergy.plan_allergy))
    elif is_flag:
        found.append(("set a flag", flag.plan_flag))
    has_medicine = bool(take_medicines(draft.part(0, len(draft.low))))
    if draft.has(discontinue.CUE) or (draft.has(discontinue.WEAK_CUE) and has_medicine):
        found.append(("stop a medicine", discontinue.plan_discontinue))
    if lab_orders.is_asked(draft):
        found.append(("order lab tests", lab_orders.plan_lab_order))
    if not found and draft.has(discontinue.WEAK_CUE):
        # Something else is to be cancelled or removed: the refusal names it.
        found.append(("stop a medicine", discontinue.plan_discontinue))
    # “Put an allergy on her record” is no prescription.
    starts = draft.has(prescribe.CUE if not found else prescribe.STRONG_CUE)
    if starts or (not found and has_medicine and draft.has(prescribe.ADD_CUE)):
        found.append(("prescribe", prescribe.plan_prescribe))
    return found
