"""The offline planner: a request in a clinician's words becomes a plan, or an honest no.

Law 1: the same text on the same day gives the same plan; no network, no model, no record.
Law 2: a request is planned whole or not at all. What was not understood is named.
Law 3: nothing is guessed: who, how much, how often and by which route are as typed, or are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.playbook import prescribe
from condor_hms.playbook.draft import TEXT_CHARS_MAX, Draft, has_invisible, normalise
from condor_hms.playbook.names import take_identifiers
from condor_hms.playbook.reading import Reading
from condor_hms.playbook.refusals import refuse
from condor_hms.playbook.vocabulary import POLITE, pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

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

    async def plan(self, request: PlanningRequest) -> object:
        """Plan JSON as in the public format.

        Raises:
            RequestNotUnderstood: with the part that was not understood, and what can be asked.
        """
        planned = plan_text(request)
        have = {tool.name for tool in request.tools}
        missing = sorted({step["tool"] for step in planned["steps"]} - have)
        if missing:
            raise refuse(f"this needs {' and '.join(missing)}, which is not here")
        return planned


def plan_text(request: PlanningRequest) -> Plan:
    """The plan of one request; see ``PlaybookPlanner.plan``."""
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
    draft.take_all(POLITE)
    reading = Reading(draft=draft, today=request.today, known=take_identifiers(draft, request.today))
    return _kind_of(reading)(reading)


def _kind_of(reading: Reading) -> Callable[[Reading], Plan]:
    cues: tuple[tuple[str, re.Pattern[str], Callable[[Reading], Plan]], ...] = (
        ("prescribe", prescribe.CUE, prescribe.plan_prescribe),
    )
    asked = [(name, plan) for name, shape, plan in cues if reading.draft.has(shape)]
    if asked:
        return asked[0][1]
    if prescribe.is_implied(reading):
        return prescribe.plan_prescribe
    raise refuse("no request was recognised")
