"""What alerts are made of: a snapshot of the live record, a proposed medicine, and the alert itself.

Rule: nothing here is guessed. A dose not known in milligrams, or a frequency that is not stated, is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from condor_hms.alerts.identity import PatientIdentity

__all__ = [
    "SEVERITIES",
    "Alert",
    "Allergy",
    "Evidence",
    "LabValue",
    "MedicationRecord",
    "MedicineOrder",
    "Problem",
    "ProposedMedication",
    "Severity",
]

#: As in CDS Hooks. Only `critical` interrupts and needs a reason to override.
Severity: TypeAlias = Literal["critical", "warning", "info"]
#: The most severe first: the order in which alerts are told.
SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One resource of the record that an alert rests on."""

    #: `Type/id`.
    reference: str
    #: What it says, for a person: `Aspirin 325 mg, 1 a day`, `Potassium 5.2 mmol/L on 2026-06-26`.
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One thing to know before a medicine or an allergy is written."""

    #: Id of the rule, `ddi-01`; ids of rules that are not in the data begin with `own-`.
    rule_id: str
    #: How bad.
    severity: Severity
    #: What is wrong, one line.
    summary: str
    #: What to do about it, one line.
    action: str
    #: Where the rule comes from, as its data says.
    source: str
    #: What in the record it rests on; empty where the proposed dose alone is the reason.
    evidence: tuple[Evidence, ...] = ()
    #: Of ``check_medication``: computed of a standing order alone, the same with or without the proposed one.
    stands: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicineOrder:
    """An order as it stands in the record."""

    #: `MedicationRequest/id`.
    reference: str
    #: What it is called first.
    name: str
    #: Every name it has: text and displays.
    names: tuple[str, ...]
    #: MedicationRequest.status.
    status: str
    #: Dose and timing as text; empty if there are none.
    dosage: str = ""
    #: Largest single dose in mg; None if not known in mg.
    single_mg: float | None = None
    #: Dose of a day in mg; None if not known (no timing, as needed, another unit).
    daily_mg: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Allergy:
    """An allergy or intolerance as it stands in the record."""

    #: `AllergyIntolerance/id`.
    reference: str
    #: What it is called first.
    name: str
    #: Every name it has: text and displays.
    names: tuple[str, ...]
    #: Code of clinicalStatus; None once it was entered in error.
    clinical_status: str | None
    #: Code of verificationStatus; None if not stated.
    verification: str | None
    #: low, high, unable-to-assess; None if not stated.
    criticality: str | None = None

    @property
    def is_active(self) -> bool:
        """Whether it counts: neither inactive, resolved, refuted nor entered in error. Unconfirmed counts."""
        return self.clinical_status in ("active", None) and self.verification not in (
            "refuted",
            "entered-in-error",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An active condition."""

    #: `Condition/id`.
    reference: str
    #: What it is called first.
    name: str
    #: Every name it has: text and displays.
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabValue:
    """The latest usable result of a test."""

    #: `Observation/id`.
    reference: str
    #: LOINC code.
    loinc: str
    #: What the test is called.
    name: str
    #: The number.
    value: float
    #: Its unit as reported.
    unit: str
    #: Day it was taken.
    taken_on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationRecord:
    """What alerts look at, of one patient, read at one time."""

    #: Who.
    patient: PatientIdentity
    #: Active orders.
    orders: tuple[MedicineOrder, ...] = ()
    #: All allergies that are kept; `Allergy.is_active` says which count.
    allergies: tuple[Allergy, ...] = ()
    #: Active problems.
    problems: tuple[Problem, ...] = ()
    #: Latest result by LOINC code.
    labs: Mapping[str, LabValue] = field(default_factory=dict)
    #: Version of every resource above, by reference: what an approval rests on.
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedMedication:
    """A medicine that somebody wants to order."""

    #: Its name as typed.
    medication: str
    #: One dose, in `dose_unit`; None if not stated.
    dose_value: float | None = None
    #: UCUM code (mg, g, ug, mL, {tbl} …); None if not stated.
    dose_unit: str | None = None
    #: Doses a day; None if not stated or once only. See `frequency_per_day`.
    frequency_per_day: float | None = None
    #: References of orders that this one replaces; they no longer count.
    replaces: frozenset[str] = frozenset()
