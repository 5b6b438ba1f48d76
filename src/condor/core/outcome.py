"""How one step ended: one closed vocabulary, one classifier.

Law 1: ``unknown`` is neither failed nor done. An effect that may have happened is never reported
as failed and never blindly repeated.
Law 2: only a tool that says ``effect="none"`` proves that nothing was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from condor.core.errors import RecordMoved, ToolError, show
from condor.core.ids import Json, canonical_json


class StepStatus(StrEnum):
    """Where a step stands."""

    PENDING = "pending"
    #: Handed to its tool; for an effect this is journalled before the tool is entered.
    STARTED = "started"
    SUSPENDED = "suspended"
    #: The effect may or may not have happened.
    UNKNOWN = "unknown"
    SUCCEEDED = "succeeded"
    DEGRADED = "degraded"
    FAILED = "failed"
    SKIPPED = "skipped"


SETTLED = frozenset({StepStatus.SUCCEEDED, StepStatus.DEGRADED, StepStatus.FAILED, StepStatus.SKIPPED})
#: Statuses on which a dependent step may build.
FULFILLED = frozenset({StepStatus.SUCCEEDED, StepStatus.DEGRADED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool may return instead of bare JSON."""

    outcome: Literal["succeeded", "degraded", "failed", "skipped"] = "succeeded"
    value: Json = None
    #: The tool asks for another way inside the graph.
    needs_replan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InputField:
    """One thing a tool needs to be told by a person."""

    name: str
    label: str = ""
    type: str = "string"
    #: As ``ArgSpec.hint``.
    hint: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedInput:
    """A tool returns this when it cannot go on without an answer; nothing was written."""

    fields: tuple[InputField, ...]
    #: One sentence that says why.
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedOut:
    """The tool did not answer in its time."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutcome:
    """The end of one attempt."""

    status: StepStatus
    value: Json = None
    #: Stable word for the reason, empty on success.
    code: str = ""
    #: One line for a person; may quote record data, so it is stored as a payload.
    message: str = ""
    needs_replan: bool = False
    may_retry: bool = False
    #: The record changed since the card: ask again with the new difference.
    record_moved: bool = False


def failed(code: str, message: str, *, may_retry: bool = False) -> StepOutcome:
    """A step that did not do what it should, with nothing written."""
    return StepOutcome(status=StepStatus.FAILED, code=code, message=message, may_retry=may_retry)


def skipped(code: str, message: str) -> StepOutcome:
    """A step that was not run."""
    return StepOutcome(status=StepStatus.SKIPPED, code=code, message=message)


def unknown(code: str, message: str) -> StepOutcome:
    """An effect that may have happened."""
    return StepOutcome(status=StepStatus.UNKNOWN, code=code, message=message)


def _of_result(result: ToolResult) -> StepOutcome:
    status = StepStatus(result.outcome)
    code = "" if status in FULFILLED else "tool_said_so"
    message = result.value if code and isinstance(result.value, str) else ""
    return StepOutcome(
        status=status, value=result.value, code=code, message=message, needs_replan=result.needs_replan
    )


def _of_error(error: BaseException | TimedOut, *, effectful: bool) -> StepOutcome:
    match error:
        case RecordMoved():
            return StepOutcome(
                status=StepStatus.FAILED, code=error.code, message=str(error), record_moved=True
            )
        case ToolError(effect="none"):
            return failed(error.code, str(error), may_retry=error.may_retry)
        case ToolError():
            code, message, may_retry = error.code, str(error), error.may_retry
        case TimedOut(seconds=seconds):
            code, message, may_retry = "timeout", f"no answer within {seconds:g} s", True
        case _:
            code, message, may_retry = "tool_raised", f"{type(error).__name__}: {error}", False
    if effectful:
        return unknown(code, message)
    return failed(code, message, may_retry=may_retry)


def is_json(value: object) -> bool:
    """Whether a value is JSON that can be stored and hashed."""
    try:
        canonical_json(value)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False
    return True


def classify_step_outcome(returned: object, *, effectful: bool) -> StepOutcome | NeedInput:
    """What a tool's return, exception or silence means. The only classifier.

    Args:
        returned: JSON, ``ToolResult``, ``NeedInput``, an exception, or ``TimedOut``.
        effectful: the tool's class is not read.
    """
    match returned:
        case NeedInput():
            return returned
        case ToolResult(outcome="succeeded" | "degraded" | "failed" | "skipped"):
            if is_json(returned.value):
                return _of_result(returned)
        case BaseException() | TimedOut():
            return _of_error(returned, effectful=effectful)
        case _:
            if is_json(returned):
                return StepOutcome(status=StepStatus.SUCCEEDED, value=returned)  # type: ignore[arg-type]
    message = f"the tool answered something that is not JSON: {show(returned)}"
    return unknown("bad_result", message) if effectful else failed("bad_result", message)


RunEnd = Literal["succeeded", "degraded", "failed"]


def run_end(statuses: Mapping[str, StepStatus], sinks: Sequence[str]) -> RunEnd:
    """How a run ends that nobody stopped.

    ``succeeded`` when every step did; ``failed`` when nothing at the end of the graph was reached
    (what was asked for did not happen); ``degraded`` between the two.
    """
    if all(status is StepStatus.SUCCEEDED for status in statuses.values()):
        return "succeeded"
    if any(statuses[sink] in FULFILLED for sink in sinks):
        return "degraded"
    return "failed"


__all__ = [
    "FULFILLED",
    "SETTLED",
    "InputField",
    "NeedInput",
    "RunEnd",
    "StepOutcome",
    "StepStatus",
    "TimedOut",
    "ToolResult",
    "classify_step_outcome",
    "failed",
    "is_json",
    "run_end",
    "skipped",
    "unknown",
]
