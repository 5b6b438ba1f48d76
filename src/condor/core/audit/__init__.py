"""The audit: what an entry says, and the hash chain that makes a change to it visible."""

from condor.core.audit.chain import verify_chain
from condor.core.audit.entry import DECISIONS, AuditEntry, Decision, encode_entry
from condor.core.audit.links import ChainVerdict, Tampering, chain_hash

__all__ = [
    "DECISIONS",
    "AuditEntry",
    "ChainVerdict",
    "Decision",
    "Tampering",
    "chain_hash",
    "encode_entry",
    "verify_chain",
]
