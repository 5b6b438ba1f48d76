"""Rules of write profiles about the course of things: what is before what, and what is still to come; pure.

Rule 1: where two dates of one resource can be told apart, the later one is later.
Rule 2: what was done or measured was not done in the far future of the day that is handed in. A year is left
to clocks and time zones.
Each rule yields issues; its key is the official one (app-4, inv-1, pat-1) where there is one.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from condor_hms.fhir.elements import elements_at
from condor_hms.fhir.errors import Issue
from condor_hms.fhir.search_values import date_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from condor_hms.fhir.port import Resource

__all__ = ["course_issues"]

#: R4 value set administrative-gender.
_GENDERS = ("male", "female", "other", "unknown")
_SLACK = datetime.timedelta(days=366)


def not_before(earlier: str, later: str, rule: str) -> Callable[[Resource], Iterator[Issue]]:
    """One element is not before another, as far as both are dates."""

    def check(resource: Resource) -> Iterator[Issue]:
        first, last = date_range(str(resource.get(earlier, ""))), date_range(str(resource.get(later, "")))
        if first is not None and last is not None and last[1] < first[0]:
            kind = resource["resourceType"]
            yield Issue(path=f"{kind}.{later}", rule=rule, message=f"it is before {earlier}")

    return check


def _far_ahead(resource: Resource, paths: Iterable[str], today: datetime.date) -> Iterator[Issue]:
    """What has happened is not in the far future."""
    latest = (today + _SLACK).isoformat()
    for path in paths:
        for place, when in elements_at(resource, path):
            if isinstance(when, str) and when[:10] > latest:
                message = "it is more than a year ahead: what was done or measured has happened"
                yield Issue(path=place, rule="future", message=message)


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


def course_issues(resource: Resource, today: datetime.date) -> Iterator[Issue]:
    """What in the resource cannot be as the course of things, on the day on which it is written."""
    kind = resource["resourceType"]
    for rule in _RULES.get(kind, ()):
        yield from rule(resource)
    yield from _far_ahead(resource, _HAPPENED.get(kind, ()), today)


#: By type; types without a write profile too.
_RULES: dict[str, tuple[Callable[[Resource], Iterator[Issue]], ...]] = {
    "Appointment": (cancelled_for_a_reason,),
    "Communication": (not_before("sent", "received", "order"),),
    "Condition": (not_before("onsetDateTime", "abatementDateTime", "order"),),
    "Invoice": (never_less_than_nothing,),
    "Patient": (
        genders_are_known,
        contacts_say_who,
        not_before("birthDate", "deceasedDateTime", "order"),
    ),
    "Practitioner": (genders_are_known,),
    "RelatedPerson": (genders_are_known,),
    "Task": (not_before("authoredOn", "lastModified", "inv-1"),),
}
#: Type → elements that say when something was done, measured or written down.
_HAPPENED: dict[str, tuple[str, ...]] = {
    "AllergyIntolerance": ("onsetDateTime", "recordedDate", "lastOccurrence"),
    "ChargeItem": ("occurrenceDateTime", "enteredDate"),
    "Communication": ("sent", "received"),
    "Condition": ("onsetDateTime", "abatementDateTime", "recordedDate"),
    "DiagnosticReport": ("effectiveDateTime", "issued"),
    "DocumentReference": ("date",),
    "Immunization": ("occurrenceDateTime", "recorded"),
    "Invoice": ("date",),
    "MedicationRequest": ("authoredOn",),
    "MedicationStatement": ("effectiveDateTime", "dateAsserted"),
    "Observation": ("effectiveDateTime", "effectivePeriod.start", "issued"),
    "Patient": ("birthDate", "deceasedDateTime"),
    "Procedure": ("performedDateTime", "performedPeriod.start"),
    "Task": ("authoredOn", "lastModified"),
}
