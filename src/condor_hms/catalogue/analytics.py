"""Saved analyses over the whole record: fixed questions, read-only, answered without names.

Rule 1: a model chooses one of the list; it writes no query and no code.
Rule 2: what comes out is de-identified: a group of people and the numbers, under a label of this answer, one
for each patient.
Rule 3: a group fits at least three of those whom the analysis looked at. Where the finest groups do not, all
of an answer are widened alike: a single wide one would tell that its own group is small.
"""

from __future__ import annotations

import asyncio
import datetime
from collections import Counter
from typing import TYPE_CHECKING, Any

from condor import CardEvidence, PolicyClass, ToolContext, ToolDescriptor, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.medicine_list import ORDER_INTENTS
from condor_hms.catalogue.specs import code_arg, since_arg
from condor_hms.catalogue.terms import ingredient_key
from condor_hms.catalogue.words import amount, concept_text, day, order_name, plural, status_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["ANALYSES", "analytics_tools", "deidentified"]

ANALYSES: Mapping[str, str] = {
    "overdue-hba1c": "Overdue HbA1c",
    "high-potassium": "High potassium without recheck",
    "antibiotic-use": "Antibiotic use",
}
_HBA1C, _POTASSIUM = "4548-4", "2823-3"
_LOINC = "http://loinc.org"
#: A patient with diabetes is due after this many days (ADA Standards of Care: at least twice a year).
_HBA1C_DUE_DAYS = 183
#: mmol/L; the demonstration laboratory's upper limit.
_POTASSIUM_HIGH = 5.0
#: Days within which a high potassium is to be measured again.
_RECHECK_DAYS = 7
_COUNTED = frozenset({"final", "amended", "corrected", "preliminary"})
_ANTIBIOTICS = """
amoxicillin ampicillin azithromycin cefalexin ceftriaxone ciprofloxacin clarithromycin clindamycin
doxycycline erythromycin flucloxacillin gentamicin levofloxacin linezolid metronidazole nitrofurantoin
penicillin piperacillin trimethoprim vancomycin
"""
_TOLD_MAX = 5
#: Patients of the analysis that a group of people fits at least.
_GROUP_MIN = 3
#: From this age, in years, a person is of the older of two wide groups.
_OLDER = 65
#: Without a date the analysis looks this far back.
_DEFAULT_DAYS = 3650


def analytics_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``analytics.run`` over an open record."""

    async def run(_ctx: ToolContext, script: str, since: str | None = None) -> dict[str, Any]:
        """Run a saved analysis over the record: overdue HbA1c, high potassium, antibiotic use."""
        begin = since or (hospital.today - datetime.timedelta(days=_DEFAULT_DAYS)).isoformat()
        found = await _RUNS[script](hospital, begin)
        return {"analysis": ANALYSES[script], "since": begin, **found}

    async def show(_ctx: ToolContext, script: str, since: str | None = None) -> CardEvidence:
        when = f", since {day(since)}" if since else ""
        return CardEvidence(
            summary=f"Run the saved analysis “{ANALYSES[script]}”{when}",
            context=(
                {"label": "Reads", "text": _READS[script]},
                {
                    "label": "Gives",
                    "text": f"numbers, and groups of {_GROUP_MIN} patients or more; nobody's name or number",
                },
            ),
        )

    return (
        tool(
            "analytics.run",
            policy_class=PolicyClass.EXEC,
            title="Run a saved analysis",
            description=run.__doc__ or "",
            ops={"execute"},
            roles={"doctor", "admin", "auditor"},
            approver_roles={"doctor"},
            idempotent=True,
            ui_card=True,
            timeout_s=60.0,
            args=(code_arg("script", "Saved analysis", ANALYSES, required=True, radio=False), since_arg()),
            noun="the analysis",
            report=_report,
            preview=show,
        )(run),
    )


def _report(args: Mapping[str, Any], value: Any) -> str:
    said = "; ".join(str(row["text"]) for row in value["rows"][:_TOLD_MAX])
    more = f"; {value['count'] - _TOLD_MAX} more" if value["count"] > _TOLD_MAX else ""
    listed = f": {said}{more}" if said else ""
    count = plural(value["count"], "row")
    of = f" about {plural(value['patients'], 'patient')}" if value.get("patients") else ""
    note = f" {value['note']}" if value.get("note") else ""
    return f"Analysis run: {value['analysis']} since {day(value['since'])}: {count}{of}{listed}.{note}"


async def _people(hospital: Hospital) -> dict[str, Mapping[str, Any]]:
    """Patient → sex and age; it does not leave this module."""
    with reading():
        patients = await hospital.fhir.search("Patient", {})
    return {reference_of(patient): identity(patient, hospital.today) for patient in patients}


def _band(who: Mapping[str, Any]) -> str:
    sex = {"female": "woman", "male": "man"}.get(str(who["sex"]), "person")
    if who["age"] is None:
        return f"{sex}, age not known"
    # 90 and above is one band: HIPAA safe harbor, 45 CFR 164.514(b)(2)(i)(C).
    low = min(who["age"] // 10 * 10, 90)
    return f"{sex}, {'90 or older' if low == 90 else f'{low}-{low + 9}'}"


def _half(who: Mapping[str, Any]) -> str:
    if who["age"] is None:
        return "person, age not known"
    return f"person, {_OLDER} or older" if who["age"] >= _OLDER else f"person, under {_OLDER}"


#: From the finest to the widest.
_GROUPINGS: tuple[Callable[[Mapping[str, Any]], str], ...] = (_band, _half, lambda _: "person")


def deidentified(
    rows: Sequence[dict[str, Any]], looked_at: Iterable[str], people: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Rows with a label of this answer and a group in place of their ``patient``.

    Args:
        looked_at: every patient whom the analysis was about.
    """
    rows = [row for row in rows if row["patient"] in people]
    population = [people[patient] for patient in sorted(set(looked_at) & people.keys())]
    patients = list(dict.fromkeys(row["patient"] for row in rows))
    found = {"count": len(rows), "patients": len(patients)}
    for grouping in _GROUPINGS:
        sizes = Counter(map(grouping, population))
        groups = {patient: grouping(people[patient]) for patient in patients}
        if all(sizes[group] >= _GROUP_MIN for group in groups.values()):
            break
    else:
        note = f"Fewer than {_GROUP_MIN} patients were looked at: none is described."
        return {**found, "rows": [], "note": note}
    named = {patient: f"P{number}" for number, patient in enumerate(patients, start=1)}
    listed = []
    for row in rows:
        label, person = named[row["patient"]], groups[row["patient"]]
        told = {key: value for key, value in row.items() if key != "patient"}
        listed.append(
            {"label": label, "person": person, **told, "text": f"{label} ({person}): {row['text']}"}
        )
    wide = f"People are described so widely that each group fits {_GROUP_MIN} patients or more."
    return {**found, "rows": listed, **({} if grouping is _band else {"note": wide})}


