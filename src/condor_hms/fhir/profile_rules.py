"""The rules of write profiles that need code: invariants of FHIR R4 and musts of ours; pure.

Each rule yields issues; its key is the official one (ait-1, tim-2, qty-3, per-1) where there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.fhir.elements import codings, concept_code, elements_at
from condor_hms.fhir.errors import Issue
from condor_hms.fhir.search_values import date_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from condor_hms.fhir.port import Resource

__all__ = ["CREATE_RULES", "RULES", "VITAL_UNITS"]

_CONDITION = "http://terminology.hl7.org/CodeSystem/condition-"
_VERIFICATION = "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification"
_LOINC = "http://loinc.org"
_PRESSURE, _RATE, _LENGTH, _WEIGHT = ("mm[Hg]",), ("/min",), ("cm", "[in_i]"), ("g", "kg", "[lb_av]")
#: UCUM units by the LOINC code of a vital sign.
VITAL_UNITS: dict[str, tuple[str, ...]] = {
    "8480-6": _PRESSURE,
    "8462-4": _PRESSURE,
    "8478-0": _PRESSURE,
    "8867-4": _RATE,
    "9279-1": _RATE,
    "8310-5": ("Cel", "[degF]"),
    "8302-2": _LENGTH,
    "9843-4": _LENGTH,
    "29463-7": _WEIGHT,
    "39156-5": ("kg/m2",),
    "2708-6": ("%",),
    "59408-5": ("%",),
}
#: UCUM codes of time, length, temperature, pressure and rate.
_NO_AMOUNT_NAMES = "s min h d wk mo a m cm mm km Cel K [degF] mm[Hg] Pa kPa /min /h Hz"
_NO_AMOUNTS = frozenset(_NO_AMOUNT_NAMES.split())
#: Units of an antibiotic or an antivenom come to millions; nothing comes to a thousand of them.
_DOSE_MAX = 1e9
#: Intents of MedicationRequest that tell somebody to give a medicine.
_ORDERS = frozenset({"order", "original-order", "reflex-order", "filler-order", "instance-order"})


def allergy_status(resource: Resource) -> Iterator[Issue]:
    """ait-1 and ait-2: an allergy has a clinical status, but none once it was entered in error."""
    in_error = concept_code(resource.get("verificationStatus"), _VERIFICATION) == "entered-in-error"
    path = "AllergyIntolerance.clinicalStatus"
    if not in_error and "clinicalStatus" not in resource:
        yield Issue(
            path=path, rule="ait-1", message="it is required unless verificationStatus is entered-in-error"
        )
    if in_error and "clinicalStatus" in resource:
        yield Issue(path=path, rule="ait-2", message="leave it out: the allergy is entered-in-error")


def dose_is_a_dose(resource: Resource) -> Iterator[Issue]:
    """Ours: a dose is a positive number; to be given, it has a unit: a bare number could be mg or tablets."""
    is_order = resource["resourceType"] == "MedicationRequest"
    to_be_given = is_order and resource.get("status") in ("draft", "active", "on-hold")
    dosage = "dosageInstruction" if is_order else "dosage"
    for place, quantity in elements_at(resource, f"{dosage}.doseAndRate.doseQuantity"):
        value = quantity.get("value")
        if value is None or value <= 0:
            yield Issue(path=f"{place}.value", rule="dose", message="a dose is a number above 0: give it")
        if value is not None and value > _DOSE_MAX:
            message = "no dose is that large: check the number and its unit"
            yield Issue(path=f"{place}.value", rule="dose", message=message)
        if quantity.get("code") in _NO_AMOUNTS:
            message = f"{quantity['code']!r:.80} is no amount of a medicine"
            yield Issue(path=f"{place}.code", rule="dose", message=message)
        if to_be_given and "unit" not in quantity and "code" not in quantity:
            yield Issue(path=f"{place}.unit", rule="dose", message="a dose has a unit: give it")


def never_negative(*paths: str) -> Callable[[Resource], Iterator[Issue]]:
    """Ours: what is handed out, given or charged is an amount, and no debt."""

    def rule(resource: Resource) -> Iterator[Issue]:
        for path in paths:
            for place, quantity in elements_at(resource, path):
                if quantity.get("value", 0) < 0:
                    yield Issue(path=f"{place}.value", rule="quantity", message="it is not negative")

    return rule


def agents_are_named(resource: Resource) -> Iterator[Issue]:
    """Ours: whoever acted or signed is named by a reference, an identifier or a display."""
    for path in ("agent.who", "signature.who"):
        for place, who in elements_at(resource, path):
            if not who.keys() & {"reference", "identifier", "display"}:
                yield Issue(
                    path=place, rule="required", message="name who it was: reference, identifier or display"
                )


def new_order_is_complete(resource: Resource) -> Iterator[Issue]:
    """Ours: a new active order says who gives it and how it is taken; nothing of that is ever defaulted."""
    if resource.get("status") != "active" or resource.get("intent") not in _ORDERS:
        return
    if "requester" not in resource:
        yield Issue(
            path="MedicationRequest.requester", rule="required", message="an order names who gives it"
        )
    dosage = resource.get("dosageInstruction", [])
    if not any(item.keys() & {"text", "doseAndRate", "patientInstruction"} for item in dosage):
        message = "an active order says how the medicine is taken: give a dose or a text"
        yield Issue(path="MedicationRequest.dosageInstruction", rule="required", message=message)


def new_request_is_complete(resource: Resource) -> Iterator[Issue]:
    """Ours: a new active order says who gives it and for what day or since when it stands."""
    if resource.get("status") != "active" or resource.get("intent") not in _ORDERS:
        return
    for name in ("requester", "authoredOn"):
        if name not in resource:
            yield Issue(
                path=f"ServiceRequest.{name}",
                rule="required",
                message="an order names who gives it, and when",
            )


def appointment_holds(resource: Resource) -> Iterator[Issue]:
    """app-1 to app-3 of R4: somebody takes part, start and end go together, and a booked one has both."""
    for place, participant in elements_at(resource, "participant"):
        if not participant.keys() & {"type", "actor"}:
            yield Issue(path=place, rule="app-1", message="name an actor or a type")
    both = {"start", "end"} & resource.keys()
    if len(both) == 1:
        yield Issue(path="Appointment", rule="app-2", message="start and end go together")
    if not both and resource.get("status") not in ("proposed", "cancelled", "waitlist"):
        yield Issue(path="Appointment.start", rule="app-3", message="this status needs start and end")


def ends_after_it_starts(resource: Resource) -> Iterator[Issue]:
    """Ours: what has a start and an end on itself ends later."""
    start, end = date_range(resource.get("start", "")), date_range(resource.get("end", ""))
    if start is not None and end is not None and end[1] <= start[0]:
        path = f"{resource['resourceType']}.end"
        yield Issue(path=path, rule="per-1", message="it is not after the start")


def task_says_what_to_do(resource: Resource) -> Iterator[Issue]:
    """Ours: a task has a description or a code; an empty one reaches nobody."""
    if not str(resource.get("description", "")).strip() and not says_something(resource.get("code")):
        yield Issue(path="Task.description", rule="required", message="say what is to be done")


def nothing_changes_the_meaning(resource: Resource) -> Iterator[Issue]:
    """R4: whoever does not understand a modifier must not act on the resource; this record knows none."""
    for name in ("modifierExtension", "implicitRules"):
        if name in resource:
            message = "this record does not understand it, and it may change what the resource means"
            yield Issue(path=f"{resource['resourceType']}.{name}", rule="modifier", message=message)


def condition_status(resource: Resource) -> Iterator[Issue]:
    """con-4 and con-5, and ours: a problem has a clinical status unless it was entered in error."""
    in_error = (
        concept_code(resource.get("verificationStatus"), f"{_CONDITION}ver-status") == "entered-in-error"
    )
    clinical = concept_code(resource.get("clinicalStatus"), f"{_CONDITION}clinical")
    path = "Condition.clinicalStatus"
    if in_error and "clinicalStatus" in resource:
        yield Issue(path=path, rule="con-5", message="leave it out: the problem is entered-in-error")
    if not in_error and "clinicalStatus" not in resource:
        message = "it is required unless verificationStatus is entered-in-error"
        yield Issue(path=path, rule="con-3", message=message)
    ended = [name for name in resource if name.startswith("abatement")]
    if ended and not in_error and clinical not in ("inactive", "remission", "resolved"):
        message = "a problem that has ended is inactive, in remission or resolved"
        yield Issue(path=path, rule="con-4", message=message)


def detail_or_reference(resource: Resource) -> Iterator[Issue]:
    """cpl-3, and ours: an activity is told in place or by reference, not both and not neither."""
    for place, activity in elements_at(resource, "activity"):
        if {"detail", "reference"} <= activity.keys():
            yield Issue(path=place, rule="cpl-3", message="give either detail or reference")
    for place, detail in elements_at(resource, "activity.detail"):
        if not (says_something(detail.get("code")) or str(detail.get("description", "")).strip()):
            yield Issue(path=f"{place}.description", rule="required", message="say what is to be done")


def observation_holds(resource: Resource) -> Iterator[Issue]:
    """obs-6 and obs-7, and ours: a quantity has a number and a unit."""
    values = [name for name in resource if name.startswith("value")]
    if values and "dataAbsentReason" in resource:
        path = "Observation.dataAbsentReason"
        yield Issue(path=path, rule="obs-6", message="leave it out: there is a value")
    own = {(part.get("system"), part.get("code")) for part in codings(resource.get("code"))}
    for place, concept in elements_at(resource, "component.code"):
        if values and own & {(part.get("system"), part.get("code")) for part in codings(concept)}:
            message = "a component cannot have the code of the whole where the whole has a value"
            yield Issue(path=place, rule="obs-7", message=message)
    for path in ("valueQuantity", "component.valueQuantity"):
        for place, quantity in elements_at(resource, path):
            if "value" not in quantity:
                yield Issue(
                    path=f"{place}.value", rule="quantity", message="a quantity has a number: give it"
                )


def vital_signs_have_their_units(resource: Resource) -> Iterator[Issue]:
    """The units that R4's vital sign profiles allow (http://hl7.org/fhir/R4/observation-vitalsigns.html)."""
    parts = [(resource["resourceType"], resource)]
    parts += list(elements_at(resource, "component"))
    for place, part in parts:
        quantity = part.get("valueQuantity", {})
        allowed = VITAL_UNITS.get(concept_code(part.get("code"), _LOINC) or "")
        if allowed is not None and allowed[0] != "Cel" and quantity.get("value", 0) < 0:
            message = "this measurement is not negative"
            yield Issue(path=f"{place}.valueQuantity.value", rule="quantity", message=message)
        if allowed is not None and "code" in quantity and quantity["code"] not in allowed:
            message = f"{quantity['code']!r:.80} is no unit of this measurement: give {' or '.join(allowed)}"
            yield Issue(path=f"{place}.valueQuantity.code", rule="vital-sign-unit", message=message)


