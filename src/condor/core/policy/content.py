"""What arguments say they would do, whatever the op is called.

Law 1: a removal hidden in the arguments of a harmless-looking call is still a removal. The scan is
always on, so no tool author has to remember it; a false alarm costs one question to a person.
Law 2: total. What is no JSON, or nests without end, counts as a removal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, cast

from condor.core.ids import exact_word
from condor.core.policy.classes import (
    DESTRUCTIVE_OPS,
    HARMLESS_OPS,
    is_destructive_op,
    letters_of,
    takes_away,
)

#: Deeper than this nothing is looked at: it counts as destructive (edges refuse depth 32 first).
_DEPTH_MAX = 32

#: Status codes that take a record out of use. FHIR R4 (MedicationRequest, ServiceRequest, CarePlan,
#: AllergyIntolerance, DocumentReference, Appointment, PublicationStatus value sets), and the six
#: destructive verbs as other systems say them of a record. ``resolved`` and ``completed`` are not
#: here: they are how a record's use normally ends.
TERMINAL_STATUSES = frozenset(
    {"entered-in-error", "revoked", "cancelled", "canceled", "stopped", "superseded", "refuted"}
    | {"inactive", "retired", "abandoned", "deactivated", "purged"}
    | {"deleted", "voided", "removed", "discontinued", "archived"}
    | DESTRUCTIVE_OPS
)
_TERMINAL = frozenset(letters_of(status) for status in TERMINAL_STATUSES)

#: Says "this record should never have been" wherever it stands: no other meaning of it is known.
_ERASED = "enteredinerror"
#: Shorter texts cannot say it (some characters stand for two letters), longer ones are prose.
_CODE_CHARS_MIN, _CODE_CHARS_MAX = len(_ERASED) // 2, 64

#: Keys that hold a verb: RFC 6902 JSON Patch ``op``, FHIR ``Bundle.entry.request.method`` (any key
#: with ``method`` in it, so that an override header counts), and what other interfaces call it.
_VERB_KEYS = frozenset({"op", "operation", "action", "verb"})
#: FHIRPath Patch holds both the verb and the new status in a ``valueCode``.
_EITHER_KEY = "valuecode"
_EMBEDDED = re.compile(r'\s*["\[{]')

_KeyKind = Literal["verb", "status", "either", "url", "other"]


@lru_cache(maxsize=4096)
def _kind_of_key(key: str) -> _KeyKind:
    word = letters_of(key)
    if word in _VERB_KEYS or "method" in word:
        return "verb"
    if word.endswith("status"):
        return "status"
    if word == _EITHER_KEY:
        return "either"
    return "url" if word == "url" else "other"


def _texts(value: object, depth: int) -> Iterator[str]:
    """Every text in a value: a plain code, or all of a CodeableConcept, its text too."""
    if depth > _DEPTH_MAX:
        return
    text = exact_word(value)
    if text is not None:
        yield text
    elif type(value) is dict or isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, depth + 1)


def _words(value: object, depth: int) -> Iterator[str]:
    return (letters_of(text) for text in _texts(value, depth))


def _member_is_destructive(key: str, value: object, depth: int) -> bool:
    kind = _kind_of_key(key)
    if kind == "other":  # of most keys, so it is asked first
        return False
    match kind:
        case "verb":
            return any(takes_away(text) for text in _texts(value, depth))
        case "status":
            return not _TERMINAL.isdisjoint(_words(value, depth))
        case "either":
            return any(
                letters_of(text) in _TERMINAL or is_destructive_op(text) for text in _texts(value, depth)
            )
        case "url":  # a FHIR operation such as $expunge; what it does, its name does not say
            return "$" in (exact_word(value) or "")


def _patch_is_destructive(node: Mapping[str, object], depth: int) -> bool:
    """RFC 6902: ``remove`` is a verb like others; here is what takes away under another name."""
    op = exact_word(node.get("op"))
    path = exact_word(node.get("path")) if op is not None else None
    if op is None or path is None:
        return False
    if letters_of(op) == "move" or ("value" in node and node["value"] is None):
        return True
    at_status = any(letters_of(part).endswith("status") for part in re.split(r"[/.\[\]]", path))
    return at_status and not _TERMINAL.isdisjoint(_words(node.get("value"), depth))


def _text_is_destructive(text: str, depth: int) -> bool:
    if _CODE_CHARS_MIN <= len(text) <= _CODE_CHARS_MAX and letters_of(text) == _ERASED:
        return True
    if not _EMBEDDED.match(text):
        return False
    try:
        embedded = json.loads(text, object_pairs_hook=_all_pairs)
    except ValueError:
        return False
    return _scan(embedded, depth + 1)


def _all_pairs(pairs: list[tuple[str, object]]) -> object:
    """An object; where a key stands twice, every reading of it."""
    members = dict(pairs)
    return members if len(members) == len(pairs) else [members, *({key: item} for key, item in pairs)]


def _scan(value: object, depth: int) -> bool:
    if depth > _DEPTH_MAX:
        return True
    kind = type(value)  # not what an object says of itself
    if value is None or issubclass(kind, (int, float)):
        return False
    text = exact_word(value)
    if text is not None:
        return _text_is_destructive(text, depth)
    if type(value) is dict or isinstance(value, Mapping):
        for key, item in value.items():
            if exact_word(key) is None or _member_is_destructive(key, item, depth) or _scan(item, depth + 1):
                return True
        return _patch_is_destructive(value, depth)
    if issubclass(kind, (list, tuple)):
        return any(_scan(item, depth + 1) for item in cast("Iterable[object]", value))
    return True


def names_verb(key: object) -> bool:
    """Whether an argument of this name says what a call does."""
    word = exact_word(key)
    return word is not None and _is_verb_key(word)


@lru_cache(maxsize=4096)
def _is_verb_key(key: str) -> bool:
    return letters_of(key) in _VERB_KEYS


def is_harmless_verb(value: object) -> bool:
    """Whether a free verb is one plain word of the known harmless ones; no verb at all is harmless too."""
    return value is None or exact_word(value) in HARMLESS_OPS


def destructive_content(value: object, depth: int = 0) -> bool:
    """Whether any part of ``value`` asks for a removal: every entry is looked at, no sampling.

    JSON inside a text is looked into as well.
    """
    try:
        return _scan(value, depth)
    except Exception:  # noqa: BLE001 - what throws while it is looked at counts as destructive
        return True
