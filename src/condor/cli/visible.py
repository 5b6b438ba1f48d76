"""FOREIGN TEXT ON A TERMINAL: what cannot be seen is shown as what it is.

Law: every character that hides, reorders, overwrites or moves (controls, bidi, zero width, tags,
surrogates, line separators, unassigned) stands as ``<U+202E>``. All other text stays as it is.
(CVE-2021-42574: an order that reads ``patient 1900`` and means another.)
"""

from __future__ import annotations

import unicodedata

#: Controls, format characters (bidi, zero width, soft hyphen, tags), surrogates, private and unassigned
#: ones, line and paragraph separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Ranges that are drawn as nothing although their category says letter, symbol or mark (Unicode 15.1,
#: Default_Ignorable_Code_Point, and the braille blank), and whole ranges that are reserved for such use.
_HIDDEN_RANGES = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)


def _is_hidden(code: int) -> bool:
    return unicodedata.category(chr(code)) in _HIDDEN_CATEGORIES or any(
        first <= code <= last for first, last in _HIDDEN_RANGES
    )


def _named(code: int) -> str:
    return f"<U+{code:04X}>"


class _Shown(dict[int, str]):
    """A translation table that fills itself as characters come by."""

    def __missing__(self, code: int) -> str:
        shown = self[code] = _named(code) if _is_hidden(code) else chr(code)
        return shown


_SHOWN = _Shown()


def visible(text: object) -> str:
    """Foreign text on one line, with everything hidden in it named."""
    return str(text).translate(_SHOWN)


def visible_word(text: object) -> str:
    """A word of a closed vocabulary (an op, a key, an id): every look-alike outside ASCII is named too."""
    return "".join(char if " " <= char <= "~" else _named(ord(char)) for char in str(text))


def visible_lines(text: object) -> list[str]:
    """Text that may have lines of its own; nothing else in it can start one."""
    return [visible(line) for line in str(text).split("\n")]


__all__ = ["visible", "visible_lines", "visible_word"]