async def _results(hospital: Hospital, code: str, begin: str) -> dict[str, list[Resource]]:
    """Results of a test by patient, oldest first."""
    params = {"code": f"{_LOINC}|{code}", "date": f"ge{begin}", "_sort": "date"}
    with reading():
        found = await hospital.fhir.search("Observation", params)
    by_patient: dict[str, list[Resource]] = {}
    for result in found:
        if result.get("status") in _COUNTED and "value" in (result.get("valueQuantity") or {}):
            by_patient.setdefault(str((result.get("subject") or {}).get("reference")), []).append(result)
    return by_patient


def _taken(result: Resource) -> datetime.date:
    return datetime.date.fromisoformat(str(result["effectiveDateTime"])[:10])


async def _overdue_hba1c(hospital: Hospital, begin: str) -> dict[str, Any]:
    with reading():
        diabetic = await hospital.fhir.search(
            "Condition", {"code": "E11.9", "clinical-status": "active,recurrence,relapse"}
        )
    people, results = await asyncio.gather(_people(hospital), _results(hospital, _HBA1C, begin))
    rows = []
    patients = dict.fromkeys(
        str(row["subject"]["reference"])
        for row in diabetic
        if status_of(row.get("verificationStatus")) not in ("refuted", "entered-in-error")
    )
    for patient in patients:
        last = max((_taken(result) for result in results.get(patient, [])), default=None)
        days = None if last is None else (hospital.today - last).days
        if days is None or days > _HBA1C_DUE_DAYS:
            said = "no HbA1c" if days is None else f"last HbA1c {days} days ago"
            rows.append({"patient": patient, "days": days, "text": said})
    return deidentified(rows, patients, people)


async def _high_potassium(hospital: Hospital, begin: str) -> dict[str, Any]:
    people, results = await asyncio.gather(_people(hospital), _results(hospital, _POTASSIUM, begin))
    rows = []
    for patient, taken in results.items():
        for place, result in enumerate(taken):
            value = result["valueQuantity"]["value"]
            following = [(_taken(later) - _taken(result)).days for later in taken[place + 1 :]]
            if value > _POTASSIUM_HIGH and not any(days <= _RECHECK_DAYS for days in following):
                said = f"potassium {amount(value)} mmol/L, not measured again within {_RECHECK_DAYS} days"
                rows.append({"patient": patient, "value": value, "text": said})
    return deidentified(rows, results, people)


async def _antibiotic_use(hospital: Hospital, begin: str) -> dict[str, Any]:
    with reading():
        orders = await hospital.fhir.search(
            "MedicationRequest", {"intent": ORDER_INTENTS, "authoredon": f"ge{begin}"}
        )
    names: Counter[str] = Counter()
    for order in orders:
        words = ingredient_key(
            order_name(order) or concept_text(order.get("medicationCodeableConcept"))
        ).split()
        found = next((word for word in words if word in _ANTIBIOTICS.split()), None)
        if found is not None and order.get("status") not in ("entered-in-error", "cancelled", "draft"):
            names[found] += 1
    rows = [
        {"medicine": name, "orders": count, "text": f"{name}: {plural(count, 'order')}"}
        for name, count in names.most_common()
    ]
    return {"count": len(rows), "rows": rows}


_RUNS: Mapping[str, Callable[[Hospital, str], Awaitable[dict[str, Any]]]] = {
    "overdue-hba1c": _overdue_hba1c,
    "high-potassium": _high_potassium,
    "antibiotic-use": _antibiotic_use,
}
_READS = {
    "overdue-hba1c": "patients with type 2 diabetes on record and their HbA1c results",
    "high-potassium": f"potassium results above {amount(_POTASSIUM_HIGH)} mmol/L and those after them",
    "antibiotic-use": "orders of antibiotics",
}
