"""What every tool stands on: the open record, the alert rules, the day; and reading with honest errors.

Rule: a refusal of the record becomes a ``ToolError`` that says what was not done. Only what surely wrote
nothing says ``effect="none"``.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor import ToolError
from condor_hms.fhir.errors import FhirError, NotFound, Unavailable

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from condor_hms.alerts import Rules
    from condor_hms.fhir.port import FhirStore, Resource
    from condor_hms.outbox.channel import Channel

__all__ = ["Hospital", "reading", "reference_of", "require", "require_patient", "version_of"]

#: FHIR R4 ids are 1 to 64 of these.
_REFERENCE = re.compile(r"([A-Z][A-Za-z]{2,63})/[A-Za-z0-9\-.]{1,64}")
#: Foreign text quoted in a message is cut to this many characters.
_QUOTED_CHARS_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Hospital:
    """The open record and what is known beside it; every tool is made over one."""

    #: The record.
    fhir: FhirStore
    #: The rules that alerts are computed by.
    rules: Rules
    #: The day of the record: ages, date bounds, dates of what is written.
    today: datetime.date
    #: That day does not pass: a demonstration's. What is later on it than the clock's time is not to come.
    day_stands: bool = False
    #: Who carries messages, by channel; a message of a channel that is not here waits in the outbox.
    channels: Mapping[str, Channel] = field(default_factory=dict)
    #: The folder that reports are written to; None: there is none, and none is made.
    reports: Path | None = None


@contextmanager
def reading() -> Iterator[None]:
    """Turn what the record store says into what a tool says; nothing is written inside."""
    try:
        yield
    except NotFound as error:
        raise ToolError(
            f"{error.reference} is not in the record", effect="none", code="not_in_record"
        ) from error
    except Unavailable as error:
        raise ToolError(
            f"the record did not answer ({error.reason}); nothing was written",
            retryable=True,
            effect="none",
            code="record_unavailable",
        ) from error
    except FhirError as error:
        raise ToolError(str(error), effect="none", code="record_refused") from error


async def require(hospital: Hospital, reference: object, resource_type: str) -> Resource:
    """The resource of a ``Type/id`` of this type.

    Raises:
        ToolError: it is no such reference, or nothing in the record has it.
    """
    match = _REFERENCE.fullmatch(reference) if isinstance(reference, str) else None
    if match is None or match.group(1) != resource_type:
        quoted = ascii(reference)[:_QUOTED_CHARS_MAX]
        raise ToolError(
            f"{quoted} does not name a {resource_type}: give {resource_type}/id; nothing was written",
            effect="none",
            code="bad_reference",
        )
    with reading():
        return await hospital.fhir.read(match.group(0))


async def require_patient(hospital: Hospital, reference: object) -> Resource:
    """The patient of a ``Patient/id``; see ``require``."""
    return await require(hospital, reference, "Patient")


def reference_of(resource: Resource) -> str:
    """``Type/id``."""
    return f"{resource['resourceType']}/{resource['id']}"


def version_of(resource: Resource) -> str:
    """The version the store keeps it under."""
    return str((resource.get("meta") or {}).get("versionId", ""))
