"""Ordering laboratory tests: which, how urgently, on whom, and why if it was said.

Rule: an order is an order only in the words of one. A question about a result stays a question.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from condor_hms.catalogue.lab_orders import ORDERED_TESTS
from condor_hms.catalogue.terms import LAB_TESTS
from condor_hms.playbook.reading import Reading, is_plain_text
from condor_hms.playbook.reads import OVERVIEW
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, search_step, step
from condor_hms.playbook.vocabulary import TESTS, Phrases, pattern, words

if TYPE_CHECKING:
    from condor_hms.playbook.draft import Draft

__all__ = ["is_asked", "plan_lab_order"]

_CUE = pattern(r"(?:re-?)?order(?: in)?|request|send off(?: for)?")
_COUNTS = Phrases.of({"58410-2": ("full blood counts?", "fbcs?", "complete blood counts?", "cbcs?")})
_PRIORITIES = Phrases.of(
    {
        "urgent": ("urgent(?:ly)?",),
        "asap": ("asap", r"a\.s\.a\.p\.?", "as soon as possible"),
        "stat": ("stat", "immediate(?:ly)?", "right now"),
        "routine": ("routine(?:ly)?",),
    }
)
_WHY = re.compile(
    r"(?<!\w)(?:because(?: of)?|due to|indication:?|reason:?)[: ]*(?P<why>[^.;\0]{3,120}?)"
    r"(?= please| thanks|[.;\0]|$)"
)
_LATER = pattern(
    r"tomorrow|tonight|later|next (?:week|month|time)|in (?:\S+ )?(?:hours?|days?|weeks?|months?)"
    r"|(?:on |every |each )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|daily|weekly|monthly"
)
_WORDS = words(
    "test tests lab labs level levels blood bloods sample urine serum plasma set off one new another"
)


def is_asked(draft: Draft) -> bool:
    """Whether the request orders a test: the words of an order, and a test."""
    return draft.has(_CUE) and bool(TESTS.search(draft.low) or _COUNTS.search(draft.low))


def plan_lab_order(reading: Reading) -> Plan:
    """Search, then order.

    Raises:
        RequestNotUnderstood: a test that cannot be ordered, two priorities, no patient, or words left over.
    """
    draft = reading.draft
    draft.take_all(_CUE)
    if draft.has(OVERVIEW):
        raise refuse("two things in one request (order lab tests and give an overview)")
    tests = [*TESTS.take(draft), *_COUNTS.take(draft)]
    unknown = [LAB_TESTS.get(code, code) for code in tests if code not in ORDERED_TESTS]
    if unknown:
        can = ", ".join(ORDERED_TESTS.values())
        raise refuse(f"{' and '.join(unknown)} cannot be ordered here; there are {can}")
    priorities = _PRIORITIES.take(draft)
    if len(priorities) > 1:
        raise refuse(f"two priorities in one request ({' and '.join(priorities)})")
    why = _why(draft)
    later = draft.take(_LATER)
    if later is not None:
        raise refuse_part(draft.typed(later), "I order for now, and once")
    who = reading.finish(reading.named(_WORDS), _WORDS)
    args = {
        "patient": PATIENT,
        "tests": tests,
        "priority": priorities[0] if priorities else None,
        "indication": why,
    }
    return plan(search_step(who.query, who.birth_date), step("s2", "order.lab.create", args, after=("s1",)))


def _why(draft: Draft) -> str | None:
    match = draft.take(_WHY)
    if match is None:
        return None
    why = draft.typed(match, "why").strip()
    if not is_plain_text(why):
        raise refuse_part(why, "I do one thing at a time")
    return why
