"""The text of a request while it is being read: what was understood is taken out, what is left is visible.

Law: a request is planned only when nothing is left over. Every extractor takes the words it understood; words
that nobody took, and that carry no meaning by themselves, are the only ones that may remain.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TEXT_CHARS_MAX", "Draft", "Word", "has_invisible", "normalise"]

#: Longer requests are not one request.
TEXT_CHARS_MAX = 600
#: So many words with capitals, and no other word, are a way to type: “Find Melissa Smith” has fewer.
_TITLE_WORDS_MIN = 4
#: Stands where taken text was; no pattern matches across it.
TAKEN = "\0"

_SIGNS = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u02bc": "'",
        "\u0060": "'",
        "\u00b4": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u2010": "-",
        "\u2011": "-",
        "\u00b5": "u",
        "\u03bc": "u",
        "\u00a0": " ",
    }
)
_WORD = re.compile(r"[^\W_]+(?:['./-][^\W_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that nobody has taken."""

    #: As typed.
    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        """In lower case."""
        return self.text.lower()


def normalise(text: str) -> str:
    """One spelling for quotes, dashes, micro signs and blanks; the case is kept."""
    plain = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    return " ".join(plain.split())


def has_invisible(text: str) -> bool:
    """Whether the text holds control, direction or zero-width characters: what is read is not all."""
    hidden = ("Cc", "Cf", "Co", "Cs")
    return any(unicodedata.category(char) in hidden and char not in "\n\r\t" for char in text)


class Draft:
    """A normalised text and which of its characters are taken."""

    def __init__(self, text: str) -> None:
        #: As typed, normalised. A text wholly in capitals, or with one on every word, says nothing by them.
        self.text = _lower(text) if _all_capitals(text) else text
        #: In lower case, the same length, taken characters blanked.
        self.low = _lower(self.text)

    def mask(self, start: int, end: int) -> None:
        """Take a stretch."""
        self.low = self.low[:start] + TAKEN * (end - start) + self.low[end:]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take the first match; None if there is none."""
        match = pattern.search(self.low)
        if match is not None:
            self.mask(*match.span())
        return match

    def take_all(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        """Take every match."""
        matches = list(pattern.finditer(self.low))
        for match in matches:
            self.mask(*match.span())
        return matches

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether the pattern is in what is left."""
        return pattern.search(self.low) is not None

    def typed(self, match: re.Match[str], group: str | int = 0) -> str:
        """A match as it was typed."""
        return self.text[match.start(group) : match.end(group)]

    def left(self, start: int, end: int) -> str:
        """What is not taken of a stretch, as typed."""
        pairs = zip(self.text[start:end], self.low[start:end], strict=True)
        kept = (char for char, low in pairs if low != TAKEN)
        return " ".join("".join(kept).split()).strip(" -").removesuffix(" and")

    def part(self, start: int, end: int) -> Draft:
        """A stretch as a draft of its own; what is taken from it stays here."""
        copy = Draft.__new__(Draft)
        copy.text, copy.low = self.text[start:end], self.low[start:end]
        return copy

    def words(self) -> Iterator[Word]:
        """Every word that is not taken, in order."""
        for match in _WORD.finditer(self.low):
            yield Word(text=self.text[match.start() : match.end()], start=match.start(), end=match.end())

    def gap(self, left: Word, right: Word) -> str:
        """What stands between two words; taken text shows as ``TAKEN``."""
        return self.low[left.end : right.start]


def _all_capitals(text: str) -> bool:
    """No small letter, or a Title Like This."""
    begins = [word[0] for word in re.findall(r"[^\W\d_][\w'/-]*", text)]
    titled = len(begins) >= _TITLE_WORDS_MIN and not any(char.islower() for char in begins)
    return titled or not any(char.islower() for char in text)


def _lower(text: str) -> str:
    """Lower case of the same length: a letter whose lower case is longer stays as it is."""
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
