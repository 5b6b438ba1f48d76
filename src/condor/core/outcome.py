"""How one step ended: one closed vocabulary, one classifier.

Law 1: ``unknown`` is neither failed nor done. An effect that may have happened is never reported
as failed and never blindly repeated.
Law 2: only a tool that says ``effect="none"`` proves that nothing was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from condor.core import values
from condor.core.errors import RecordMoved, ToolError
from condor.core.ids import Json, canonical_json, exact_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


#: A reason is a word of a closed shape, because it stands in the history, which holds no record data.
_CODE = re.compile(r"[a-z0-9_.-]{1,64}")
#: More than anything can cost; beyond it a sum is no exact number.
_AMOUNT_MAX = 2**53
#: Longest message kept, in characters: a paragraph.
_SAID_CHARS_MAX = 2_000


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
    #: What the call cost, where it asked a model or paid for an answer; the run's breaker is charged with it.
    tokens: int = 0
    cost_usd: float = 0


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


@values.dataclass(frozen=True, slots=True, kw_only=True)
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
    #: It is proven that nothing was written.
    absent: bool = False
    #: The record changed since the card: ask again with the new difference.
    record_moved: bool = False
    #: What the attempt cost, as its tool says.
    tokens: int = 0
    cost_usd: float = 0


def failed(code: str, message: str, *, may_retry: bool = False) -> StepOutcome:
    """A step that did not do what it should, with nothing written."""
    return StepOutcome(status=StepStatus.FAILED, code=code, message=message, may_retry=may_retry, absent=True)


def skipped(code: str, message: str) -> StepOutcome:
    """A step that was not run."""
    return StepOutcome(status=StepStatus.SKIPPED, code=code, message=message)


def unknown(code: str, message: str) -> StepOutcome:
    """An effect that may have happened."""
    return StepOutcome(status=StepStatus.UNKNOWN, code=code, message=message)


def _of_result(result: ToolResult, status: StepStatus) -> StepOutcome:
    code = "" if status in FULFILLED else "tool_said_so"
    message = result.value[:_SAID_CHARS_MAX] if code and isinstance(result.value, str) else ""
    return StepOutcome(
        status=status,
        value=result.value,
        code=code,
        message=message,
        needs_replan=result.needs_replan is True,
        tokens=result.tokens,
        cost_usd=result.cost_usd,
    )


def _of_error(error: BaseException | TimedOut, *, effectful: bool) -> StepOutcome:
    match error:
        case RecordMoved():
            return StepOutcome(
                status=StepStatus.FAILED, code="record_moved", message=_said_by(error), record_moved=True
            )
        case ToolError(effect="none"):
            return failed(_code_of(error), _said_by(error), may_retry=_may_retry(error))
        case ToolError():
            code, message, may_retry = _code_of(error), _said_by(error), _may_retry(error)
        case TimedOut(seconds=seconds):
            code, message, may_retry = "timeout", f"no answer within {_seconds(seconds)} s", True
        case TimeoutError():
            # What it waited for gave no answer; that may pass.
            code, message, may_retry = "timeout", f"it raised {words_of(error)}", True
        case _:
            code, message, may_retry = "tool_raised", words_of(error), False
    if effectful:
        return unknown(code, message)
    return failed(code, message, may_retry=may_retry)


def _code_of(error: ToolError) -> str:
    """The tool's word for it; what is no word (it may quote a record) is ``tool_error``."""
    code: object = error.code
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ToolError.code


def _may_retry(error: ToolError) -> bool:
    return getattr(error, "may_retry", False) is True


def words_of(error: BaseException) -> str:
    """An exception in words: its name, and what it says if it says anything."""
    said = _said_by(error)
    return f"{type(error).__name__}: {said}" if said.strip() else type(error).__name__


def _seconds(seconds: float) -> str:
    """As people read them: ``30``, ``2.5``, ``0.97``."""
    return f"{seconds:.3g}" if seconds < 1_000 else f"{seconds:.0f}"


def _said_by(error: object) -> str:
    """What an exception says, cut, and without characters that cannot be stored."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - what throws while it is looked at says nothing
        text = "(it cannot say what)"
    return text[:_SAID_CHARS_MAX].encode("utf-8", "replace").decode()


def is_json(value: object) -> bool:
    """Whether a value is JSON that can be stored and hashed."""
    try:
        canonical_json(value)
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def _is_askable(need: NeedInput) -> bool:
    """Whether a form can be made of it; a hint may be malformed, the field degrades to free text."""
    fields: object = need.fields
    return (
        isinstance(fields, tuple | list)
        and bool(fields)
        and all(_is_field(item) for item in fields)
        and isinstance(need.message, str)
        and is_json(need.message)
    )


def _is_field(item: object) -> bool:
    return (
        isinstance(item, InputField)
        and bool((exact_word(item.name) or "").strip())
        and is_json([item.name, item.label, item.type])
    )


def is_amount(amount: object) -> bool:
    """Whether it is a finite number that is not negative."""
    return type(amount) in (int, float) and 0 <= amount <= _AMOUNT_MAX  # type: ignore[operator]


def _is_cost(result: ToolResult) -> bool:
    return type(result.tokens) is int and is_amount(result.tokens) and is_amount(result.cost_usd)


def classify_step_outcome(returned: object, *, effectful: bool) -> StepOutcome | NeedInput:
    """What a tool's return, exception or silence means. The only classifier. Total.

    Args:
        returned: JSON, ``ToolResult``, ``NeedInput``, an exception, or ``TimedOut``.
        effectful: the tool's class is not read.
    """
    match returned:
        case NeedInput():
            if _is_askable(returned):
                return returned
        case ToolResult():
            said = exact_word(returned.outcome)
            status = next((status for status in SETTLED if status == said), None)
            if status is not None and is_json(returned.value) and _is_cost(returned):
                return _of_result(returned, status)
        case BaseException() | TimedOut():
            return _of_error(returned, effectful=effectful)
        case _:
            if is_json(returned):
                return StepOutcome(status=StepStatus.SUCCEEDED, value=returned)  # type: ignore[arg-type]
    message = f"the tool answered something that is not JSON ({type(returned).__name__})"
    return unknown("bad_result", message) if effectful else failed("bad_result", message)


RunEnd = Literal["succeeded", "degraded", "failed"]


def run_end(statuses: Mapping[str, StepStatus], sinks: Sequence[str], effects: Iterable[str] = ()) -> RunEnd:
    """How a run ends that nobody stopped.

    ``succeeded`` when every step did; ``failed`` when nothing at the end of the graph was reached and nothing
    was changed on the way (what was asked for did not happen); ``degraded`` between the two.

    Args:
        effects: the steps that are no reads.
    """
    if all(status is StepStatus.SUCCEEDED for status in statuses.values()):
        return "succeeded"
    if any(statuses[step] in FULFILLED for step in (*sinks, *effects)):
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
    "is_amount",
    "is_json",
    "run_end",
    "skipped",
    "unknown",
    "words_of",
]
