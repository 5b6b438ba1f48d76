"""Checking interactions: “Check interactions of Helen Coleman with ibuprofen 400 mg”; it orders nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from condor_hms.playbook.doses import take_dosing
from condor_hms.playbook.medicines import take_medicine, unknown_before_dose
from condor_hms.playbook.refusals import refuse
from condor_hms.playbook.steps import PATIENT, Plan, plan, search_step, step
from condor_hms.playbook.vocabulary import words

if TYPE_CHECKING:
    from condor_hms.playbook.reading import Reading

__all__ = ["CUE", "plan_interactions"]

CUE = re.compile(
    r"(?<!\w)(?:check|any|are there|is there|look for|look at|see|do|does|would|will|could|can)(?!\w)"
    r"[^.;!?]{0,80}?"
    r"(?<!\w)interact(?:s|ing|ion|ions)?(?!\w)|(?<!\w)interaction (?:check|screen)"
)
_WORDS = words(
    "check any interact interacts interacting interaction interactions screen between if whether before "
    "after i start starting started give giving given add adding added put prescribe prescribing were "
    "to would does do will could can what which see look drug drugs medicine medicines meds medication "
    "medications list existing regular other taking takes take against anything there run"
)


def plan_interactions(reading: Reading) -> Plan:
    """Search, check.

    Raises:
        RequestNotUnderstood: no medicine or two, no patient, or words left over.
    """
    draft = reading.draft
    medicine = take_medicine(draft) or unknown_before_dose(draft)
    if medicine is None:
        raise refuse("no medicine is named that I know; say which one to check")
    dosing = take_dosing(draft)
    dose = {"dose_value": dosing.dose_value, "dose_unit": dosing.dose_unit}
    who = reading.finish(reading.named(_WORDS), _WORDS)
    return plan(
        search_step(who.query, who.birth_date),
        step(
            "s2",
            "interaction.check",
            {"patient": PATIENT, "medication": medicine.name, **({} if None in dose.values() else dose)},
            after=("s1",),
        ),
    )
