"""A text as words that can be compared: what looks alike reads alike, what nobody sees is gone.

Law 1: linear time, whatever the text.
Law 2: what a reader takes for a word is that word: look-alike letters, full-width and accented ones,
zero-width characters, emphasis marks and letters set apart do not make another.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from condor.core.observers.lookalikes import LOOKALIKES
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: Words of one sentence; a longer one is read in pieces.
SENTENCE_WORDS_MAX = 120
#: Emphasis marks of Markdown, which a reader does not see.
_MARKUP = str.maketrans(dict.fromkeys("*~`"))
#: Characters of a longer sentence that are read at a time: about so many words.
_PIECE_CHARS = 8 * SENTENCE_WORDS_MAX
_SPACE = re.compile(r"\s+|(?=[\u2705\u2714\u2611\u2713])")
#: Marks that say "done" before or after a line, as one word.
CHECK = "[x]"
#: Marks that say "not done", as words.
_CROSSES = {
    **dict.fromkeys(map(ord, "\u274c\u2718\u2717\u2716\u274e\u26d4\U0001f6ab"), " not "),
    **dict.fromkeys(map(ord, "\u23f3\u231b"), " pending "),
}
_BOX = "[ ]"
#: What is quoted is told, not claimed: it stands after a colon or a verb of saying, and its quote is closed.
_QUOTED = re.compile(
    r"(?::|\b(?:say|says|said|read|reads|wrote|write|writes|states|stated|claims|quote|task|titled|called))"
    r"\s*[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u201e\u00ab\u00bb]*[\"\u201d\u201c\u00bb]",
    re.IGNORECASE,
)
#: A name and its value, as data are written.
_PAIR = re.compile(r'"([\w -]{1,40})"\s?:\s?"([^"]{1,80})"')
#: What may stand after a question mark.
_CLOSERS = "\"'\u201d\u00bb)] "
#: Shorter ones have no letters set apart.
_APART_CHARS_MIN = 5
_QUOTES = frozenset('"\u201c\u201e\u00ab')
_CHECKS = dict.fromkeys(map(ord, "\u2705\u2714\u2611\u2713"), f" {CHECK} ")
_WORD = re.compile(
    r"\[x\]|[A-Za-z0-9@$]+(?:(?:[-_]|(?<=[0-9])\.(?=[0-9]))[A-Za-z0-9@$]+)*|['\u2019][A-Za-z]+|[,:?()/]+|--+"
)
#: What needs a second look to become a word; where none of it stands, the words are as they were found.
_SECOND_LOOK = re.compile(r"[0-9@$_\u2019'-]|[,:?()/]{2}")
#: Letters set apart by one sign each: "s e n t", "s.e.n.t", "s-e-n-t".
_APART = re.compile(r"(?<![A-Za-z0-9])[A-Za-z](?:[ .\-|/][A-Za-z]){2,}(?![A-Za-z0-9])")
#: The end of a sentence, with the marks that close it; a full stop after an initial is none, nor is a sign in
#: brackets: "(!)".
_END = re.compile(
    r"(?:(?<!\()[!?\u2026\u3002;]|(?<!\b[A-HJ-Z])\.)[.!?\u2026\u3002;]*(?=[\s\"'\u201d\u00bb)\]]|$)[\"'\u201d\u00bb)\]]*|\n+|\u2028|\u2029"
)
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
#: Digits of an item's number.
_ITEM_DIGITS_MAX = 3
_BULLETS = frozenset("-*\u2022\u2023\u2013\u2014+0123456789")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u2023\u2013\u2014+]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence, or one line that ends without a stop."""

    #: As it was written, without the space around it.
    said: str
    #: Its words in lower case; ``,`` ``:`` ``?`` stand for themselves.
    words: tuple[str, ...]
    #: The same as they were written.
    written: tuple[str, ...]
    #: It ends with a question mark.
    asks: bool
    #: It is an item of a list.
    item: bool
    #: It ends with a colon, so that a list or a statement follows.
    heads: bool

    def capital(self, at: int) -> bool:
        """Whether a word began with a capital."""
        return "A" <= self.written[at][0] <= "Z"


