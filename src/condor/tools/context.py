"""What a tool is told about the call it serves, and what it may say when asked afterwards."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor.ports.faults import Faults, no_faults

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Json
    from condor.core.run import Principal


_BEGINNING = datetime.datetime.min.replace(tzinfo=datetime.UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One call, as a tool's function, preview and reconcile hooks see it."""

    run_id: str
    step_id: str
    attempt: int
    #: Who asked; the record's author.
    principal: Principal
    #: Who approved this call; None where no approval was needed.
    approved_by: Principal | None = None
    #: One effect, one key: the same over retries, re-asks and restarts. Empty for reads.
    idempotency_key: str = ""
    #: ``Type/id`` → version the approver saw; write only on these (``RecordMoved`` otherwise).
    record_versions: Mapping[str, str] = field(default_factory=dict)
    #: What a person answered to this tool's ``NeedInput``.
    answers: Mapping[str, Json] = field(default_factory=dict)
    #: Seconds (monotonic clock of the runtime) at which the call is given up.
    deadline: float = 0.0
    #: Wall time of the call.
    now: datetime.datetime = _BEGINNING
    #: The day of the record.
    today: datetime.date = datetime.date.min
    #: Named crash points; a no-op in production.
    faults: Faults = no_faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """A reconcile hook's answer: did the call of unknown outcome happen?"""

    #: None: the outside system cannot say; a person is asked.
    happened: bool | None
    #: The result the call would have returned, when it happened.
    value: Json = None
