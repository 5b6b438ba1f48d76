"""A checkpoint: a signed statement of how far the tenant's chain of seals has come, to be kept elsewhere.

A file of lines: the statement with its signature; then the body of every seal that it speaks of, or none.
The bodies are their own proof: chained anew they give the hash in the statement. With them a run that was
written anew or removed is named; without them it is only found.

Law: a file that is not whole, or whose signature does not hold, is refused; it proves nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from condor.core.audit.links import ChainVerdict, chain_hash
from condor.core.audit.seals import SealedHeads, seal_verdict
from condor.core.errors import RefusedInput
from condor.core.ids import canonical_json
from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: What is signed begins with this, so that a signature on it is one on nothing else.
_DOMAIN: Final = b"condor.checkpoint.v1\n"
_MEMBERS: Final = {"at": str, "hash": str, "key": str, "runs": int, "seals": int, "tenantId": str, "v": int}
_WHOLE: Final = "is no whole checkpoint; take another copy of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What is stated."""

    tenant_id: str
    #: When it was made; RFC 3339.
    at: str
    #: Number and hash of the last seal; 0 and ``""`` where nothing is sealed.
    seals: int
    hash: str
    #: How many runs they hold.
    runs: int
    #: The public key of its signature: ``ed25519:`` and base64.
    key: str


@dataclass(frozen=True, slots=True)
class SealLine:
    """A seal as its body in a checkpoint gives it."""

    seq: int
    body: bytes
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class Against:
    """A checkpoint that was read and whose signature holds."""

    stated: Checkpoint
    #: What its seals hold; empty for one without.
    sealed: SealedHeads

    def expected(self) -> dict[int, str]:
        """The hash of every seal that it knows, by number."""
        return {**self.sealed.hashes, self.stated.seals: self.stated.hash}


def signed_bytes(stated: Checkpoint) -> bytes:
    """What a signature covers."""
    return _DOMAIN + canonical_json(_statement(stated))


def checkpoint_line(stated: Checkpoint, signature: str) -> bytes:
    """The first line of a checkpoint."""
    return canonical_json({"checkpoint": _statement(stated), "signature": signature})


def read_checkpoint(lines: Iterable[bytes], holds: Callable[[str, bytes, str], bool]) -> Against:
    """A checkpoint, checked.

    Args:
        lines: of its file.
        holds: whether a signature holds: key, what was signed, signature.

    Raises:
        RefusedInput: it is no checkpoint, is cut, or was changed.
    """
    rest = iter(lines)
    stated, signature = _first(next(rest, b""))
    if not holds(stated.key, signed_bytes(stated), signature):
        raise RefusedInput("the signature does not hold: the checkpoint was changed after it was made")
    sealed = SealedHeads()
    for line in _seals(rest):
        sealed.follow(line)
    whole = not sealed.count or (sealed.count, sealed.hash) == (stated.seals, stated.hash)
    if sealed.fault is not None or not whole:
        raise RefusedInput("its seals are not those that were signed: the checkpoint was cut or changed")
    return Against(stated, sealed)


def hold_to_checkpoint(seals: SealedHeads, against: Against) -> ChainVerdict | None:
    """What the seals that are there lack of a checkpoint; None when they have all of it.

    Args:
        seals: followed with ``against.expected()``.
    """
    stated = against.stated
    made = f"the checkpoint of {stated.at}"
    if seals.first_other is not None:
        text = f"seal {seals.first_other} is not the one that {made} holds: the seals were written anew"
        return seal_verdict(seals.first_other, "rewritten", text)
    if seals.fault is None and seals.count < stated.seals:
        left = f"{seals.count}, the last of {seals.at}" if seals.count else "none"
        text = f"{made} goes up to seal {stated.seals}, and there are {left}: the database was rolled back"
        return seal_verdict(seals.count + 1, "rolled-back", text)
    return None


def _seals(lines: Iterable[bytes]) -> Iterator[SealLine]:
    prev = ""
    for number, line in enumerate(lines, start=1):
        body = line.rstrip(b"\r\n")
        hashed = chain_hash(prev, number, body)
        yield SealLine(number, body, prev, hashed)
        prev = hashed


def _statement(stated: Checkpoint) -> dict[str, object]:
    return {
        "at": stated.at,
        "hash": stated.hash,
        "key": stated.key,
        "runs": stated.runs,
        "seals": stated.seals,
        "tenantId": stated.tenant_id,
        "v": 1,
    }


def _first(line: bytes) -> tuple[Checkpoint, str]:
    try:
        found: Any = json.loads(line)
        said, signature = found["checkpoint"], found["signature"]
        fits = {name: type(said[name]) for name in said} == _MEMBERS and type(signature) is str
    except (ValueError, LookupError, TypeError, RecursionError):
        raise RefusedInput(f"it {_WHOLE}") from None
    if not fits or said["v"] != 1 or said["seals"] < 0:
        raise RefusedInput(f"it {_WHOLE}, or of a newer condor")
    return (
        Checkpoint(
            tenant_id=said["tenantId"],
            at=said["at"],
            seals=said["seals"],
            hash=said["hash"],
            runs=said["runs"],
            key=said["key"],
        ),
        signature,
    )
