"""The grammar of formulas: small words for who, when, why, and how a sentence is matched.

Rule 1: a name is a name: no verb of a request, no thing of a record, no denial stands in it.
Rule 2: a reason or a question is taken over as typed, and may hold no second request. A message, a note and a
task are the text of somebody and may hold anything.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from condor_hms.catalogue.denials import doubt_in
from condor_hms.catalogue.terms import MEDICINES, ingredient_key
from condor_hms.playbook.dates import DATE, read_date
from condor_hms.playbook.formulas.second import second_medicine, second_request
from condor_hms.playbook.medicines import names_a_thing
from condor_hms.playbook.names import says_something
from condor_hms.playbook.objects import THINGS
from condor_hms.playbook.priorities import priority_in
from condor_hms.playbook.reading import is_plain_text
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import Step, search_step
from condor_hms.playbook.vocabulary import POLITE, TIMES, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from condor_hms.playbook.steps import Plan

__all__ = ["Formula", "Said", "match_formula"]

_WORD = r"[^\W\d_][\w'-]*"
_NAME = rf"{_WORD}(?: {_WORD}){{0,3}}?"
_TITLE = r"(?:(?:mr|mrs|ms|miss|dr)\.? )?"
_NUMBER = r"[a-z]{2,6}-\d{3,12}"
_MONTHS = "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
_MONTH = rf"(?:{_MONTHS}|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY = rf"today|tomorrow|\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: \d{{4}})?"
#: What a formula writes in braces → the pattern it stands for.
_MACROS = {
    "who": rf"{_TITLE}(?P<who>{_NAME}(?: \(?(?:mrn )?{_NUMBER}\)?)?|{_NUMBER})",
    "whose": rf"{_TITLE}(?P<who>{_NAME})(?:'s|(?<=s)')",
    "clinician": rf"(?P<clinician>(?:dr\.? |doctor )?{_WORD}(?: {_WORD})??)",
    "ref": r"(?P<ref>[A-Z][A-Za-z]{2,40}/[A-Za-z0-9.-]{0,63}[A-Za-z0-9])",
    "date": rf"(?P<date>{DATE}|today|yesterday)",
    "when": rf"(?P<when>{_DAY})",
    "time": r"(?P<time>\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?)",
    "why": r"(?P<why>[^\0]{3,300}?)",
    "text": r"(?P<text>.{3,1000}?)",
    "meaning": r"(?: as (?P<meaning>(?:the )?author|(?:the )?verif(?:ier|ication)|(?:a |the )?witness"
    r"|(?:a |the )?co-?author))?",
    "drug": r"(?P<drug>st\.? john's wort|[^\W\d_][\w/-]{2,30}(?: [^\W\d_][\w/-]{2,20})??)",
    "their": r"(?:her|his|their|the)",
    "they": r"(?:she|he|they)",
    "because": r"(?:[,:]?(?: -)? (?P<because>because(?: of)?|since|as|due to|for|reason:?)(?!\w)[: ]*"
    r"|(?P<sign> ?: ?|, | - ))",
    "channel": r"(?P<channel>sms|text(?: message)?|e-?mail|letter|post|(?:the )?(?:patient )?portal)",
    "show": r"(?:(?:show|give|get|find|list|see|tell)(?: me)?(?: all)?(?: of)?|what (?:are|is)|open|look up)",
    "document": r"(?P<document>discharge summary|progress note|summary of episode|referral (?:note|letter))",
}
_CHANNELS = {
    "sms": "sms",
    "text": "sms",
    "email": "email",
    "letter": "letter",
    "post": "letter",
    "portal": "portal",
}
_DOCUMENTS = {
    "discharge summary": "18842-5",
    "progress note": "11506-3",
    "summary of episode": "34133-9",
    "referral note": "57133-1",
    "referral letter": "57133-1",
}
#: What a signature means: ASTM E1762.
_MEANINGS = {
    r"(?:the )?author": "1.2.840.10065.1.12.1.1",
    r"(?:the )?verif(?:ier|ication)": "1.2.840.10065.1.12.1.5",
    r"(?:a |the )?witness": "1.2.840.10065.1.12.1.8",
    r"(?:a |the )?co-?author": "1.2.840.10065.1.12.1.2",
}
_SPAN = (
    r"(?:(?:the )?(?:next|coming|following) |about |around |at least |up to |another )?"
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen"
    r"|a few|a couple of|few|several|the|some)?"
    r" ?(?:minutes?|hours?|hrs?|days?|nights?|weeks?|months?|years?|fortnights?|weekend)"
)
#: What a list after a comma goes on with, where a reason was to come.
_OBJECTS = words(
    "plan plans order orders appointment appointments invoice invoices allergy allergies note notes letter "
    "letters summary document documents prescription prescriptions referral referrals problem problems"
)
#: How long something is to last.
_LASTS = re.compile(
    rf"(?<!\w)(?:(?:for|over|in|within) )?{_SPAN}(?!\w)(?! ago)"
    r"|(?<!\w)(?:for now|overnight|temporarily)(?!\w)",
    re.IGNORECASE,
)
#: A verb with a record of its own: “…, and issue Invoice/inv-5001”.
_ON_A_RECORD = re.compile(
    r"(?<!\w)(?:issue|void|sign|archive|cancel|correct|close|open|read|show)"
    r" (?:(?:the|order|invoice|document|reading) )*[a-z]{3,40}/\w",
    re.IGNORECASE,
)
_LASTS_ONLY = re.compile(rf"{_SPAN}|now|today|tonight", re.IGNORECASE)
_LEADING = re.compile(rf"(?:(?:{POLITE.pattern})[\s,]*)+", re.IGNORECASE)
_TRAILING = re.compile(
    r"(?:[\s,.!]*(?:please|pls|thanks(?: a lot)?|thank you|cheers|now))*[\s.!]*$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """One way to ask for one thing, in several sentences."""

    #: What it plans for; a tool's name, or several.
    name: str
    #: Sentences: patterns with ``{macros}``; in lower case, matched whole.
    sentences: tuple[re.Pattern[str], ...]
    plan: Callable[[Said], Plan]
    #: Whether it changes something: a question is then no request.
    does: bool = True

    @classmethod
    def of(cls, name: str, plan: Callable[[Said], Plan], *sentences: str, does: bool = True) -> Formula:
        """From sentences as they are written in the tables."""
        return cls(name=name, sentences=tuple(map(_compiled, sentences)), plan=plan, does=does)


def _compiled(sentence: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{([a-z]+)\}", lambda match: _MACROS[match[1]], sentence), re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a sentence said, part by part."""

    parts: Mapping[str, str | None]
    today: datetime.date
    staff: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Whether the part was said."""
        return bool(self.parts.get(name))

    def text(self, name: str) -> str:
        """A part as it was typed; empty where it was not said."""
        return (self.parts.get(name) or "").strip()

    def why(self, name: str = "why") -> str | None:
        """A reason as typed.

        Raises:
            RequestNotUnderstood: another request is in it.
        """
        said = self.text(name).strip(" .,;")
        if said and (not is_plain_text(said) or _ON_A_RECORD.search(said)):
            raise refuse_part(said, "I do one thing at a time")
        if said and name == "why":
            self._check_reason(said)
        return said or None

    def _check_reason(self, said: str) -> None:
        if self.text("sign") in (",", "-") and not self.has("specialty") and set(_words(said)) & _OBJECTS:
            raise refuse_part(said, "I do one thing at a time; say “because” before a reason")
        other = second_medicine(said, announced=self.has("because")) if self.has("drug") else None
        if other is not None:
            raise refuse_part(other, "I do one thing at a time: name one medicine, and after “because” why")
        lasts = _LASTS.search(said) if self.has("drug") else _LASTS_ONLY.fullmatch(said)
        if lasts is not None and (self.has("drug") or self.text("because").lower() == "for"):
            raise refuse_part(
                lasts[0], "it ends nothing by itself: say it without how long, and ask again when it is time"
            )

    def entry(self, name: str) -> str:
        """The name of what is to stand in the record, as typed.

        Raises:
            RequestNotUnderstood: it holds a denial, a doubt, the past or another person.
        """
        said = self.text(name)
        doubt = doubt_in(said)
        if doubt is not None:
            raise refuse_part(said, str(doubt))
        return said

    def reference_to(self, resource_type: str) -> str:
        """The record that is named, where it is of the type that is meant.

        Raises:
            RequestNotUnderstood: it is another one.
        """
        said = self.text("ref")
        if said.partition("/")[0] != resource_type:
            raise refuse_part(said, f"this is done with {resource_type}/…, not with it")
        return said

    def number(self, name: str) -> int | float | None:
        """A number; whole where it is whole. None where it was not said."""
        value = float(self.text(name)) if self.has(name) else None
        return int(value) if value is not None and value.is_integer() else value

    def signing(self) -> str | None:
        """The code of what a signature means."""
        return self.code("meaning", _MEANINGS)

    def priority(self, *texts: str) -> str | None:
        """How soon: the part of that name, and what the other parts say of it.

        Raises:
            RequestNotUnderstood: see ``priority_in``.
        """
        return priority_in(self.text("priority"), *map(self.text, texts))

    def search(self) -> Step:
        """The step that finds the patient."""
        return search_step(re.sub(r"[()]|\bmrn\b ?", "", self.text("who"), flags=re.IGNORECASE).strip())

    def clinician(self) -> str | None:
        """Who a clinician's name is; None where nobody here is called so, and it is asked for."""
        name = re.sub(r"^(?:dr\.?|doctor) ", "", self.text("clinician").lower())
        return self.staff.get(name)

    def past(self, name: str = "date") -> str | None:
        """A day up to today."""
        said = self.text(name).lower()
        if not said:
            return None
        if said in ("today", "yesterday"):
            return (self.today - datetime.timedelta(days=said == "yesterday")).isoformat()
        found = read_date(said, self.today)
        if found is None:
            raise refuse_part(said, "give a date up to today")
        return found

    def coming(self, name: str = "when") -> str | None:
        """A day from today on; without a year the next one of that name."""
        said = self.text(name).lower()
        if not said:
            return None
        if said in ("today", "tomorrow"):
            return (self.today + datetime.timedelta(days=said == "tomorrow")).isoformat()
        if re.fullmatch(r"\d{4}-\d\d-\d\d", said):
            return said
        day, month, *year = re.sub(r"(?<=\d)(?:st|nd|rd|th)| of(?= )", "", said).split()
        number = next(index for index, word in enumerate(_MONTH_NAMES, 1) if month.startswith(word))
        try:
            found = datetime.date(int(year[0]) if year else self.today.year, number, int(day))
            if not year and found < self.today:
                found = found.replace(year=found.year + 1)
        except ValueError:
            raise refuse_part(said, "it is no date") from None
        return found.isoformat()

    def time(self) -> str:
        """``09:30``.

        Raises:
            RequestNotUnderstood: there is no such time.
        """
        said = self.text("time").lower().replace(".", ":").replace(":m", "m").rstrip(":")
        match = re.fullmatch(r"(\d{1,2})(?::(\d\d))?(?: ?([ap]):?m:?)?", said)
        hour, minute = (int(match[1]), int(match[2] or 0)) if match else (99, 0)
        if match and match[3]:
            hour = hour % 12 + (12 if match[3] == "p" else 0)
        if hour > 23 or minute > 59:
            raise refuse_part(self.text("time"), "it is no time of day")
        return f"{hour:02}:{minute:02}"

    def channel(self) -> str | None:
        """The channel's code."""
        said = self.text("channel").lower().replace("-", "")
        return next((code for word, code in _CHANNELS.items() if word in said), None)

    def document(self) -> str | None:
        """The document's LOINC code."""
        return _DOCUMENTS.get(self.text("document").lower())

    def documents(self) -> list[str] | None:
        """The document's LOINC code, where several may be asked for."""
        code = self.document()
        return None if code is None else [code]

    def code(self, name: str, table: Mapping[str, str]) -> str | None:
        """What a part means by a table of patterns; None where it was not said."""
        said = self.text(name).lower()
        if not said:
            return None
        found = next((code for shape, code in table.items() if re.fullmatch(shape, said)), None)
        if found is None:
            raise refuse(f"“{said}” is none of those I know")
        return found


