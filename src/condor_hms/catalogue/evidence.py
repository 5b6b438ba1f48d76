"""What a card shows beside a write: who, which alerts, and the facts of the live record worth seeing.

Rule 1: read from the record when the card is made; nothing of it comes from a model or from the plan.
Rule 2: "no known allergies" is said only where the record says so in code; silence is "not recorded".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from condor_hms.alerts import CREATININE, POTASSIUM, WEIGHT, check_orders, lab_number, load_medication_record
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.words import concept_text, day, joined, order_text, plural, status_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.alerts import Alert, LabValue, MedicationRecord, Rules
    from condor_hms.fhir.port import Resource

__all__ = [
    "PATIENT_STATE",
    "alert_rows",
    "alerts_sentence",
    "allergies_of",
    "allergy_status",
    "allergy_text",
    "clinical_context",
    "ended_alerts",
    "ended_notes",
    "is_active_allergy",
    "is_denied",
    "medication_record",
    "rules_note",
]

#: The alert that a patient is deceased or the record inactive.
PATIENT_STATE = "patient-state"
#: SNOMED CT "No known allergy": the one code that means "no known allergies".
_NO_KNOWN_ALLERGY = "716186003"
#: Denials of one kind only: drug, food, environmental, insect, animal, latex. They deny nothing else.
_PARTIAL_DENIALS = frozenset({"409137002", "429625007", "428607008", "428197003", "716220001", "1003774007"})
_SUBSTANCE_WITH = ("substance with ", " structure")
_RESULTS = (
    (CREATININE, "Latest creatinine"),
    (POTASSIUM, "Latest potassium"),
    (WEIGHT, "Latest weight"),
)


async def medication_record(hospital: Hospital, patient: str) -> MedicationRecord:
    """The snapshot that alerts are computed on."""
    with reading():
        return await load_medication_record(hospital.fhir, patient, hospital.today)


def alert_rows(
    alerts: Sequence[Alert], patient: Mapping[str, Any], orders: Sequence[Resource] = ()
) -> tuple[dict[str, Any], ...]:
    """Alerts as a card shows them, worst first; a deceased or inactive patient is one of them.

    A rule that fires twice is told apart by what it rests on, so that a new alert is seen to be new.

    Args:
        orders: the patient's orders, to name them as every other part of the card does.
    """
    texts = {reference_of(order): order_text(order) for order in orders}
    often = Counter(alert.rule_id for alert in alerts)
    rows = [
        {
            "id": alert.rule_id if often[alert.rule_id] == 1 else f"{alert.rule_id}@{_rests_on(alert)}",
            "severity": alert.severity,
            "summary": alert.summary,
            "action": alert.action,
            "source": alert.source,
            "evidence": [
                {"reference": item.reference, "text": texts.get(item.reference, item.name)}
                for item in alert.evidence
            ],
        }
        for alert in alerts
    ]
    if patient.get("note"):
        rows.append(_state_row(patient))
    rank = {"critical": 0, "warning": 1, "info": 2}
    return tuple(sorted(rows, key=lambda row: rank[str(row["severity"])]))


async def ended_alerts(
    hospital: Hospital, patient: Mapping[str, Any], reference: str
) -> tuple[dict[str, Any], ...]:
    """What the record warns of now because of one entry, and no longer when that entry has ended.

    Args:
        reference: the entry, ``AllergyIntolerance/id`` or ``Condition/id``.
    """
    record = await medication_record(hospital, patient["reference"])
    standing = check_orders(record, hospital.rules, hospital.today)
    ended = [alert for alert in standing if any(item.reference == reference for item in alert.evidence)]
    return alert_rows(ended, patient)


def ended_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is told of them when the entry has ended."""
    return [
        f"The record warned because of it: {str(row['summary']).rstrip('. ')} ("
        f"{joined([str(item['text']) for item in row['evidence']])})."
        for row in rows
        if row["id"] != PATIENT_STATE
    ]


def _rests_on(alert: Alert) -> str:
    return "+".join(item.reference for item in alert.evidence) or "dose"


def _state_row(patient: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": PATIENT_STATE,
        "severity": "warning",
        "summary": f"{patient['name']}: {patient['note']}",
        "action": "Check that this is the right patient",
        "source": "the patient's own record",
        "evidence": [{"reference": patient["reference"], "text": patient["text"]}],
    }


def alerts_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """``Warning: increased bleeding (celecoxib 200 mg …): check.``; empty when there is nothing to tell."""
    return " ".join(_alert_sentence(row) for row in rows)


