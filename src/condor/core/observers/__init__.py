"""Observers: what is said of a run after the fact. They only add; they change nothing."""

from condor.core.observers.claim_evidence import ClaimEvidence, StepEvidence
from condor.core.observers.claim_guard import guard_claims
from condor.core.observers.claim_rules import DEFAULT_CLAIM_RULES, ClaimRule
from condor.core.observers.claim_words import readable_words
from condor.core.observers.closing import Closing, compose_closing, guard_closing
from condor.core.observers.foreign_text import ForeignText, escape_foreign
from condor.core.observers.notice import (
    CORRECTION_PREFIX,
    NOT_COMPLETED_PREFIX,
    NOT_EXECUTED_PREFIX,
    Notice,
    ended,
    unended,
)

__all__ = [
    "CORRECTION_PREFIX",
    "DEFAULT_CLAIM_RULES",
    "NOT_COMPLETED_PREFIX",
    "NOT_EXECUTED_PREFIX",
    "ClaimEvidence",
    "ClaimRule",
    "Closing",
    "ForeignText",
    "Notice",
    "StepEvidence",
    "compose_closing",
    "ended",
    "escape_foreign",
    "guard_claims",
    "guard_closing",
    "readable_words",
    "unended",
]