_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def match_formula(
    formulas: Iterable[Formula],
    text: str,
    today: datetime.date,
    staff: Mapping[str, str],
    is_request: Callable[[str], bool],
) -> Plan | None:
    """The plan of the first formula that a request is; None where it is none of them."""
    lead = _LEADING.match(text)
    whole = text[lead.end() :] if lead else text
    asked = _TRAILING.sub("", whole)
    is_question = asked.endswith("?")
    asked = asked.removesuffix("?").rstrip()
    for formula in formulas:
        for sentence in formula.sentences:
            # Somebody's own words go to the end of the request, with every sign of them.
            quotes = "text" in sentence.groupindex
            match = sentence.fullmatch(whole if quotes else asked)
            if match is None or not _is_about_somebody(match):
                continue
            if formula.does and is_question and lead is None and not quotes:
                raise refuse("a question is no order; say it as a request, or ask about the record")
            _check_texts(match, is_request)
            return formula.plan(Said(parts=match.groupdict(), today=today, staff=staff))
    return None


def _check_texts(match: re.Match[str], is_request: Callable[[str], bool]) -> None:
    for name in ("text", "activity", "how", "do", "goal", "title"):
        text = match.groupdict().get(name) or ""
        second = second_request(text, is_request)
        if second is not None:
            raise refuse_part(second, "I do one thing at a time; ask for it in a request of its own")


def _is_about_somebody(match: re.Match[str]) -> bool:
    """Whether what stands in the place of a name, a medicine or a problem can be one."""
    parts = match.groupdict()
    if parts.get("who") is not None:
        named = _words(parts["who"].replace("MRN", ""))
        if any(says_something(word) or word in _NOBODY or names_a_thing(word) for word in named):
            return False
    if any(word in THINGS or TIMES.fullmatch(word) for word in _words(parts.get("drug") or "")):
        return False
    if ingredient_key(parts.get("test") or "") in MEDICINES:
        return False
    problem = parts.get("problem")
    return problem is None or (
        is_plain_text(problem)
        and not any(word in THINGS or word in _NOBODY or names_a_thing(word) for word in _words(problem))
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_][\w'-]*", text.lower())


_NOBODY = words(
    "a an the this that my our her his their she he they him them it me us you and or of for with to on in "
    "at by off out up down into onto over under from about all every everyone everybody someone nobody "
    "patient patients who whom whose"
)
