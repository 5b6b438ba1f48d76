"""Secrets are masked wherever a call is shown: on cards, in streams, in snapshots, in listings.

Law 1: a key that names a secret hides its value at any depth. What is stored, hashed and run stays raw.
Law 2: inside a text, what follows ``password=`` and its like is hidden, and the password of an address. Not
on a card, where every word of what would run is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from condor.core.ids import SCALARS

if TYPE_CHECKING:
    from condor.core.ids import Json

MASK = "•••"
_WORDS = r"pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key|private[_-]?key"
_SECRET = re.compile(rf"{_WORDS}|credential|^(?:proxy[_-]?)?authorization$", re.IGNORECASE)
#: ``password=…``, ``token: …``, ``"api_key": "…"``, ``Authorization: Bearer …``: what follows, in its quotes
#: or to the next space or separator. A word without ``=`` or ``:`` behind it is prose, and so is an
#: authorization without its scheme: insurers give those.
_SAID = re.compile(
    rf"((?:{_WORDS})[a-z0-9_-]{{0,32}}\\?[\"']?\s{{0,4}}[=:]\s{{0,4}}(?:(?:bearer|basic)\s{{1,4}})?"
    r"|authorization\\?[\"']?\s{0,4}[=:]\s{0,4}\\?[\"']?(?:bearer|basic|digest)\s{1,4})"
    r"(\\?[\"'])?(?:(?<=\")[^\"\\]*|(?<=')[^'\\]*|[^\s,;&\"'\\]+)",
    re.IGNORECASE,
)
#: The password of ``scheme://user:password@host``, up to the last ``@``: a password may hold one.
_IN_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]{0,31}://[^\s/:@]{0,256}:)[^\s/]{1,1024}@", re.IGNORECASE)


#: Keys come again and again; a longer one is kept by nobody.
_KEPT_CHARS_MAX = 64
#: Values in which nothing can stand that is to be hidden.
_BARE = SCALARS - {str}
#: Whatever ``masked`` hides something of has one of these in it, in lower case, or is about a kind of key.
_SIGNS = ("pass", "pwd", "secret", "token", "credential", "authorization", "://")


def masked(value: Json) -> Json:
    """``value`` with every member whose key names a secret replaced, at any depth, and secrets in texts."""
    return _walked(value, masked_text)


def is_bare(body: bytes) -> bool:
    """Whether stored JSON surely has nothing in it that ``masked`` hides.

    A snapshot has a hundred values and mostly no secret: a look at the bytes takes a fifth of the walk.
    """
    if not body.isascii():
        return False  # a letter beyond ASCII may be the other case of one that is in it
    small = body.lower().decode("ascii")
    if "\\u" in small or "\\/" in small:
        return False  # any letter may be written so, and the slash of an address
    for sign in _SIGNS:
        if sign in small:
            return False
    return "key" not in small or not ("api" in small or "private" in small)


def masked_members(value: Json) -> Json:
    """``value`` with every member whose key names a secret replaced, at any depth; texts stand as they are.

    For what a person decides on: whoever writes an argument must not choose which words of it are seen.
    """
    return _walked(value, _as_it_is)


def _as_it_is(text: str) -> str:
    return text


def _walked(value: Json, text: Callable[[str], str]) -> Json:
    # By the real type first: a snapshot has a hundred values, and most are plain.
    kind = type(value)
    if kind in _BARE:
        return value
    if kind is str or isinstance(value, str):
        return text(value)  # type: ignore[arg-type]
    if kind is dict or isinstance(value, Mapping):
        return {
            key: MASK if item is not None and _names_secret(key) else _walked(item, text)
            for key, item in value.items()  # type: ignore[union-attr]
        }
    if kind is list or isinstance(value, list | tuple):
        return [_walked(item, text) for item in value]  # type: ignore[union-attr]
    return value


def _names_secret(key: object) -> bool:
    if not isinstance(key, str):
        return False
    return _says_secret(key) if len(key) <= _KEPT_CHARS_MAX else _SECRET.search(key) is not None


@lru_cache(maxsize=4096)
def _says_secret(key: str) -> bool:
    return _SECRET.search(key) is not None


def masked_text(text: str) -> str:
    """A text with the secrets in it replaced."""
    if "://" in text:
        text = _IN_ADDRESS.sub(rf"\g<1>{MASK}@", text)
    if "=" in text or ":" in text:
        text = _SAID.sub(lambda found: f"{found[1]}{found[2] or ''}{MASK}", text)
    return text
