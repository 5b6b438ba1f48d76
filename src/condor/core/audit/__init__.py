"""The audit: what an entry says, and the hash chain that makes a change to it visible."""

from condor.core.audit.chain import chain_hash
from condor.core.audit.entry import DECISIONS, AuditEntry, Decision, encode_entry

__all__ = [
    "DECISIONS",
    "AuditEntry",
    "Decision",
    "chain_hash",
    "encode_entry",
]
