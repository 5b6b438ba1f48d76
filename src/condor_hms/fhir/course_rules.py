"""Rules of write profiles about the course of things: what is before what, and what is still to come; pure.

Rule 1: where two dates of one resource can be told apart, the later one is later.
Rule 2: what was done or measured was not done in the far future. A year is left to clocks, time zones and
demonstration records, whose day stands.
Each rule yields issues; its key is the official one (app-4, inv-1, pat-1) where there is one.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from condor_hms.fhir.elements import elements_at
from condor_hms.fhir.errors import Issue
from condor_hms.fhir.search_values import date_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from condor_hms.fhir.port import Resource

__all__ = ["COURSE_RULES"]

#: R4 value set administrative-gender.
_GENDERS = ("male", "female", "other", "unknown")
_SLACK = datetime.timedelta(days=366)
#: The demonstration's day may be ahead of a clock that is behind it.
_EARLIEST_NOW = datetime.date(2026, 12, 31)


def not_before(earlier: str, later: str, rule: str) -> Callable[[Resource], Iterator[Issue]]:
    """One element is not before another, as far as both are dates."""

    def check(resource: Resource) -> Iterator[Issue]:
        first, last = date_range(str(resource.get(earlier, ""))), date_range(str(resource.get(later, "")))
        if first is not None and last is not None and last[1] < first[0]:
            kind = resource["resourceType"]
            yield Issue(path=f"{kind}.{later}", rule=rule, message=f"it is before {earlier}")

    return check


def not_far_ahead(*paths: str) -> Callable[[Resource], Iterator[Issue]]:
    """What has happened is not in the far future."""

    def check(resource: Resource) -> Iterator[Issue]:
        today = max(datetime.datetime.now(datetime.UTC).date(), _EARLIEST_NOW)
        latest = (today + _SLACK).isoformat()
        for path in paths:
            for place, when in elements_at(resource, path):
                if isinstance(when, str) and when[:10] > latest:
                    message = "it is more than a year ahead: what was done or measured has happened"
                    yield Issue(path=place, rule="future", message=message)

    return check


def cancelled_for_a_reason(resource: Resource) -> Iterator[Issue]:
    """app-4: only an appointment that does not take place has a reason why it does not."""
    if "cancelationReason" in resource and resource.get("status") not in ("cancelled", "noshow"):
        message = "only a cancelled appointment, or one that nobody came to, has it"
        yield Issue(path="Appointment.cancelationReason", rule="app-4", message=message)


def contacts_say_who(resource: Resource) -> Iterator[Issue]:
    """pat-1: a contact of a patient has a name, an address, a telecom or an organization."""
    for place, contact in elements_at(resource, "contact"):
        if not contact.keys() & {"name", "telecom", "address", "organization"}:
            message = "give a name, a telecom, an address or an organization"
            yield Issue(path=place, rule="pat-1", message=message)


def genders_are_known(resource: Resource) -> Iterator[Issue]:
    """R4 binds the administrative gender to four codes."""
    for path in ("gender", "contact.gender"):
        for place, gender in elements_at(resource, path):
            if gender not in _GENDERS:
                message = f"{gender!r:.80} is not in the R4 value set administrative-gender: give one of "
                yield Issue(path=place, rule="value-set", message=message + ", ".join(_GENDERS))


def never_less_than_nothing(resource: Resource) -> Iterator[Issue]:
    """Ours: what an invoice comes to is not negative; what is given back is another invoice."""
    for path in ("totalNet", "totalGross"):
        for place, money in elements_at(resource, path):
            if money.get("value", 0) < 0:
                yield Issue(path=f"{place}.value", rule="money", message="a total is not negative")


#: By type; types without a write profile too.
COURSE_RULES: dict[str, tuple[Callable[[Resource], Iterator[Issue]], ...]] = {
    "AllergyIntolerance": (not_far_ahead("onsetDateTime", "recordedDate", "lastOccurrence"),),
    "Appointment": (cancelled_for_a_reason,),
    "ChargeItem": (not_far_ahead("occurrenceDateTime", "enteredDate"),),
    "Communication": (not_before("sent", "received", "order"), not_far_ahead("sent", "received")),
    "Condition": (
        not_before("onsetDateTime", "abatementDateTime", "order"),
        not_far_ahead("onsetDateTime", "abatementDateTime", "recordedDate"),
    ),
    "DiagnosticReport": (not_far_ahead("effectiveDateTime", "issued"),),
    "DocumentReference": (not_far_ahead("date"),),
    "Immunization": (not_far_ahead("occurrenceDateTime", "recorded"),),
    "Invoice": (never_less_than_nothing, not_far_ahead("date")),
    "MedicationRequest": (not_far_ahead("authoredOn"),),
    "MedicationStatement": (not_far_ahead("effectiveDateTime", "dateAsserted"),),
    "Observation": (not_far_ahead("effectiveDateTime", "effectivePeriod.start", "issued"),),
    "Patient": (
        genders_are_known,
        contacts_say_who,
        not_before("birthDate", "deceasedDateTime", "order"),
        not_far_ahead("birthDate", "deceasedDateTime"),
    ),
    "Practitioner": (genders_are_known,),
    "Procedure": (not_far_ahead("performedDateTime", "performedPeriod.start"),),
    "RelatedPerson": (genders_are_known,),
    "Task": (not_before("authoredOn", "lastModified", "inv-1"), not_far_ahead("authoredOn", "lastModified")),
}
