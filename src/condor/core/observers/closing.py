"""The closing text of a run, from its own evidence.

Law 1: every effectful step that did not succeed is named, whatever else is said.
Law 2: ``⚠ Not completed:`` is for what was gated or attempted without success, ``⚠ Not executed:`` for
what was never dispatched or was refused by role (mission: claim-guard.ts:87-185).
Law 3: foreign text cannot carry these prefixes, nor begin a line of its own: the sign is escaped where
it enters, and a reason, a message or a title is one line, whatever it holds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.outcome import StepStatus
from condor.core.values import dataclass

if TYPE_CHECKING:
    from condor.core.observers.claim_evidence import ClaimEvidence, StepEvidence

CORRECTION_PREFIX = "⚠ Correction:"
NOT_COMPLETED_PREFIX = "⚠ Not completed:"
NOT_EXECUTED_PREFIX = "⚠ Not executed:"
_SIGN = "⚠"
#: What a sentence ends with, and the quotes that may stand after it.
_ENDS = (".", "?", "!", "…")
_QUOTES = "”»\"'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that did not happen."""

    kind: str
    step_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The text, and its notices apart."""

    text: str
    notices: tuple[Notice, ...]


def compose_closing(evidence: ClaimEvidence) -> Closing:
    """What happened, then what did not, in the order of the plan."""
    done = [_said(step) for step in evidence.steps if step.status is StepStatus.SUCCEEDED and step.sentence]
    notices = _told_apart([_notice(s) for s in evidence.steps if s.status is not StepStatus.SUCCEEDED])
    if not done and not notices and not evidence.halted:
        done = ["Done." if evidence.steps else "There was nothing to do."]
    opening = [escape_sign(one_line(evidence.halted))] if evidence.halted else []
    return Closing(text="\n".join([*opening, *done, *(notice.text for notice in notices)]), notices=notices)


def _told_apart(notices: list[Notice]) -> tuple[Notice, ...]:
    """Notices that would read alike say which step each is about."""
    alike = Counter(notice.text for notice in notices)
    return tuple(
        replace(notice, text=f"{notice.text} (Step {notice.step_id}.)") if alike[notice.text] > 1 else notice
        for notice in notices
    )


def ended(text: str) -> str:
    """A sentence with its end: a full stop where it has none of its own, also inside its quotes."""
    text = text.rstrip()
    return text if text.rstrip(_QUOTES)[-1:] in _ENDS else f"{text}."


def unended(text: str) -> str:
    """Foreign words to stand inside a sentence: without a full stop of their own."""
    return text.rstrip(" .")


def escape_sign(text: str) -> str:
    """Foreign text without the sign that opens our notices."""
    return text.replace(_SIGN, "(!)")


def one_line(text: str) -> str:
    """Foreign text without line breaks; what nobody can see stands there as ``<U+202E>``."""
    return " ".join("".join(map(_visible, text)).split())


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() else f"<U+{ord(char):04X}>"


def _said(step: StepEvidence) -> str:
    said = [step.sentence]
    if step.instead_of:
        why = f": {step.instead_why}" if step.instead_why else ""
        said.append(f"({ended(f'{step.stand_in} stood in for {step.instead_of}{why}')})")
    if step.edited_by:
        said.append(f"(Edited by {' and '.join(step.edited_by)} before it was approved.)")
    if step.approved_why:
        who = f"Approved by {step.approved_by}" if step.tool else step.approved_by
        said.append(f"({who}: {one_line(ended(step.approved_why))})")
    return escape_sign(" ".join(said))


def _notice(step: StepEvidence) -> Notice:
    kind, text = _explained(step)
    prefix = NOT_COMPLETED_PREFIX if kind == "not-completed" else NOT_EXECUTED_PREFIX
    return Notice(kind=kind, step_id=step.step_id, text=f"{prefix} {escape_sign(one_line(text))}")


def _explained(step: StepEvidence) -> tuple[str, str]:
    """Whether it was tried or never begun, and why, in one sentence."""
    noun = step.noun
    detail = f": {unended(step.message)}" if step.message else ""
    if step.status is StepStatus.UNKNOWN:
        return (
            "not-completed",
            f"{ended(f'it is not known whether {noun} happened{detail}')} Check the record.",
        )
    if step.status is StepStatus.FAILED:
        return "not-completed", ended(f"{noun} failed{detail}")
    if step.status is StepStatus.DEGRADED and step.instead_of:
        why = f": {step.instead_why}" if step.instead_why else ""
        done = f" Instead: {step.sentence}" if step.sentence else ""
        return "not-completed", f"{ended(f'{step.instead_of} was not done{why}')}{done}"
    if step.status is StepStatus.DEGRADED:
        return "not-completed", ended(f"{noun} was done only in part{detail}")
    return _why_skipped(step, detail)


def _why_skipped(step: StepEvidence, detail: str) -> tuple[str, str]:
    noun = step.noun
    match step.code:
        case "denied":
            why = f" ({unended(step.reason)})" if step.reason else ""
            return "not-completed", f"{noun} was declined by {step.declined_by}{why}. It was not run."
        case "denied_before":
            return "not-completed", f"{noun} was declined before in this run and was not asked again."
        case "expired":
            return "not-completed", f"{noun} was not approved in time. It was not run."
        case "role":
            return "not-executed", ended(f"{noun} {step.message}")
        case _ if step.attempted:
            return "not-completed", ended(f"{noun} was not done{detail}")
        case _ if step.waiting:
            return "not-completed", f"{noun} was still waiting for an answer at the end. It was not run."
        case _ if step.gated:
            return "not-completed", f"{noun} was asked about, but the run ended before it. It was not run."
        case _:
            return "not-executed", ended(f"{noun} was not reached{detail}")
