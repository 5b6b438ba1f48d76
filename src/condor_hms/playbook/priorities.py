"""How soon: read wherever it stands in a request, also in the words that are handed on.

Rule: an order whose words say that it is urgent is never a routine one. What is no priority of the list, is
denied, or stands beside another one, is asked back.
"""

from __future__ import annotations

import re

from condor_hms.playbook.refusals import refuse, refuse_part

__all__ = ["PRIORITY", "priority_in", "without_priority"]

_WORDS = {
    r"urgent(?:ly)?|as a matter of urgency": "urgent",
    r"routine(?:ly)?": "routine",
    r"stat": "stat",
    r"a\.?s\.?a\.?p\.?|as soon as possible": "asap",
}
_ONE = rf"(?:{'|'.join(_WORDS)})"
#: A word of priority, in a sentence that has a place for one.
PRIORITY = _ONE
_PRIORITY = re.compile(rf"(?<![\w-]){_ONE}(?![\w-])", re.IGNORECASE)
#: “not urgent”, “non-urgent”, “semi-urgent”, “less urgent”.
_DENIED = re.compile(
    rf"(?<!\w)(?:(?:non|semi|un)[ -]?|(?:not|no longer|isn't|is not|never|nothing|less|hardly|if|un|until)"
    rf"(?: (?:at all|that|so|very|too|an?|it is|it's|it gets|it becomes))? ){_ONE}(?!\w)",
    re.IGNORECASE,
)
_NO_CODE = re.compile(
    r"(?<![\w-])(?:immediate(?:ly)?|right (?:now|away)|at once|emergency|emergent(?:ly)?"
    r"|(?:high|top|low)[ -]priority|priority(?: is)?:? (?:high|low|top)"
    r"|two[ -]week (?:wait|rule)|2ww)(?![\w-])",
    re.IGNORECASE,
)
#: A priority that stands alone between signs says nothing else.
_ALONE = re.compile(
    rf"(?:^|(?<=[.,;:!(-]))\s*(?:(?:it is|it's|this is|please|as)\s+)?{_ONE}(?:\s+(?:please|pls|one|case))*"
    r"\s*(?=$|[.,;:!)-])",
    re.IGNORECASE,
)


def priority_in(*texts: str) -> str | None:
    """The FHIR priority that the texts say; None where they say none.

    Raises:
        RequestNotUnderstood: two of them, one that is denied, or a word that is none of the list.
    """
    text = " | ".join(texts)
    unclear = _DENIED.search(text) or _NO_CODE.search(text)
    if unclear is not None:
        raise refuse_part(unclear[0], "say which priority it has: stat, asap, urgent or routine")
    said = {_code(match[0]) for match in _PRIORITY.finditer(text)}
    if len(said) > 1:
        raise refuse(f"two priorities in one request ({' and '.join(sorted(said))})")
    return next(iter(said), None)


def without_priority(text: str) -> str:
    """The text without a priority that stands alone: “chest pain. Urgent” is “chest pain”."""
    left = _ALONE.sub("", text)
    if left == text:
        return text
    left = re.sub(r"\(\s*\)", "", left)
    left = re.sub(r"\s*([.,;:!-])(?:\s*[.,;:!-])+", r"\1", left)
    return re.sub(r"^[\s.,;:!-]+|[\s.,;:!-]+$", "", left).strip()


def _code(word: str) -> str:
    return next(code for shape, code in _WORDS.items() if re.fullmatch(shape, word.lower()))
