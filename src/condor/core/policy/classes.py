"""The closed vocabularies of the policy: effect class, tier, autonomy, destructive verbs.

Law: a word that is not exactly one of these is *unknown*, and unknown takes the stricter path.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum

from condor.core.ids import exact_word


class PolicyClass(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    #: Writes an outside record: a *record write*.
    MUTATE = "mutate"
    #: Runs a program, a report, an analysis.
    EXEC = "exec"
    #: Speaks to a person.
    COMMS = "comms"


class HitlTier(StrEnum):
    """How risky a record write is: whether a human must always be in the loop."""

    HIGH = "high"
    LOW = "low"


class Autonomy(StrEnum):
    """Under what watch a run was dispatched; the last two are *supervised*."""

    AUTONOMOUS = "autonomous"
    GUARDED = "guarded"
    AMBIENT = "ambient"


#: The verbs that promote a low-tier record write to high (mission: tool-policy.ts:85-92). They
#: are the floor: an op outside a tool's closed set is promoted whatever its spelling.
DESTRUCTIVE_OPS = frozenset({"delete", "void", "remove", "cancel", "discontinue", "archive"})


#: Other words for the same: a tool that declares one of them as its op is no less destructive for it
#: (cases A05). Together with the six they are what promotes a *declared* op.
DESTRUCTIVE_SYNONYMS = frozenset(
    {
        "annul", "cancelled", "clear", "deactivate", "del", "destroy", "disable", "drop", "enteredinerror",
        "erase", "expunge", "merge", "nullify", "overwrite", "purge", "rescind", "retract", "revoke", "stop",
        "supersede", "terminate", "truncate", "unlink", "wipe", "withdraw",
    }
)  # fmt: skip

_DESTRUCTIVE = DESTRUCTIVE_OPS | DESTRUCTIVE_SYNONYMS

#: Verbs that a free argument may say without a person: they add, change in place, or only look. Closed and
#: short on purpose; a tool that needs another one lists it in its ``ops``.
HARMLESS_OPS = frozenset(
    {
        "add", "append", "comment", "create", "get", "insert", "list", "note", "read", "record", "save",
        "search", "set", "update", "validate",
    }
)  # fmt: skip

#: A text longer than this, with spaces in it, is prose and no verb.
_VERB_CHARS_MAX = 64
_NOT_A_LETTER = re.compile(r"[^a-z]+")


def letters_of(text: str) -> str:
    """The letters a to z of a text, without case, accents, width, spaces and invisible characters.

    ``Entered in Error``, ``entered_in_error`` and ``entered-in-error`` are one word this way, and so
    are ``delete`` and ``de<zero width space>lete``.
    """
    if text.isascii():
        return text.lower() if text.isalpha() else _NOT_A_LETTER.sub("", text.lower())
    return _NOT_A_LETTER.sub("", unicodedata.normalize("NFKD", text).casefold())


def is_destructive_op(op: object) -> bool:
    """Whether ``op`` is one of the six verbs or a synonym, in any case and however padded or split."""
    word = exact_word(op)
    return word is not None and letters_of(word) in _DESTRUCTIVE


def takes_away(verb: object) -> bool:
    """Whether a verb that nobody declared says a removal: alone, among others (``update,delete``), disguised.

    A word with letters that are not Latin, such as a Cyrillic look-alike, counts: nobody can tell what it is.
    """
    text = exact_word(verb)
    if text is None or is_destructive_op(text):
        return True
    if is_prose(text):
        return False
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKD", text).casefold()
    if any(is_destructive_op(part) for part in _NOT_A_LETTER.split(plain)):
        return True
    return " " not in plain and any(sign.isalpha() and not sign.isascii() for sign in plain)


def is_prose(text: str) -> bool:
    """Whether a text is too long for a verb, or for a list of them."""
    return len(text) > _VERB_CHARS_MAX and " " in text


def is_supervised(autonomy: object) -> bool:
    """Whether a dispatch is watched. Everything but exactly ``autonomous`` is."""
    return exact_word(autonomy) != Autonomy.AUTONOMOUS
