"""Foreign text on its way into a closing, part by part: it cannot carry our signs, whatever its parts are.

Law 1: the sign of a notice is escaped wherever it stands, and a line that begins like one of ours is marked,
also where its beginning is spread over parts.
Law 2: the parts that come out, one after the other, are the text; what went out is never taken back.
"""

from __future__ import annotations

from condor.core.observers.claim_words import plain
from condor.core.observers.notice import ESCAPED_SIGN, SIGN

#: How a line of ours begins, in letters alone.
_RESERVED = ("correction:", "not completed:", "not executed:")
#: Characters held back at the beginning of a line; who needs more hides something.
_HELD_CHARS_MAX = 200
_COLONS = "\uff1a\u02d0\u2236\ua789\ufe55\u0589"
#: They turn the direction of what follows, ours too.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


class ForeignText:
    """One text, fed in parts."""

    def __init__(self) -> None:
        """Begin a line."""
        self._held = ""
        self._at_line_start = True

    def feed(self, part: str) -> str:
        """What can go out now."""
        return "".join([self._line(line) for line in _safe(part).splitlines(keepends=True)])

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return _marked(held) if held else ""

    def _line(self, piece: str) -> str:
        if self._at_line_start:
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
    foreign = ForeignText()
    return foreign.feed(text) + foreign.end()


def _safe(part: str) -> str:
    """Without our sign, and with what nobody can see and what turns text shown as its code point."""
    text = part.replace("\r", "").replace(SIGN, ESCAPED_SIGN)
    if text.isprintable():
        return text
    return "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char in ("\n", "\t"):
        return char
    if char in "\u2028\u2029\x0b\x0c\x1c\x1d\x1e\x85":
        return "\n"
    # Joiners and soft hyphens belong to how some scripts are written; the guard reads past them.
    is_control = ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000
    return f"<U+{ord(char):04X}>" if is_control or char in _TURNS else char


def _letters(line: str) -> str:
    """The beginning of a line as letters, spaces and a colon; signs before the first letter are left out."""
    read = plain(line.translate(dict.fromkeys(map(ord, _COLONS), ":"))).lower().removeprefix("(!)")
    kept = "".join(char if char.isalpha() or char == ":" else " " for char in read)
    return " ".join(kept.split()).replace(" :", ":").lstrip(":")


def _may_be_ours(line: str) -> bool:
    letters = _letters(line).lstrip()
    return any(reserved.startswith(letters[: len(reserved)]) for reserved in _RESERVED) and not _is_ours(line)


def _is_ours(line: str) -> bool:
    return _letters(line).lstrip().startswith(_RESERVED)


def _marked(line: str) -> str:
    """A line that begins like one of ours says that it is none; so does one that hides how it begins."""
    hides = len(line) > _HELD_CHARS_MAX and _may_be_ours(line)
    if (_is_ours(line) or hides) and not line.lstrip().startswith(ESCAPED_SIGN):
        return f"{ESCAPED_SIGN} {line}"
    return line
