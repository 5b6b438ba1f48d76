"""Recording a vaccination that was given.

Rule: the same vaccine on the same day is recorded once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor import ArgSpec, ToolDescriptor, ToolError
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.plausible import refuse_before_birth
from condor_hms.catalogue.record_write import Call, Composed, record_write
from condor_hms.catalogue.specs import code_arg, date_arg, patient_arg
from condor_hms.catalogue.words import concept_text, day
from condor_hms.catalogue.writing import identified, person, record_time

if TYPE_CHECKING:
    from condor_hms.fhir.port import Resource

__all__ = ["immunization_tools"]

#: CVX code → label.
_VACCINES = {
    "140": "Influenza",
    "208": "COVID-19 mRNA",
    "33": "Pneumococcal PPV23",
    "113": "Td",
    "187": "Zoster recombinant",
}
_SITES = {"LA": "Left arm", "RA": "Right arm", "LT": "Left thigh", "RT": "Right thigh"}
_CVX, _ACT_SITE = "http://hl7.org/fhir/sid/cvx", "http://terminology.hl7.org/CodeSystem/v3-ActSite"


def immunization_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``immunization.record`` over an open record."""
    return (
        record_write(
            hospital,
            "immunization.record",
            _record,
            title="Record a vaccination",
            noun="the vaccination entry",
            roles={"doctor", "nurse"},
            creates="Immunization",
            editable={"given_on", "lot", "site"},
            args=(
                patient_arg(),
                code_arg("vaccine", "Vaccine", _VACCINES, required=True, radio=False),
                date_arg("given_on", "Given on", "today-10y", "today", required=True),
                ArgSpec(name="lot", label="Lot number", type="string"),
                code_arg("site", "Site", _SITES),
            ),
        ),
    )


async def _record(call: Call) -> Composed:
    """Record a vaccination that was given: vaccine, day, and lot and site where they are known."""
    who, code, given_on = await call.patient(), str(call.args["vaccine"]), str(call.args["given_on"])
    if code not in _VACCINES:
        raise ToolError(f"{code!a} is no vaccine of the list", effect="none", code="bad_vaccine")
    refuse_before_birth(who, given_on, "The vaccination")
    label, lot, site = _VACCINES[code], call.given("lot"), call.given("site")
    with reading():
        found = await call.hospital.fhir.search(
            "Immunization", {"patient": who["reference"], "vaccine-code": code, "date": given_on}
        )
    same = [
        row
        for row in found
        if row.get("status") == "completed" and not identified(row, call.ctx.idempotency_key)
    ]
    resource: Resource = {
        "resourceType": "Immunization",
        "status": "completed",
        "vaccineCode": {"coding": [{"system": _CVX, "code": code, "display": label}], "text": label},
        "patient": {"reference": who["reference"]},
        "occurrenceDateTime": given_on,
        "recorded": record_time(call.hospital, call.ctx),
        "primarySource": True,
        "performer": [{"actor": await person(call.hospital, call.ctx.principal)}],
    }
    if lot:
        resource["lotNumber"] = lot
    if site:
        resource["site"] = {
            "coding": [{"system": _ACT_SITE, "code": site, "display": _SITES[site]}],
            "text": _SITES[site],
        }
    parts = [
        f"on {day(given_on)}",
        *([f"lot {lot}"] if lot else []),
        *([_SITES[site].lower()] if site else []),
    ]
    words = f"{label} {', '.join(parts)}"
    known = (
        f"already on record: {reference_of(same[0])}, {concept_text(same[0].get('vaccineCode'))}"
        if same
        else ""
    )
    return Composed(
        subject=who,
        summary=f"Record the vaccination {words}",
        done=f"Vaccination recorded: {words}",
        new=[resource],
        after={"vaccination": words},
        known=known,
        facts={"vaccine": label},
    )
