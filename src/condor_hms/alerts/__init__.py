"""Alerts over the live record: what speaks against a medicine or an allergy about to be written."""

from __future__ import annotations

from condor_hms.alerts.check import check_allergy, check_medication, check_orders
from condor_hms.alerts.doses import FREQUENCIES, frequency_per_day
from condor_hms.alerts.identity import PatientIdentity, patient_identity
from condor_hms.alerts.labs import lab_number
from condor_hms.alerts.model import (
    Alert,
    Allergy,
    Evidence,
    LabValue,
    MedicationRecord,
    MedicineOrder,
    Problem,
    ProposedMedication,
    Severity,
)
from condor_hms.alerts.record import CREATININE, POTASSIUM, WEIGHT, load_medication_record
from condor_hms.alerts.rules import Rules, demo_rules, parse_rules

__all__ = [
    "CREATININE",
    "FREQUENCIES",
    "POTASSIUM",
    "WEIGHT",
    "Alert",
    "Allergy",
    "Evidence",
    "LabValue",
    "MedicationRecord",
    "MedicineOrder",
    "PatientIdentity",
    "Problem",
    "ProposedMedication",
    "Rules",
    "Severity",
    "check_allergy",
    "check_medication",
    "check_orders",
    "demo_rules",
    "frequency_per_day",
    "lab_number",
    "load_medication_record",
    "parse_rules",
    "patient_identity",
]
