"""Secrets: made by chance, kept as hashes, spent once or until they expire.

Law: 256 bits of chance need no slow hash; SHA-256 of them cannot be searched.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from condor.ports.clock import Clock

_Value = TypeVar("_Value")

#: Bytes of chance in a secret.
_CHANCE_BYTES: Final = 32
#: Longest secret that is looked at, in characters; ours have some fifty.
SECRET_CHARS_MAX: Final = 200
#: Secrets of one kind that are open at the same time; the oldest gives way.
_OPEN_MAX: Final = 10_000


def new_secret(prefix: str) -> str:
    """A secret that says what it is by its prefix; its chance is the machine's, which no test may foresee."""
    return f"{prefix}_{secrets.token_urlsafe(_CHANCE_BYTES)}"


def hash_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class OneUse(Generic[_Value]):
    """Secrets that count once, for a short time, in this process."""

    def __init__(self, prefix: str, *, life_s: float, clock: Clock) -> None:
        """None is open.

        Args:
            life_s: seconds after which one that nobody used is worth nothing.
        """
        self._prefix, self._life_s, self._clock = prefix, life_s, clock
        self._open: OrderedDict[str, tuple[float, _Value]] = OrderedDict()

    def issue(self, value: _Value) -> str:
        """A new secret that stands for ``value``."""
        secret = new_secret(self._prefix)
        self._open[hash_of(secret)] = (self._clock.monotonic() + self._life_s, value)
        while len(self._open) > _OPEN_MAX:
            self._open.popitem(last=False)
        return secret

    def redeem(self, secret: str) -> _Value | None:
        """What a secret stands for; it is spent. None where it counts no more."""
        if len(secret) > SECRET_CHARS_MAX:
            return None
        until, value = self._open.pop(hash_of(secret), (0.0, None))
        return value if self._clock.monotonic() < until else None


__all__ = ["SECRET_CHARS_MAX", "OneUse", "hash_of", "new_secret"]
