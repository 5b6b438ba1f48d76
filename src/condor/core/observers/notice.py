"""A notice: one thing that did not happen, in one line of our own.

Law 1: ``⚠ Not completed:`` is for what was gated or attempted without success, ``⚠ Not executed:`` for
what was never dispatched, was refused by role or was never planned, ``⚠ Correction:`` for a claim that the
evidence contradicts (mission: claim-guard.ts:87-185).
Law 2: foreign text cannot carry these prefixes, nor begin a line of its own: the sign is escaped where
it enters, and a reason, a message or a title is one line, whatever it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.outcome import StepStatus
from condor.core.values import dataclass

if TYPE_CHECKING:
    from condor.core.observers.claim_evidence import StepEvidence

CORRECTION_PREFIX = "⚠ Correction:"
NOT_COMPLETED_PREFIX = "⚠ Not completed:"
NOT_EXECUTED_PREFIX = "⚠ Not executed:"
#: What opens each of them.
SIGN = "⚠"
#: What stands in foreign text in its place.
ESCAPED_SIGN = "(!)"
#: What a sentence ends with, and the quotes that may stand after it.
_ENDS = (".", "?", "!", "…")
_QUOTES = "”»\"'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One thing that did not happen."""

    kind: str
    step_id: str
    text: str


def notice_of(step: StepEvidence) -> Notice:
    """What is said of a step that did not succeed."""
    kind, text = explained(step)
    prefix = NOT_COMPLETED_PREFIX if kind == "not-completed" else NOT_EXECUTED_PREFIX
    return Notice(kind=kind, step_id=step.step_id, text=f"{prefix} {escape_sign(one_line(text))}")


def ended(text: str) -> str:
    """A sentence with its end: a full stop where it has none of its own, also inside its quotes."""
    text = text.rstrip()
    return text if text.rstrip(_QUOTES)[-1:] in _ENDS else f"{text}."


def unended(text: str) -> str:
    """Foreign words to stand inside a sentence: without a full stop of their own."""
    return text.rstrip(" .")


def escape_sign(text: str) -> str:
    """Foreign text without the sign that opens our notices."""
    return text.replace(SIGN, ESCAPED_SIGN)


def one_line(text: str) -> str:
    """Foreign text without line breaks; what nobody can see stands there as ``<U+202E>``."""
    return " ".join("".join(map(_visible, text)).split())


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    return " " if char.isspace() else f"<U+{ord(char):04X}>"


def explained(step: StepEvidence) -> tuple[str, str]:
    """Whether it was tried or never begun, and why, in one sentence."""
    noun = step.noun
    detail = f": {unended(step.message)}" if step.message else ""
    if step.status is StepStatus.UNKNOWN:
        unknown = f"it is not known whether {noun} happened{detail}"
        if step.instead_of:
            unknown = f"{_not_done(step)}, and it is not known whether {noun} happened instead{detail}"
        return "not-completed", f"{ended(unknown)} Check the record."
    if step.status is StepStatus.FAILED:
        failed = f"{_stood_in(step)} failed{detail}"
        return "not-completed", " ".join(filter(None, (ended(failed), step.no_stand_in)))
    if step.status is StepStatus.DEGRADED and step.instead_of:
        why = f": {step.instead_why}" if step.instead_why else ""
        done = f" Instead: {step.sentence}" if step.sentence else ""
        return "not-completed", f"{ended(f'{step.instead_of} was not done{why}')}{done}"
    if step.status is StepStatus.DEGRADED:
        done = f" {step.sentence}" if step.sentence else ""
        return "not-completed", ended(f"{noun} was done only in part{detail}") + done
    return _why_skipped(step, detail)


def _not_done(step: StepEvidence) -> str:
    """What was to be done and was not, before another tool took its place."""
    why = f" ({unended(step.instead_why)})" if step.instead_why else ""
    return f"{step.instead_of} was not done{why}"


def _stood_in(step: StepEvidence) -> str:
    """What was to be done, and what was to do it instead; the step's own noun where nothing was."""
    if not step.instead_of:
        return step.noun
    return f"{_not_done(step)}, and {step.noun}, which was to stand in for it,"


def _why_skipped(step: StepEvidence, detail: str) -> tuple[str, str]:
    noun = _stood_in(step)
    not_run = "It was not run again." if step.attempted else "It was not run."
    match step.code:
        case "denied":
            why = f" ({unended(step.reason)})" if step.reason else ""
            return "not-completed", f"{noun} was declined by {step.declined_by}{why}. {not_run}"
        case "denied_before":
            return "not-completed", f"{noun} was declined before in this run and was not asked again."
        case "expired":
            return "not-completed", f"{noun} was not approved in time. {not_run}"
        case "role":
            return "not-executed", ended(f"{noun} {step.message}")
        case _ if step.attempted and not step.waiting:
            return "not-completed", ended(f"{noun} was not done{detail}")
        case _ if step.waiting:
            return "not-completed", f"{noun} was still waiting for an answer at the end. {not_run}"
        case _ if step.gated:
            return "not-completed", f"{noun} was asked about, but the run ended before it. {not_run}"
        case _:
            # What another tool was to do had been tried.
            kind = "not-completed" if step.instead_of else "not-executed"
            return kind, ended(f"{noun} was not reached{detail}")