class _Readings(dict[int, "str | int | None"]):
    """What each code point reads as, kept once it was asked for."""

    def __missing__(self, code: int) -> str | int | None:
        read = _read_as(chr(code))
        if len(self) < _READINGS_MAX:
            self[code] = read
        return read


#: Code points kept: the letters of every living script, and no more than eight megabytes.
_READINGS_MAX = 65_536


def plain(text: str) -> str:
    """The text in ASCII as far as it reads like ASCII; case is kept."""
    return text.translate(_MARKUP if text.isascii() else _READINGS)


def _read_as(char: str) -> str | int | None:
    category = unicodedata.category(char)
    if category in _READ_AS_CATEGORY:
        return _READ_AS_CATEGORY[category]
    if not unicodedata.decomposition(char):
        return ord(char)
    parts = unicodedata.normalize("NFKD", char)
    return "".join(LOOKALIKES.get(ord(part), part) for part in parts if not unicodedata.combining(part))


#: What nobody sees is gone; a dash is one, a space is one.
_READ_AS_CATEGORY: dict[str, str | None] = {
    **dict.fromkeys(("Mn", "Me", "Cf", "Cc", "Cn", "Co", "Cs")),
    **dict.fromkeys(("Zs", "Zl", "Zp"), " "),
    "Pd": " -- ",
}
_READINGS = _Readings(
    {code: code for code in range(128)}
    | _MARKUP
    | {
        code: letter.upper() if chr(code).isupper() else letter
        for code, letter in LOOKALIKES.items()
        if code not in _MARKUP
    }
    | _CHECKS
    | _CROSSES
    | dict.fromkeys(map(ord, "\u2018\u2019\u02bc"), "'")
    | {ord("\u00df"): "ss"}
)


def sentences(text: str) -> Iterator[Sentence]:
    """Every sentence with a word in it, in order."""
    start = 0
    steps = tuple(_steps(text))
    for end in _ends(text):
        piece = text[start:end]
        start = end
        if said := piece.strip():
            item = said[0] in _BULLETS and _BULLET.match(piece) is not None
            known = _short_sentence if not steps and len(said) <= _KEPT_CHARS_MAX else _sentence
            yield from known(said, steps, item=item)


def _ends(text: str) -> Iterator[int]:
    for found in _END.finditer(text):
        start, stop = found.span()
        is_dot = text[start] == "." and (stop - start == 1 or text[start + 1] in _CLOSERS)
        if not is_dot or not _goes_on(text, start):
            yield stop
    yield len(text)