def components_agree_with_themselves(resource: Resource) -> Iterator[Issue]:
    """Ours, as obs-6 is for the whole: a component has a value or a reason why it has none."""
    for place, part in elements_at(resource, "component"):
        if "dataAbsentReason" in part and any(name.startswith("value") for name in part):
            path = f"{place}.dataAbsentReason"
            yield Issue(path=path, rule="obs-6", message="leave it out: there is a value")


def new_result_says_something(resource: Resource) -> Iterator[Issue]:
    """Ours: a new result is somebody's; a final one has a value, parts, or a reason why it has none."""
    if "subject" not in resource:
        yield Issue(path="Observation.subject", rule="required", message="say whose it is: give Patient/id")
    has_value = any(name.startswith("value") for name in resource)
    parts = resource.keys() & {"component", "hasMember", "dataAbsentReason"}
    if resource.get("status") in ("final", "amended", "corrected") and not has_value and not parts:
        message = "a result has a value, components, members, or a reason why it has none"
        yield Issue(path="Observation.value[x]", rule="required", message=message)


def ranges_say_something(resource: Resource) -> Iterator[Issue]:
    """obs-3: a reference range has low, high or text."""
    for path in ("referenceRange", "component.referenceRange"):
        for place, limits in elements_at(resource, path):
            if not limits.keys() & {"low", "high", "text"}:
                yield Issue(path=place, rule="obs-3", message="give low, high or text")


