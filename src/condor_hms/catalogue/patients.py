"""Finding a patient: the step that everything else hangs on.

Rule 1: one person or none. More than one match, none, or one that fits only by the beginning of a word
or by a given name alone, is a question with two identifiers for each candidate.
Rule 2: an answer names a patient of the record, or it is asked again; nobody is chosen for the asker.
"""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, InputField, NeedInput, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import fold, identity, name_words
from condor_hms.catalogue.words import day

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["patient_tools"]

#: More candidates than a person can compare: the query is asked again instead.
_CANDIDATES_MAX = 20
#: Of a query only so much is quoted back.
_QUERY_CHARS_MAX = 80
#: A record number: letters, a hyphen, digits. Digits alone are a phone number from seven on.
_MRN = re.compile(r"[A-Za-z]{1,6}-\d{3,12}|\d{4,6}")
_PHONE = re.compile(r"\+?[\d() .-]{7,20}")


def patient_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``patient.search`` over an open record."""

    async def search_patient(
        ctx: ToolContext, query: str, birth_date: str | None = None
    ) -> dict[str, Any] | NeedInput:
        """Find one patient by name, record number (MRN) or phone, and by date of birth where it is given."""
        chosen = ctx.answers.get("patient")
        if isinstance(chosen, str):
            return await _chosen(hospital, chosen)
        asked = ctx.answers.get("query")
        wanted = asked if isinstance(asked, str) else query
        matches = await _matches(hospital, wanted, birth_date)
        if len(matches) == 1 and _is_certain(matches[0], wanted):
            return _found(hospital, matches[0])
        return _ask(hospital, wanted, birth_date, matches)

    return (
        tool(
            "patient.search",
            policy_class=PolicyClass.READ,
            title="Find a patient",
            description=search_patient.__doc__ or "",
            ops={"read"},
            roles=("doctor", "nurse", "pharmacist", "receptionist", "billing", "admin"),
            returns={"/patient/reference": "the patient, as every other tool takes it"},
            args=(
                ArgSpec(
                    name="query",
                    label="Name, MRN or phone",
                    type="string",
                    required=True,
                    hint={"min_length": 2},
                ),
                ArgSpec(
                    name="birth_date",
                    label="Date of birth",
                    type="date",
                    hint={"format": "date", "max": "today"},
                ),
            ),
            noun="the patient search",
            report=_report,
        )(search_patient),
    )


def _report(args: Mapping[str, Any], value: Any) -> str:
    return f"Patient: {value['patient']['text']}."


def _found(hospital: Hospital, patient: Resource) -> dict[str, Any]:
    return {"patient": identity(patient, hospital.today)}


async def _chosen(hospital: Hospital, reference: str) -> dict[str, Any] | NeedInput:
    """The patient a person picked, checked against the record."""
    try:
        return _found(hospital, await require_patient(hospital, reference))
    except ToolError as error:
        if error.code not in ("bad_reference", "not_in_record"):
            raise
        return NeedInput(fields=(_query_field(),), message="That patient is not in the record. Search again.")


async def _matches(hospital: Hospital, query: str, birth_date: str | None) -> list[Resource]:
    params = _search_params(query)
    if not params:
        return []
    if birth_date:
        params["birthdate"] = _iso_day(birth_date)
    with reading():
        return await hospital.fhir.search("Patient", params)


def _search_params(query: str) -> dict[str, str]:
    """A query as search parameters: a record number or phone number in it, and the words of a name."""
    if _PHONE.fullmatch(query.strip()) and sum(char.isdigit() for char in query) >= 7:
        return {"phone": query.strip()}
    words = fold(query).split()
    numbers = [word for word in words if _MRN.fullmatch(word)]
    name = " ".join(word for word in words if word not in numbers)
    if len(numbers) > 1:
        return {}
    params = {"identifier": numbers[0]} if numbers else {}
    return {**params, "name": name} if name else params


def _iso_day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except (ValueError, TypeError) as error:
        raise ToolError("the date of birth is not a date: give YYYY-MM-DD", effect="none") from error


def _is_certain(patient: Resource, query: str) -> bool:
    """Whether the query says who is meant: a number, or whole words of the name with the family name."""
    params = _search_params(query)
    if "identifier" in params or "phone" in params:
        return True
    whole, family = name_words(patient)
    words = set(params["name"].split())
    return words <= whole and bool(words & family)


def _ask(hospital: Hospital, query: str, birth_date: str | None, matches: Sequence[Resource]) -> NeedInput:
    said = f"“{query.strip()[:_QUERY_CHARS_MAX]}”" + (f", born {day(birth_date)}" if birth_date else "")
    if not matches:
        return NeedInput(
            fields=(_query_field(),),
            message=f"No patient matches {said}. Give the full name, the MRN or the phone number.",
        )
    if len(matches) > _CANDIDATES_MAX:
        return NeedInput(
            fields=(_query_field(),),
            message=f"{len(matches)} patients match {said}. Give the full name or the MRN.",
        )
    message = (
        f"{len(matches)} patients match {said}. Which one?"
        if len(matches) > 1
        else f"{said} is not a full name. Is this the patient?"
    )
    options: list[Any] = [
        {"value": reference_of(patient), "label": identity(patient, hospital.today)["text"]}
        for patient in sorted(matches, key=lambda patient: str(identity(patient, hospital.today)["text"]))
    ]
    field = InputField(
        name="patient", label="Patient", type="reference", hint={"enum": options, "radio": True}
    )
    return NeedInput(fields=(field,), message=message)


def _query_field() -> InputField:
    return InputField(name="query", label="Name, MRN or phone", type="string", hint={"min_length": 2})
