"""Foreign text on its way into a closing, part by part: it cannot carry our signs, whatever its parts are.

Law 1: the sign of a notice is escaped wherever it stands, and a line that begins like one of ours is marked,
also where its beginning is spread over parts.
Law 2: the parts that come out, one after the other, are the text; what went out is never taken back.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from condor.core.observers.claim_words import plain
from condor.core.observers.notice import ESCAPED_SIGN, SIGN

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How a line of ours begins, in letters alone; a sign follows.
_RESERVED = ("correction", "notcompleted", "notexecuted")
_BY_FIRST_LETTER = {one[0]: [other for other in _RESERVED if other[0] == one[0]] for one in _RESERVED}
#: Characters held back at the beginning of a line; who needs more hides something.
_HELD_CHARS_MAX = 200
#: A line that is shorter has not the letters of ours.
_LINE_CHARS_MIN = 10
#: Signs after the letters that make no heading of them: a sentence ends, goes on in brackets or is quoted.
_NO_HEADING = frozenset(".,!?()[]{}/'\"\u2019\u201d\u00bb\u2026%&")
#: The number of an item: "a)", "iv.".
_NUMBER = re.compile(r"[^a-z]*[a-z]{1,4}[).\]]+")
_MAY_BE_NUMBER = re.compile(r"[^a-z]*[a-z]{0,4}")
#: A hyphen inside a word.
_HYPHEN = re.compile(r"(?<=\w)-(?=\w)")
#: A line whose first word cannot be a number nor begin one of ours.
_OTHERWISE = re.compile(r"[^A-Za-z]*[abd-mo-zABD-MO-Z](?:[A-Za-z]{4}|[A-Za-z]{0,3}[ ,])")
#: Complete lines that are none of ours: too short for it, or ASCII, and they begin otherwise.
_HARMLESS = re.compile(
    r"(?>(?:[^\n]{0,8}\n"
    r"|[\t !-@\[-`{-~]{0,10}[abd-mo-zABD-MO-Z](?:[A-Za-z]{4}|[A-Za-z]{0,3}[ ,])[\t -~]{0,180}\n){0,1000})"
)
#: Letters that look like a colon, and marks that are read as words where claims are read.
_SIGNS = dict.fromkeys(map(ord, "\u02d0\u02d1"), ":") | dict.fromkeys(
    map(ord, "\u274c\u2718\u2717\u2716\u274e\u26d4\U0001f6ab\u23f3\u231b\u2705\u2714\u2611\u2713"), " "
)
_LINE_ENDS = re.compile("[\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x85]")
#: First and last of what nobody can see: controls, halves of a character, and what turns the direction of
#: what follows, ours too.
_UNSEEN_RANGES = (
    *((0x00, 0x08), (0x0E, 0x1B), (0x1F, 0x1F), (0x7F, 0x9F), (0xD800, 0xDFFF)),
    *((0x061C, 0x061C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069)),
)
_UNSEEN = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _UNSEEN_RANGES)}]")
_UNSEEN_SHOWN = {
    point: f"<U+{point:04X}>" for first, last in _UNSEEN_RANGES for point in range(first, last + 1)
}


class ForeignText:
    """One text, fed in parts."""

    def __init__(self) -> None:
        """Begin a line."""
        self._held = ""
        self._at_line_start = True

    def feed(self, part: str) -> str:
        """What can go out now."""
        text, begin, out = _safe(part), 0, []
        while begin < len(text):
            harmless = _HARMLESS.match(text, begin) if self._at_line_start and not self._held else None
            if harmless is not None and harmless.end() > begin:
                end = harmless.end()
                out.append(text[begin:end])
            else:
                end = text.find("\n", begin) + 1 or len(text)
                out.append(self._line(text[begin:end]))
            begin = end
        return "".join(out)

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return _marked(held) if held else ""

    def _line(self, piece: str) -> str:
        if self._at_line_start:
            if not self._held and piece[-1] == "\n" and piece.isspace():
                return piece
            self._held += piece
            ended = piece.endswith("\n")
            if not ended and len(self._held) <= _HELD_CHARS_MAX and _may_be_ours(self._held):
                return ""
            held, self._held = self._held, ""
            self._at_line_start = ended
            return _marked(held)
        self._at_line_start = piece.endswith("\n")
        return piece


def escape_foreign(text: str) -> str:
    """A whole foreign text, as ``ForeignText`` makes it of parts."""
    if text.isascii() and text.isprintable() and _OTHERWISE.match(text[:_HELD_CHARS_MAX]):
        return text  # one line without a sign, and it begins like none of ours
    foreign = ForeignText()
    return foreign.feed(text) + foreign.end()


def _safe(part: str) -> str:
    """Without our sign, and with what nobody can see and what turns text shown as its code point."""
    text = part.replace("\r", "").replace(SIGN, ESCAPED_SIGN)
    if text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    return text.translate(_UNSEEN_SHOWN) if _UNSEEN.search(text) else text


def _may_be_ours(line: str) -> bool:
    return any(after == "" for after in _after_ours(line))


def _is_ours(line: str) -> bool:
    """Whether its letters are those of one of ours, and a sign comes after them: "C o r r e c t i o n -"."""
    return any(after and _is_heading(after) for after in _after_ours(line))


def _is_heading(after: str) -> bool:
    return after[0] not in _NO_HEADING and unicodedata.category(after[0])[0] in "PS"


def _after_ours(line: str) -> Iterator[str]:
    """What comes after the letters of one of ours, without spaces; empty where they have not all come yet.

    Signs before and between the letters are left out, and so is the number of an item.
    """
    begun = line[:_HELD_CHARS_MAX]
    if len(line) < _LINE_CHARS_MIN and line[-1:] == "\n":
        return
    if begun.isascii():
        if _OTHERWISE.match(begun):
            return
    else:
        begun = begun.translate(_SIGNS)
    read = plain(_HYPHEN.sub(" ", begun) if "-" in begun else begun).lower()
    if _MAY_BE_NUMBER.fullmatch(read):
        yield ""
        return
    number = _NUMBER.match(read)
    for start in (0, number.end()) if number else (0,):
        begins = _letter_at(read, start)
        if begins == len(read):
            yield ""
            return
        for reserved in _BY_FIRST_LETTER.get(read[begins], ()):
            if (after := _after(read, begins, reserved)) is not None:
                yield after


def _letter_at(read: str, at: int) -> int:
    """Where the next letter stands; the end where there is none."""
    while at < len(read) and not read[at].isalpha():
        at += 1
    return at


def _after(read: str, at: int, reserved: str) -> str | None:
    if read.startswith(reserved, at):
        return read[at + len(reserved) :].lstrip()
    for letter in reserved:
        at = _letter_at(read, at)
        if at == len(read):
            return ""
        if read[at] != letter:
            return None
        at += 1
    return read[at:].lstrip()


def _marked(line: str) -> str:
    """A line that begins like one of ours says that it is none; so does one that hides how it begins."""
    if line.lstrip().startswith(ESCAPED_SIGN):
        return line
    hides = len(line) > _HELD_CHARS_MAX and _may_be_ours(line)
    return f"{ESCAPED_SIGN} {line}" if hides or _is_ours(line) else line
