"""Every error Condor raises, split by whose fault it is.

::

    CondorError
    ├── RefusedInput            the caller's input; nothing was stored
    │   ├── PlanRefused         a plan that cannot be read or compiled
    │   ├── RequestNotUnderstood  the planner has no plan for these words
    │   │   └── ModelUnavailable  the model that plans cannot be asked, or gave nothing to use
    │   ├── UnknownId           a run, card, tool or user that does not exist (for this caller)
    │   ├── NotAllowed          a principal without the right for this
    │   └── RegistrationRefused a tool that cannot be registered
    ├── AnswerRefused           an answer to a card that does not count; the card is as it was
    │   ├── RunNotSuspendedError  the run waits for nothing
    │   ├── AlreadyDecided      somebody else's answer won
    │   ├── StaleSuspension     what was shown is no longer what would run
    │   ├── SuspensionExpired   the deadline has passed
    │   ├── NotAnApprover       the principal may not answer this card
    │   ├── NotEditable         the call on the card may not be edited
    │   └── AnswerInvalid       the answer does not have the card's shape
    │       └── EditInvalid     the edit is none that the card takes
    ├── ToolError               a tool says that it failed (raised by tool authors)
    ├── HomeUnusable            the environment: lock, permissions, a newer schema
    │   └── RecordDamaged       a stored row that only something else can have written
    ├── StoreUnavailable        the store did not take the transaction; nothing of it is there
    └── OurBug                  an invariant of Condor does not hold
        ├── LeafContractError   a leaf returned something that is not a leaf outcome
        └── TransitionRefused   a run transition that RUN_TRANSITIONS does not have

``code`` is stable and is what programs read; the message is one lower-case line that says what
was wrong, where, and what to do. Foreign values are quoted with ``show``.
"""

from __future__ import annotations

from typing import ClassVar, Literal

#: Longest foreign value quoted in a message, in characters: enough to recognise it.
_QUOTED_CHARS_MAX = 80


def show(value: object) -> str:
    """A foreign value, quoted, escaped to printable ASCII and cut: safe in a log or terminal."""
    text = ascii(value)
    return text if len(text) <= _QUOTED_CHARS_MAX else text[: _QUOTED_CHARS_MAX - 1] + "…"


class CondorError(Exception):
    """The root: anything Condor raises on purpose."""

    #: Stable word for programs; each subclass or instance sets its own.
    code: str = "error"
    #: Whether the same call may succeed later without a change.
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class RefusedInput(CondorError):
    """The caller's input is wrong; nothing was stored."""

    code = "invalid_input"


class PlanRefused(RefusedInput):
    """A plan that cannot be read or compiled; ``path`` is a JSON pointer to the place."""

    code = "invalid_plan"

    def __init__(self, message: str, *, path: str = "", code: str | None = None) -> None:
        super().__init__(f"{message} (at {path or 'the top'})", code=code)
        self.path = path


class RequestNotUnderstood(RefusedInput):
    """The planner has no plan for this request; the message says what it can do."""

    code = "request_not_understood"


class ModelUnavailable(RequestNotUnderstood):
    """The model cannot be asked, or gave no answer that can be used; nothing is guessed in its place."""

    code = "model_unavailable"


class UnknownId(RefusedInput):
    """No such run, card, tool or user, or none that this caller may see."""

    code = "not_found"

    def __init__(self, kind: str, given: object, hint: str = "") -> None:
        super().__init__(f"no {kind} {show(given)}{': ' + hint if hint else ''}")
        self.kind = kind


class NotAllowed(RefusedInput):
    """The principal may not do this at all."""

    code = "forbidden"


class RegistrationRefused(RefusedInput):
    """A tool descriptor that contradicts itself or another one."""

    code = "registration_refused"


class AnswerRefused(CondorError):
    """An answer that does not count; the card and the run are as they were."""

    code = "answer_refused"


class RunNotSuspendedError(AnswerRefused):
    """The run waits for nothing."""

    code = "run_not_suspended"


class AlreadyDecided(AnswerRefused):
    """Another answer won the compare-and-set."""

    code = "already_decided"

    def __init__(self, *, decision: str, decided_by: str, decided_at: str) -> None:
        super().__init__(f"already {decision} by {decided_by} at {decided_at}; your answer changed nothing")
        self.decision = decision
        self.decided_by = decided_by
        self.decided_at = decided_at


class StaleSuspension(AnswerRefused):
    """What was shown is no longer what would run; ``cause`` says why."""

    code = "stale_suspension"

    def __init__(self, cause: str, *, next_suspend_id: str | None = None) -> None:
        follow = f"; answer the new card {next_suspend_id}" if next_suspend_id else ""
        super().__init__(f"the card is stale: {cause}; nothing ran{follow}")
        self.cause = cause
        self.next_suspend_id = next_suspend_id


class SuspensionExpired(AnswerRefused):
    """The deadline has passed; the call was not run."""

    code = "expired"


class NotAnApprover(AnswerRefused):
    """The principal may not answer this card."""

    code = "not_an_approver"


class AnswerInvalid(AnswerRefused):
    """The answer does not have the card's shape; the run stays suspended."""

    code = "invalid_answer"

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(f"{message}{f' (at {path})' if path else ''}; the card stays open")
        #: What is wrong, without the place.
        self.why = message
        self.path = path


class NotEditable(AnswerRefused):
    """Nothing of this card may be edited."""

    code = "not_editable"


class EditInvalid(AnswerInvalid):
    """The edit is none that the card takes; the card stays as it was."""

    code = "invalid_edit"


class ToolError(CondorError):
    """A tool says that it failed.

    Args:
        retryable: the same call may succeed later.
        effect: ``none`` when the tool is sure that nothing was written, ``unknown`` otherwise.
            Only a proven absence may be repeated or substituted.
    """

    code = "tool_error"

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        effect: Literal["none", "unknown"] = "unknown",
        code: str | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.may_retry = retryable
        self.effect: Literal["none", "unknown"] = effect


class RecordMoved(ToolError):
    """The record changed since the card was shown; nothing was written. The step asks again."""

    code = "record_moved"

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False, effect="none")


class HomeUnusable(CondorError):
    """The environment is in the way: a lock, permissions, or a database of a newer version."""

    code = "environment"


class RecordDamaged(HomeUnusable):
    """A stored row that no Condor writes: something else changed the database."""

    code = "damaged"

    def __init__(self, run_id: object, what: str) -> None:
        super().__init__(
            f"run {run_id}: {what}; the database was changed by something else than Condor: "
            "run `condor audit verify`, and take a backup's copy"
        )
        self.run_id = run_id


class StoreUnavailable(CondorError):
    """The store did not take the transaction: nothing of it is there."""

    code = "store_unavailable"
    retryable = True
    #: Its connection was lost and did not come back: it may be there all the same, and is not sent again.
    in_doubt = False


class OurBug(CondorError):
    """An invariant of Condor does not hold. Please report it with the run id."""

    code = "bug"


class LeafContractError(OurBug):
    """A leaf returned something that is not a leaf outcome; never a silent failure."""

    code = "leaf_contract"


class TransitionRefused(OurBug):
    """A transition that the run table does not have."""

    code = "transition_refused"
