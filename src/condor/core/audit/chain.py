"""The hash chain of one run."""

from __future__ import annotations

import hashlib


def chain_hash(prev_hash: str, seq: int, body: bytes) -> str:
    """Hash of one row: hex SHA-256 over the previous row's hash, its own number and its body.

    Args:
        prev_hash: hex hash of the row before, ``""`` for the first.
        seq: 1, 2, 3 … within the run.
        body: RFC 8785 bytes of the entry.
    """
    return hashlib.sha256(b"%b\n%d\n%b" % (prev_hash.encode(), seq, body)).hexdigest()
