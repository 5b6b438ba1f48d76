"""Arguments that several tools share, with the catalogue's labels and hints.

Rule: a hint says how to ask, never what to assume; no argument has a default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from condor import ArgSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CLINICIANS",
    "DOSE_UNIT_HINT",
    "DOSE_VALUE_HINT",
    "PRIORITIES",
    "Hint",
    "choice",
    "patient_arg",
]

#: Who may look at a patient's clinical record.
CLINICIANS = ("doctor", "nurse", "pharmacist", "admin")

#: FHIR R4 request-priority → label.
PRIORITIES = {"routine": "Routine", "urgent": "Urgent", "asap": "ASAP", "stat": "STAT"}

#: What ``ArgSpec.hint`` takes.
Hint: TypeAlias = "dict[str, Any]"

DOSE_VALUE_HINT: Hint = {"min": 0.001, "max": 10000, "note": "never defaulted"}


def choice(options: Mapping[str, str]) -> list[dict[str, str]]:
    """An ``enum`` hint: code → label, in the order a form shows them."""
    return [{"value": value, "label": label} for value, label in options.items()]


DOSE_UNIT_HINT: Hint = {
    "enum": choice(
        {
            "mg": "mg",
            "ug": "microgram",
            "g": "g",
            "mL": "mL",
            "[iU]": "units",
            "{tbl}": "tablet",
            "{puff}": "puff",
        }
    ),
    "vs": "UCUM subset",
}


def patient_arg() -> ArgSpec:
    """The patient a tool is about."""
    return ArgSpec(
        name="patient",
        label="Patient",
        type="reference",
        required=True,
        hint={"lookup": {"tool": "patient.search", "target": "Patient"}},
    )
