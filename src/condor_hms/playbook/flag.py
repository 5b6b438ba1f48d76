"""Setting a flag: “Flag Helen Coleman as a falls risk”."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from condor_hms.catalogue.terms import FLAGS
from condor_hms.playbook.objects import PLACE, take_places, written_thing
from condor_hms.playbook.reading import Reading, is_plain_text
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, search_step, step
from condor_hms.playbook.vocabulary import FLAG_WORDS, NEGATIONS, pattern, words

if TYPE_CHECKING:
    from condor_hms.playbook.draft import Draft

__all__ = ["CUE", "RISK", "SETTING", "plan_flag"]

CUE = pattern(r"flags?|be flagged")
#: Verbs that set a flag when the flag itself is named.
SETTING = pattern(r"mark|label|alert|add|record|note|set|put|document|register")
#: Flags that say by themselves that they are flags; “falls” and “behaviour” also happen.
RISK = pattern(r"risk|dnacpr|dnar|do not attempt|infection[ -]control")
_PASSIVE = pattern(r"(?:to )?be (?:flagged|marked)")
_NOTE = re.compile(
    r"(?<!\w)(?:because|since|note:|reason:|due to|as (?=(?:she|he)(?: |'s)))[: ]*(?P<note>[^.;\0]{3,120}?)"
    r"(?= please| thanks|[.;\0]|$)"
)
#: “…, she's fallen twice”: why the flag is set, told after it.
_TOLD = re.compile(
    r"[,.;-] ?(?P<note>(?:she|he)(?:'s)? (?!please)[a-z][^.;\0]{2,100}?)(?= please| thanks|[.;\0]|$)"
)
_WORDS = words(
    "flag flags mark label alert add record note set put document register as "
    "high up risk make sure she's he's"
)


def plan_flag(reading: Reading) -> Plan:
    """Search, set the flag.

    Raises:
        RequestNotUnderstood: no flag of the list or two, no patient, or words left over.
    """
    draft = reading.draft
    draft.take_all(_PASSIVE)
    # Before the note: “do not attempt CPR” is the name of a flag.
    before = draft.low
    flags = FLAG_WORDS.take(draft)
    if not flags:
        raise refuse(f"no flag is named that I can set; there are {', '.join(FLAGS.values())}")
    if len(flags) > 1:
        raise refuse(f"two flags in one request ({' and '.join(FLAGS[flag] for flag in flags)})")
    _give_back(draft, before)
    note = _note(draft)
    take_places(draft, PLACE)
    thing = written_thing(draft, but=("flag", "alert"))
    if thing is not None:
        raise refuse_part(thing, "a flag can be set here, nothing else about it")
    who = reading.finish(reading.named(_WORDS), _WORDS)
    return plan(
        search_step(who.query, who.birth_date),
        step("s2", "flag.set", {"patient": PATIENT, "flag": flags[0], "note": note}, after=("s1",)),
    )


def _give_back(draft: Draft, before: str) -> None:
    """The flag's name within the note is a part of the note: “because she had two falls”.

    Raises:
        RequestNotUnderstood: the note denies what the flag says.
    """
    found = next((match for shape in (_NOTE, _TOLD) if (match := shape.search(before))), None)
    if found is None or draft.low[: found.start()] == before[: found.start()]:
        return
    if draft.low[found.start() :] != before[found.start() :]:
        note = before[found.start("note") : found.end("note")]
        if NEGATIONS.search(note):
            raise refuse_part(note, "it denies what the flag says")
        draft.low = draft.low[: found.start()] + before[found.start() :]


def _note(draft: Draft) -> str | None:
    match = draft.take(_NOTE) or draft.take(_TOLD)
    if match is None:
        return None
    note = draft.typed(match, "note").strip()
    if not is_plain_text(note):
        raise refuse_part(note, "I do one thing at a time")
    return note
