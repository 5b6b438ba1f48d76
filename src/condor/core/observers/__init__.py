"""Observers: what is said of a run after the fact. They only add; they change nothing."""

from condor.core.observers.claim_evidence import ClaimEvidence, StepEvidence
from condor.core.observers.closing import (
    CORRECTION_PREFIX,
    NOT_COMPLETED_PREFIX,
    NOT_EXECUTED_PREFIX,
    Closing,
    Notice,
    compose_closing,
    ended,
    unended,
)

__all__ = [
    "CORRECTION_PREFIX",
    "NOT_COMPLETED_PREFIX",
    "NOT_EXECUTED_PREFIX",
    "ClaimEvidence",
    "Closing",
    "Notice",
    "StepEvidence",
    "compose_closing",
    "ended",
    "unended",
]