def _alert_sentence(row: Mapping[str, Any]) -> str:
    rests_on = joined([str(item["text"]) for item in row["evidence"]])
    summary = str(row["summary"]).rstrip(". ") + (f" ({rests_on})" if rests_on else "")
    return f"{str(row['severity']).capitalize()}: {summary}. {str(row['action']).rstrip('. ')}."


def rules_note(rules: Rules, medication: str) -> str:
    """What the alert rules know of a medicine: silence of a rule that is not there clears nothing."""
    sets = [pair for rule in rules.pairs for pair in (rule.a, rule.b)]
    sets += [rule.drug for group in (rules.allergies, rules.conditions, rules.doses) for rule in group]
    known = any(drugs.named_in((medication,)) for drugs in sets)
    said = f"demonstration rules {rules.version}, not reviewed by a pharmacist"
    unnamed = (
        f"{said}; no rule names {medication}: its name was compared with the names of the recorded allergies "
        "and of the active orders; interactions, conditions and doses were not checked"
    )
    return said if known else unnamed


async def clinical_context(
    hospital: Hospital, record: MedicationRecord, *, medication: str
) -> tuple[dict[str, Any], ...]:
    """Allergies, latest creatinine, potassium and weight with their dates, and what the rules cover."""
    allergies = await allergies_of(hospital, record.patient.reference)
    rows = [{"label": "Allergies", "text": allergies_line(allergies)}]
    for code, label in _RESULTS:
        result = record.labs.get(code)
        text = (
            "not recorded"
            if result is None
            else " ".join(f"{_number(result)} {result.unit} on {day(result.taken_on)}".split())
        )
        rows.append({"label": label, "text": text})
    return (*rows, {"label": "Alert rules", "text": rules_note(hospital.rules, medication)})


def _number(result: LabValue) -> str:
    return lab_number(result.loinc, result.unit, result.value)


async def allergies_of(hospital: Hospital, patient: str) -> list[Resource]:
    """Every AllergyIntolerance of the patient that was not entered in error."""
    with reading():
        found = await hospital.fhir.search("AllergyIntolerance", {"patient": patient})
    return [row for row in found if status_of(row.get("verificationStatus")) != "entered-in-error"]


def is_active_allergy(allergy: Resource) -> bool:
    """Whether it speaks against anything today. A denial is no allergy; unconfirmed counts."""
    return (
        status_of(allergy.get("clinicalStatus")) in ("active", "")
        and status_of(allergy.get("verificationStatus")) != "refuted"
        and not is_denied(allergy)
    )


def is_denied(allergy: Resource) -> bool:
    """Whether the entry says, in code, that there is no known allergy (or none of one kind)."""
    return bool(_codes(allergy) & (_PARTIAL_DENIALS | {_NO_KNOWN_ALLERGY}))


def _codes(allergy: Resource) -> set[str]:
    return {str(coding.get("code")) for coding in (allergy.get("code") or {}).get("coding") or []}


def allergy_status(allergies: Sequence[Resource]) -> str:
    """``recorded``, ``no known allergies`` (coded so), a denial of one kind, or ``not recorded``."""
    if any(is_active_allergy(row) for row in allergies):
        return "recorded"
    denials = [
        row for row in allergies if is_denied(row) and status_of(row.get("verificationStatus")) != "refuted"
    ]
    if any(_NO_KNOWN_ALLERGY in _codes(row) for row in denials):
        return "no known allergies"
    return joined([allergy_text(row) for row in denials]) or "not recorded"


def allergy_text(allergy: Resource) -> str:
    """What somebody is allergic to, as a clinician says it: ``penicillin``, not the name of a concept."""
    text = concept_text(allergy.get("code")) or "substance not recorded"
    head, tail = _SUBSTANCE_WITH
    if text.casefold().startswith(head) and text.casefold().endswith(tail):
        text = text[len(head) : -len(tail)]
    return text if text.isupper() else text[:1].lower() + text[1:]


def allergies_line(allergies: Sequence[Resource]) -> str:
    """``4 allergies: penicillin (high), aspirin (low) …``, or what the record says instead."""
    active = [row for row in allergies if is_active_allergy(row)]
    if not active:
        return allergy_status(allergies)
    said = [_with_remarks(row) for row in active]
    return f"{plural(len(active), 'allergy', 'allergies')}: {joined(said)}"


def _with_remarks(allergy: Resource) -> str:
    remarks = [f"{allergy['criticality']} criticality"] if allergy.get("criticality") else []
    if status_of(allergy.get("verificationStatus")) == "unconfirmed":
        remarks.append("unconfirmed")
    return allergy_text(allergy) + (f" ({', '.join(remarks)})" if remarks else "")
