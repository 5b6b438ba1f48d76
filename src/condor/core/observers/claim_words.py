"""A text as words that can be compared: what looks alike reads alike, what nobody sees is gone.

Law 1: linear time, whatever the text.
Law 2: what a reader takes for a word is that word: look-alike letters, full-width and accented ones,
zero-width characters, emphasis marks and letters set apart do not make another.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from condor.core.observers.lookalikes import LOOKALIKES
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Words of one sentence; a longer one is read in pieces.
SENTENCE_WORDS_MAX = 120
#: Emphasis marks of Markdown, which a reader does not see.
_MARKUP = str.maketrans(dict.fromkeys("*~`"))
#: Marks that say "done" before or after a line, as one word.
CHECK = "[x]"
_CHECKS = dict.fromkeys(map(ord, "\u2705\u2714\u2611\u2713"), f" {CHECK} ")
_WORD = re.compile(r"\[x\]|[A-Za-z0-9@$]+(?:[-_][A-Za-z0-9@$]+)*|['\u2019][A-Za-z]+|[,:?()/]+|--+")
#: Letters set apart by one sign each: "s e n t", "s.e.n.t", "s-e-n-t".
_APART = re.compile(r"(?<![A-Za-z0-9])[A-Za-z](?:[ .\-|/][A-Za-z]){2,}(?![A-Za-z0-9])")
_END = re.compile(r"[.!?\u2026\u3002;]+(?=[\s\"'\u201d\u00bb)\]]|$)|\n+|\u2028|\u2029")
_ABBREVIATIONS = frozenset(
    [
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "nr",
        "no",
        "vs",
        "approx",
        "e.g",
        "i.e",
        "z.b",
        "ca",
        "dept",
        "jr",
        "sr",
        "inc",
        "med",
        "hr",
        "fr",
        "mme",
    ]
)
_LEET = str.maketrans("013457@$", "oieastas")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2023\u2013\u2014+]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence, or one line that ends without a stop."""

    #: As it was written, without the space around it.
    said: str
    #: Its words in lower case; ``,`` ``:`` ``?`` stand for themselves.
    words: tuple[str, ...]
    #: Which of them began with a capital.
    capital: tuple[bool, ...]
    #: It ends with a question mark.
    asks: bool
    #: It is an item of a list.
    item: bool
    #: It ends with a colon, so that a list or a statement follows.
    heads: bool


def plain(text: str) -> str:
    """The text in ASCII as far as it reads like ASCII; case is kept."""
    if text.isascii():
        return text.translate(_MARKUP)
    table: dict[int, str | None] = {ord(char): _read_as(char) for char in set(text) if ord(char) > 127}
    return text.translate(table).translate(_MARKUP)


def _read_as(char: str) -> str | None:
    if (check := _CHECKS.get(ord(char))) is not None:
        return check
    if (letter := LOOKALIKES.get(ord(char))) is not None:
        return letter.upper() if char.isupper() else letter
    category = unicodedata.category(char)
    if category in ("Mn", "Me", "Cf", "Cc", "Cn", "Co", "Cs"):
        return None
    if category in ("Zs", "Zl", "Zp"):
        return " "
    if category == "Pd":
        return " -- "
    if char in "\u2018\u2019\u02bc":
        return "'"
    if char == "\u00df":
        return "ss"
    parts = unicodedata.normalize("NFKD", char)
    return "".join(LOOKALIKES.get(ord(part), part) for part in parts if not unicodedata.combining(part))


def sentences(text: str) -> Iterator[Sentence]:
    """Every sentence with a word in it, in order."""
    start = 0
    for end in _ends(text):
        piece = text[start:end]
        start = end
        if said := piece.strip():
            yield from _sentence(said, item=_BULLET.match(piece) is not None)


def _ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        stop = found.end()
        if found.group().startswith(".") and len(found.group()) == 1 and _goes_on(text, found.start()):
            continue
        yield stop
    yield len(text)


def _goes_on(text: str, dot: int) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or the number of an item."""
    before = text[max(0, dot - 12) : dot]
    word = before.split()[-1] if before.split() else ""
    if before[-1:].isspace():
        return False
    return (
        word.lower() in _ABBREVIATIONS
        or (len(word) == 1 and word.isupper() and word != "I")
        or (word.isdigit() and not before[: -len(word)].strip(" "))
    )


def _sentence(said: str, *, item: bool) -> Iterator[Sentence]:
    words, capital = _words(plain(_BULLET.sub("", said, count=1) if item else said))
    asks = said.rstrip("\"'\u201d\u00bb)] ").endswith("?")
    for at in range(0, len(words), SENTENCE_WORDS_MAX):
        yield Sentence(
            said=said,
            words=tuple(words[at : at + SENTENCE_WORDS_MAX]),
            capital=tuple(capital[at : at + SENTENCE_WORDS_MAX]),
            asks=asks,
            item=item,
            heads=said.endswith(":"),
        )


def _words(text: str) -> tuple[list[str], list[bool]]:
    if len(text) > 5:
        text = _APART.sub(_joined, text)
    words: list[str] = []
    capital: list[bool] = []
    for found in _WORD.findall(text):
        # A row of signs is one.
        raw = found[:2] if found[0] == "-" else found[0] if found[0] in ",:?()/" else found
        for part in (raw,) if raw.isalpha() or len(raw) == 1 else _parts(raw):
            words.append(part.lower() if part.isalpha() else _word(part))
            capital.append("A" <= part[0] <= "Z")
    return words, capital


def _joined(found: re.Match[str]) -> str:
    letters = [char for char in found.group() if char.isalnum()]
    # "I s e n t": the pronoun stands by itself.
    if letters[0] == "I" and len(letters) > 3:
        return f"I {''.join(letters[1:])}"
    return "".join(letters)


def _parts(raw: str) -> list[str]:
    if raw != "--" and ("_" in raw or "-" in raw):
        parts = [part for part in re.split("[-_]", raw) if part]
        # "invitation-sent" is two words, "e-mailed" and "INV-1042" are one.
        return parts if all(len(part) > 2 and part.isalpha() for part in parts) else ["".join(parts)]
    return [raw]


def _word(raw: str) -> str:
    low = raw.lower().replace("\u2019", "'")
    if not low[0].isalpha():
        return low
    # A digit between letters stands for one: "s3nt". "500mg" and "s2" stay what they are.
    letters = sum(char.isalpha() for char in low)
    if letters > 2 and len(low) - letters <= 2 and low[-1:].isalpha():
        return low.translate(_LEET)
    return low


def root(word: str) -> str:
    """A noun without the ending of its plural."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def readable_words(text: str) -> tuple[str, ...]:
    """The words of a text as a reader takes them, in lower case, without punctuation."""
    return tuple(word for word in _words(plain(text))[0] if word[0].isalnum())
