"""The audit: what an entry says, the hash chain that makes a change to it visible, and seals over chains."""

from condor.core.audit.chain import verify_chain
from condor.core.audit.checkpoint import (
    Against,
    Checkpoint,
    checkpoint_line,
    hold_to_checkpoint,
    read_checkpoint,
    signed_bytes,
)
from condor.core.audit.entry import DECISIONS, AuditEntry, Decision, encode_entry, vouched_payload
from condor.core.audit.links import ChainVerdict, Tampering, chain_hash
from condor.core.audit.records import hold_records
from condor.core.audit.seals import (
    Mark,
    SealedHeads,
    encode_seal,
    hold_to_marks,
    missing_run,
    seal_facts,
    seal_heads_of,
    seal_verdict,
)

__all__ = [
    "DECISIONS",
    "Against",
    "AuditEntry",
    "ChainVerdict",
    "Checkpoint",
    "Decision",
    "Mark",
    "SealedHeads",
    "Tampering",
    "chain_hash",
    "checkpoint_line",
    "encode_entry",
    "encode_seal",
    "hold_records",
    "hold_to_checkpoint",
    "hold_to_marks",
    "missing_run",
    "read_checkpoint",
    "seal_facts",
    "seal_heads_of",
    "seal_verdict",
    "signed_bytes",
    "verify_chain",
    "vouched_payload",
]
