"""The closing text of a run, from its own evidence.

Law: every effectful step that did not succeed is named, whatever else is said (``notice``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.observers.claim_guard import guard_claims
from condor.core.observers.foreign_text import escape_foreign
from condor.core.observers.notice import (
    CORRECTION_PREFIX as CORRECTION_PREFIX,
)
from condor.core.observers.notice import (
    NOT_COMPLETED_PREFIX as NOT_COMPLETED_PREFIX,
)
from condor.core.observers.notice import (
    NOT_EXECUTED_PREFIX as NOT_EXECUTED_PREFIX,
)
from condor.core.observers.notice import Notice, ended, escape_sign, notice_of, one_line
from condor.core.outcome import StepStatus
from condor.core.values import dataclass

if TYPE_CHECKING:
    from condor.core.observers.claim_evidence import ClaimEvidence, StepEvidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The text, and its notices apart."""

    text: str
    #: In the order of the text. Those of the claim guard come first.
    notices: tuple[Notice, ...]
    #: How many of them answer a claim of the text.
    claims_answered: int = 0


def compose_closing(evidence: ClaimEvidence) -> Closing:
    """What happened, then what did not, in the order of the plan; the guard reads what tools said of it."""
    succeeded = [step for step in evidence.steps if step.status is StepStatus.SUCCEEDED and step.sentence]
    done = [_said(step) for step in succeeded]
    corrections = tuple(
        notice
        for step in succeeded
        if step.reported
        for notice in guard_claims(step.sentence, evidence, author=step.step_id)
    )
    notices = _unfulfilled(evidence)
    if not done and not notices and not evidence.halted:
        done = ["Done." if evidence.steps else "There was nothing to do."]
    return _closing([*_halted(evidence), *done], corrections, notices)


def guard_closing(evidence: ClaimEvidence, prose: str, *, whole: bool = True) -> Closing:
    """A writer's text with what the evidence adds to it; where it wrote nothing, the composed closing.

    Args:
        prose: as it was stored: its signs are escaped.
        whole: False: the writer was cut off, so the composed closing follows what it wrote.
    """
    if not prose.strip():
        return compose_closing(evidence)
    corrections = guard_claims(prose, evidence)
    composed = compose_closing(evidence)
    if whole:
        own = _closing(_halted(evidence), corrections, _unfulfilled(evidence))
    else:
        own = Closing(
            text="\n".join([*(notice.text for notice in corrections), composed.text]),
            notices=(*corrections, *composed.notices),
            claims_answered=len(corrections) + composed.claims_answered,
        )
    return replace(own, text=f"{prose}\n\n{own.text}" if own.text else prose)


def _halted(evidence: ClaimEvidence) -> list[str]:
    return [escape_sign(one_line(evidence.halted))] if evidence.halted else []


def _unfulfilled(evidence: ClaimEvidence) -> tuple[Notice, ...]:
    return _told_apart(
        [notice_of(step) for step in evidence.steps if step.status is not StepStatus.SUCCEEDED]
    )


def _closing(lines: list[str], corrections: tuple[Notice, ...], notices: tuple[Notice, ...]) -> Closing:
    every = (*corrections, *notices)
    text = "\n".join([*lines, *(notice.text for notice in every)])
    return Closing(text=text, notices=every, claims_answered=len(corrections))


def _told_apart(notices: list[Notice]) -> tuple[Notice, ...]:
    """Notices that would read alike say which step each is about."""
    if not notices:
        return ()
    alike = Counter(notice.text for notice in notices)
    return tuple(
        replace(notice, text=f"{notice.text} (Step {notice.step_id}.)") if alike[notice.text] > 1 else notice
        for notice in notices
    )


def _said(step: StepEvidence) -> str:
    said = [step.sentence]
    if step.as_of:
        said.append(f"(As it was read {step.as_of}.)")
    if step.instead_of:
        why = f": {step.instead_why}" if step.instead_why else ""
        stood_in = f"{step.stand_in} stood in for {step.instead_of}{why}"
        said.append(one_line(f"({ended(stood_in[:1].upper() + stood_in[1:])})"))
    if step.vouched_by:
        vouched = f"(Nobody saw it end; {step.vouched_by} says it happened: {ended(step.vouched_why)})"
        said.append(one_line(vouched))
    if step.answered_by:
        said.append(one_line(f"(What was missing was answered by {' and '.join(step.answered_by)}.)"))
    if step.edited_by:
        said.append(one_line(f"(Edited by {' and '.join(step.edited_by)} before it was approved.)"))
    if step.approved_why:
        who = f"Approved by {step.approved_by}" if step.tool else step.approved_by
        said.append(one_line(f"({who}: {ended(step.approved_why)})"))
    return escape_foreign(" ".join(said))
