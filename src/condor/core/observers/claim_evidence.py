"""What a run can prove: one entry a step, made from the journal, never from prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.values import dataclass

if TYPE_CHECKING:
    from condor.core.outcome import StepStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvidence:
    """How one step ended, as the closing may say it."""

    step_id: str
    tool: str
    #: What the effect is called: "the prescription".
    noun: str
    #: Which of its tool's verbs it was; empty where the tool has none or one.
    op: str = ""
    #: What it was about, in the words of its arguments, its card and its effects: "Patient/7", "Anna Lind".
    entities: tuple[str, ...] = ()
    #: The tool's class is not read.
    effectful: bool
    status: StepStatus
    #: Stable word for why it did not succeed.
    code: str = ""
    #: One line with the details of a failure.
    message: str = ""
    #: One sentence about its success.
    sentence: str = ""
    #: When that was read, as texts say it; empty where it was just now, or is no read.
    as_of: str = ""
    #: The tool said that sentence itself.
    reported: bool = False
    #: Who declined it, as texts call them.
    declined_by: str = ""
    #: What they wrote beside it.
    reason: str = ""
    #: Who approved it and wrote why; both empty where nobody wrote anything.
    approved_by: str = ""
    approved_why: str = ""
    #: Who edited the call before it was approved, as texts call them.
    edited_by: tuple[str, ...] = ()
    #: Who, beside the requester, answered a question about it, as texts call them.
    answered_by: tuple[str, ...] = ()
    #: Who said that an effect whose end nobody saw has happened, and how they know; empty where it was seen.
    vouched_by: str = ""
    vouched_why: str = ""
    #: The step was handed to its tool at least once.
    attempted: bool = False
    #: The step had a card, answered or not.
    gated: bool = False
    #: What another tool stands in for, as texts call it, and why; empty where the plan's own tool did it.
    instead_of: str = ""
    instead_why: str = ""
    #: What the tool that stands in is called.
    stand_in: str = ""
    #: Why no other tool did what it failed to do, as a sentence; empty where none might have.
    no_stand_in: str = ""
    #: The last of its cards was never answered.
    waiting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEvidence:
    """All a closing text may rest on."""

    steps: tuple[StepEvidence, ...]
    #: Why the run was cut short, as a sentence; empty when it was not.
    halted: str = ""