def stages_and_evidence_say_something(resource: Resource) -> Iterator[Issue]:
    """con-1 and con-2: a stage has a summary or an assessment, evidence has a code or a detail."""
    for rule, path, needed in (
        ("con-1", "stage", ("summary", "assessment")),
        ("con-2", "evidence", ("code", "detail")),
    ):
        for place, part in elements_at(resource, path):
            if not part.keys() & set(needed):
                yield Issue(path=place, rule=rule, message=f"give {' or '.join(needed)}")


def education_is_named(resource: Resource) -> Iterator[Issue]:
    """imm-1: education material has a type or an address."""
    for place, education in elements_at(resource, "education"):
        if not education.keys() & {"documentType", "reference"}:
            yield Issue(path=place, rule="imm-1", message="give documentType or reference")


def document_has_content(resource: Resource) -> Iterator[Issue]:
    """Ours: a document that stands has content: text in place, or where it is."""
    if resource.get("status") == "entered-in-error":
        return
    for place, attachment in elements_at(resource, "content.attachment"):
        if not attachment.keys() & {"data", "url"}:
            yield Issue(path=place, rule="required", message="a document has its data, or the url of it")


def new_document_says_what_it_is(resource: Resource) -> Iterator[Issue]:
    """Ours: a new document has a type and somebody whom it is about."""
    for name in ("type", "subject"):
        if name not in resource:
            message = "a document says what it is and whom it is about"
            yield Issue(path=f"DocumentReference.{name}", rule="required", message=message)