def _goes_on(text: str, dot: int) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or the number of an item."""
    before = text[dot - 12 if dot > 12 else 0 : dot]
    if not before or before[-1].isspace():
        return False
    word = before.split()[-1]
    if word.isdigit():
        lead = before[: -len(word)].strip(" ")
        return len(word) <= _ITEM_DIGITS_MAX and (not lead or lead[-1] == "\n")
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper() and word != "I")


def _steps(text: str) -> Iterator[Callable[[str], str]]:
    """What has to be done to each piece of this text before its words are found: mostly nothing."""
    is_plain = text.isascii() and _MARKUP.keys().isdisjoint(map(ord, set(text)))
    if '"' in text:
        yield partial(_PAIR.sub, r"\1: \2")
    if any(quote in text for quote in _QUOTES):
        yield partial(_QUOTED.sub, ": ")
    if _BOX in text:
        yield lambda piece: piece.replace(_BOX, " not ")
    if not is_plain:
        yield plain
    if not is_plain or _APART.search(text):
        yield lambda piece: _APART.sub(_joined, piece) if len(piece) > _APART_CHARS_MIN else piece


def _sentence(said: str, steps: Sequence[Callable[[str], str]], *, item: bool) -> Iterable[Sentence]:
    asks = said[-1] == "?" or (said[-1] in _CLOSERS and said.rstrip(_CLOSERS)[-1:] == "?")
    text = _BULLET.sub("", said, count=1) if item else said
    if len(text) > _PIECE_CHARS:
        return _long_sentence(said, _pieces(text), steps, asks=asks, item=item)
    for step in steps:
        text = step(text)
    words, written = _words(text)
    if len(words) > SENTENCE_WORDS_MAX:
        return _long_sentence(said, (text,), (), asks=asks, item=item)
    heads = said[-1] == ":"
    whole = Sentence(said=said, words=tuple(words), written=tuple(written), asks=asks, item=item, heads=heads)
    return (whole,) if words else ()


#: A text of nothing but the shortest sentences has the most of them, and says the same again. INVARIANT: none
#: of them is long enough to be read in pieces, so what is kept is whole.
_short_sentence = lru_cache(maxsize=4_096)(_sentence)


def _long_sentence(
    said: str, pieces: Iterable[str], steps: Sequence[Callable[[str], str]], *, asks: bool, item: bool
) -> Iterator[Sentence]:
    for piece in pieces:
        for step in steps:
            piece = step(piece)
        words, written = _words(piece)
        for at in range(0, len(words), SENTENCE_WORDS_MAX):
            yield Sentence(
                said=said,
                words=tuple(words[at : at + SENTENCE_WORDS_MAX]),
                written=tuple(written[at : at + SENTENCE_WORDS_MAX]),
                asks=asks,
                item=item,
                heads=said[-1] == ":",
            )


def _pieces(text: str) -> Iterator[str]:
    """A long sentence piece by piece, so that who has read enough can stop; no word is cut."""
    start = 0
    while (space := _SPACE.search(text, start + _PIECE_CHARS)) is not None:
        yield text[start : space.start()]
        start = space.end()
    yield text[start:]


def _words(text: str) -> tuple[list[str], list[str]]:
    """The words in lower case, and as they were written."""
    found = _WORD.findall(text)
    if _SECOND_LOOK.search(text) is None:
        return (" ".join(found).lower().split(" ") if found else []), found
    words: list[str] = []
    written: list[str] = []
    for raw in found:
        if raw.isalpha():
            words.append(raw.lower())
            written.append(raw)
        else:
            parts, read = (_seen_before if len(raw) <= _KEPT_CHARS_MAX else _second_look)(raw)
            words += read
            written += parts
    return words, written


def _second_look(raw: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands between two spaces as the words that it is, as they were written and in lower case."""
    if raw[0] in "-,:?()/":
        # A row of signs is one.
        parts: tuple[str, ...] = (raw[:2] if raw[0] == "-" else raw[0],)
    else:
        parts = _parts(raw)
    return parts, tuple(part.lower() if part.isalpha() else _word(part) for part in parts)


#: Longer ones are looked at anew each time, so that what is kept stays small.
_KEPT_CHARS_MAX = 40
_seen_before = lru_cache(maxsize=4_096)(_second_look)


def _joined(found: re.Match[str]) -> str:
    letters = [char for char in found.group() if char.isalnum()]
    # "I s e n t": the pronoun stands by itself.
    if letters[0] == "I" and len(letters) > 3:
        return f"I {''.join(letters[1:])}"
    return "".join(letters)


def _parts(raw: str) -> tuple[str, ...]:
    if "." in raw:
        return (raw,)
    if "_" in raw or "-" in raw:
        parts = tuple(part for part in re.split("[-_]", raw) if part)
        # "invitation-sent" is two words, "e-mailed" and "INV-1042" are one.
        return parts if all(len(part) > 2 and part.isalpha() for part in parts) else ("".join(parts),)
    return (raw,)


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
    if word[-1:] != "s":
        return word
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def readable_words(text: str) -> tuple[str, ...]:
    """The words of a text as a reader takes them, in lower case, without punctuation."""
    return tuple(word for word in _words(_APART.sub(_joined, plain(text)))[0] if word[0].isalnum())