def message_has_text(resource: Resource) -> Iterator[Issue]:
    """Ours: a message that is on its way says something to somebody."""
    if resource.get("status") not in ("preparation", "in-progress", "completed"):
        return
    for name in ("recipient", "payload"):
        if name not in resource:
            yield Issue(
                path=f"Communication.{name}", rule="required", message="a message says something to somebody"
            )


def invoice_is_clear(resource: Resource) -> Iterator[Issue]:
    """Ours: amounts have a currency, and a cancelled invoice says why."""
    if resource.get("status") == "cancelled" and not str(resource.get("cancelledReason", "")).strip():
        yield Issue(path="Invoice.cancelledReason", rule="required", message="say why it was cancelled")
    for path in ("totalNet", "totalGross", "lineItem.priceComponent.amount"):
        for place, money in elements_at(resource, path):
            if "value" in money and "currency" not in money:
                yield Issue(
                    path=f"{place}.currency", rule="money", message="an amount has a currency: give it"
                )


def invoice_is_in_one_currency(resource: Resource) -> Iterator[Issue]:
    """Ours: amounts that are added up are in one currency."""
    first = None
    for path in ("lineItem.priceComponent.amount", "totalPriceComponent.amount", "totalNet", "totalGross"):
        for place, money in elements_at(resource, path):
            currency = money.get("currency")
            first = first or currency
            if currency != first:
                message = f"it is in {currency}, and the invoice is in {first}"
                yield Issue(path=f"{place}.currency", rule="money", message=message)


def name_or_query(resource: Resource) -> Iterator[Issue]:
    """sev-1: what an event is about is named or queried."""
    for place, entity in elements_at(resource, "entity"):
        if {"name", "query"} <= entity.keys():
            yield Issue(path=place, rule="sev-1", message="give either name or query")


def says_something(concept: Any) -> bool:
    """Whether a CodeableConcept has a text, a code or a display."""
    if not isinstance(concept, dict):
        return False
    return "text" in concept or any(coding.keys() & {"code", "display"} for coding in codings(concept))


#: By type: hold for every version that is written.
RULES: dict[str, tuple[Callable[[Resource], Iterator[Issue]], ...]] = {
    "AllergyIntolerance": (nothing_changes_the_meaning, allergy_status),
    "Appointment": (nothing_changes_the_meaning, appointment_holds, ends_after_it_starts),
    "AuditEvent": (nothing_changes_the_meaning, name_or_query),
    "CarePlan": (nothing_changes_the_meaning, detail_or_reference),
    "ChargeItem": (nothing_changes_the_meaning, never_negative("quantity")),
    "Communication": (nothing_changes_the_meaning,),
    "Condition": (nothing_changes_the_meaning, condition_status, stages_and_evidence_say_something),
    "DocumentReference": (nothing_changes_the_meaning, document_has_content),
    "Flag": (nothing_changes_the_meaning,),
    "Immunization": (nothing_changes_the_meaning, education_is_named, never_negative("doseQuantity")),
    "Invoice": (nothing_changes_the_meaning, invoice_is_clear, invoice_is_in_one_currency),
    "MedicationRequest": (
        nothing_changes_the_meaning,
        dose_is_a_dose,
        never_negative("dispenseRequest.quantity", "dispenseRequest.initialFill.quantity"),
    ),
    "MedicationStatement": (nothing_changes_the_meaning, dose_is_a_dose),
    "Observation": (
        nothing_changes_the_meaning,
        observation_holds,
        ranges_say_something,
        vital_signs_have_their_units,
        components_agree_with_themselves,
    ),
    "Provenance": (nothing_changes_the_meaning, agents_are_named),
    "ServiceRequest": (nothing_changes_the_meaning,),
    "Slot": (nothing_changes_the_meaning, ends_after_it_starts),
    "Task": (nothing_changes_the_meaning, task_says_what_to_do),
}

#: By type: hold only for the first version; what was loaded without it may still be stopped.
CREATE_RULES: dict[str, tuple[Callable[[Resource], Iterator[Issue]], ...]] = {
    "Communication": (message_has_text,),
    "DocumentReference": (new_document_says_what_it_is,),
    "MedicationRequest": (new_order_is_complete,),
    "Observation": (new_result_says_something,),
    "ServiceRequest": (new_request_is_complete,),
}
