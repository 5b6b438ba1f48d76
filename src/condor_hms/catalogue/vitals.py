"""Vital signs: how they went, recording them, and correcting what was recorded wrong.

Rule 1: a number has a unit of UCUM and a plausible range; blood pressure is one panel of two.
Rule 2: a wrong value is corrected in the open: the entry says that it was, or that it never should have been.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from condor import ArgSpec, InputField, NeedInput, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.repeats import repeated, repeated_notes
from condor_hms.catalogue.results import lab_results, result_row
from condor_hms.catalogue.specs import CLINICIANS, code_arg, patient_arg, record_arg, since_arg, why_arg
from condor_hms.catalogue.summary import vital_row
from condor_hms.catalogue.words import amount, concept_text, day, joined, moment_text, plural
from condor_hms.catalogue.writing import Edit, person, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["vital_tools"]

_SIGNS = {
    "85354-9": "Blood pressure",
    "8867-4": "Heart rate",
    "8310-5": "Temperature",
    "59408-5": "SpO2",
    "29463-7": "Weight",
}
#: Other codes of a sign in records; it is found under them too.
_ALSO = {"59408-5": ("2708-6",)}
_UCUM, _LOINC = "http://unitsofmeasure.org", "http://loinc.org"
#: Argument → LOINC code, display, unit for a person.
_MEASURED = {
    "systolic": ("8480-6", "Systolic", "mmHg"),
    "diastolic": ("8462-4", "Diastolic", "mmHg"),
    "heart_rate": ("8867-4", "Heart rate", "/min"),
    "temperature": ("8310-5", "Temperature", "°C"),
    "spo2": ("59408-5", "SpO2", "%"),
}
#: Any of these is enough.
_ONE_OF = {
    "systolic": "Blood pressure",
    "heart_rate": "Heart rate",
    "temperature": "Temperature",
    "spo2": "SpO2",
}
_ACTIONS = {"amend": "Correct value", "void": "Void (entered in error)"}
_CATEGORY = {
    "coding": [
        {
            "system": "http://terminology.hl7.org/CodeSystem/observation-category",
            "code": "vital-signs",
            "display": "Vital Signs",
        }
    ],
    "text": "Vital Signs",
}
_TOLD_MAX = 4
#: So far may the clock of whoever measured go before this one.
_GRACE = datetime.timedelta(minutes=5)


def vital_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``vitals.trend.card``, ``vitals.record`` and ``vitals.correct`` over an open record."""

    async def trend(
        _ctx: ToolContext, patient: str, sign: str | Sequence[str] | None = None, since: str | None = None
    ) -> dict[str, Any]:
        """Vital signs of a patient over time, newest first; all of them, or those that are named."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        asked = [sign] if isinstance(sign, str) else list(sign or _SIGNS)
        codes = [code for one in asked for code in (one, *_ALSO.get(one, ()))]
        found = await lab_results(hospital, patient, codes, since=since, category="vital-signs")
        rows = [vital_row(result) for result in found]
        return {"patient": who, "signs": asked if sign else [], "readings": rows}

    return (
        tool(
            "vitals.trend.card",
            policy_class=PolicyClass.READ,
            title="Vital signs trend",
            description=trend.__doc__ or "",
            ops={"read"},
            roles=CLINICIANS,
            ui_card=True,
            args=(patient_arg(), _sign_arg(), since_arg()),
            noun="the vital signs",
            report=_report,
        )(trend),
        record_write(
            hospital,
            "vitals.record",
            _record,
            title="Record vital signs",
            noun="the vital signs entry",
            roles={"doctor", "nurse"},
            creates="Observation",
            editable={"systolic", "diastolic", "heart_rate", "temperature", "spo2", "taken_at"},
            args=_measured_args(),
        ),
        record_write(
            hospital,
            "vitals.correct",
            _correct,
            title="Correct a vital sign",
            noun="the correction",
            roles={"doctor", "nurse"},
            target=("observation", "Observation"),
            ops=set(_ACTIONS),
            op_arg="action",
            editable={"value", "reason"},
            args=(
                record_arg("observation", "Observation"),
                code_arg("action", "Action", _ACTIONS, required=True),
                ArgSpec(name="value", label="New value", type="decimal", required_if={"action": ("amend",)}),
                why_arg(),
            ),
        ),
    )


def _sign_arg() -> ArgSpec:
    spec = code_arg("sign", "Sign", _SIGNS, radio=False)
    return ArgSpec(name=spec.name, label=spec.label, type=spec.type, hint={**spec.hint, "multi": True})


def _measured_args() -> tuple[ArgSpec, ...]:
    def whole(name: str, label: str, low: int, high: int, unit: str, **rest: Any) -> ArgSpec:
        return ArgSpec(
            name=name, label=label, type="integer", hint={"min": low, "max": high, "unit": unit}, **rest
        )

    return (
        patient_arg(),
        whole("systolic", "Systolic", 40, 300, "mm[Hg]", required_if={"diastolic": ()}),
        whole("diastolic", "Diastolic", 20, 200, "mm[Hg]", required_if={"systolic": ()}),
        whole("heart_rate", "Heart rate", 20, 300, "/min"),
        ArgSpec(
            name="temperature",
            label="Temperature",
            type="decimal",
            hint={"min": 25, "max": 45, "unit": "Cel"},
        ),
        whole("spo2", "SpO2", 30, 100, "%"),
        ArgSpec(
            name="taken_at",
            label="Taken at",
            type="date-time",
            required=True,
            hint={"format": "date-time", "min": "now-7d", "max": "now"},
        ),
    )


def _report(args: Mapping[str, Any], value: Any) -> str:
    name = value["patient"]["name"]
    by_sign: dict[str, list[Mapping[str, Any]]] = {}
    for row in value["readings"]:
        by_sign.setdefault(row["test"], []).append(row)
    if not by_sign:
        asked = joined([_SIGNS.get(code, code).lower() for code in value["signs"]]) or "vital signs"
        return f"{name}: no {asked} on record."
    said = [
        f"{test} {rows[0]['text']}"
        + (f", before that {', '.join(row['text'] for row in rows[1:_TOLD_MAX])}" if rows[1:] else "")
        + (f" ({plural(len(rows), 'reading')} in all)" if len(rows) > _TOLD_MAX else "")
        for test, rows in by_sign.items()
    ]
    return f"{name}: {'; '.join(said)}."


async def _record(call: Call) -> Composed | NeedInput:
    """Record vital signs of a patient as they were taken: pressure, pulse, temperature, oxygen saturation."""
    who = await call.patient()
    given = {**call.args, **{name: call.ctx.answers[name] for name in _MEASURED if name in call.ctx.answers}}
    measured = {name: given[name] for name in _MEASURED if given.get(name) is not None}
    if not measured:
        return _which_sign(call)
    _check_pressure(measured)
    _check_taken(call, str(call.args["taken_at"]))
    taken_at, performer = str(call.args["taken_at"]), await person(call.hospital, call.ctx.principal)

    def made(code: str, display: str, **rest: Any) -> Resource:
        return {
            "resourceType": "Observation",
            "status": "final",
            "category": [_CATEGORY],
            "code": _coded(code, display),
            "subject": {"reference": who["reference"]},
            "effectiveDateTime": taken_at,
            "performer": [performer],
            **rest,
        }

    new: list[Resource] = []
    if "systolic" in measured:
        parts = [
            {"code": _coded(*_MEASURED[name][:2]), "valueQuantity": _quantity(name, measured[name])}
            for name in ("systolic", "diastolic")
        ]
        new.append(made("85354-9", "Blood pressure panel", component=parts))
    new += [
        made(*_MEASURED[name][:2], valueQuantity=_quantity(name, measured[name]))
        for name in ("heart_rate", "temperature", "spo2")
        if name in measured
    ]
    words = f"{joined(_measured_words(measured))}, taken {moment_text(taken_at)}"
    again = await repeated(call, new, "effectiveDateTime", "recorded")
    return Composed(
        subject=who,
        summary=f"Record {words}",
        done=f"Vitals recorded: {words}",
        new=new,
        alerts=again,
        notes=repeated_notes(again),
        after={"readings": _measured_words(measured), "takenAt": taken_at},
        facts={"readings": _measured_words(measured)},
    )


def _check_pressure(measured: Mapping[str, Any]) -> None:
    """A systolic pressure is above the diastolic one; swapped numbers are a slip."""
    if "systolic" in measured and measured["diastolic"] >= measured["systolic"]:
        raise ToolError(
            f"blood pressure {measured['systolic']}/{measured['diastolic']}: the systolic value is above the "
            "diastolic one; say them anew; nothing was written",
            effect="none",
            code="bad_value",
        )


def _check_taken(call: Call, taken_at: str) -> None:
    """Nothing was measured at a time to come; clocks may differ by minutes."""
    try:
        taken = datetime.datetime.fromisoformat(taken_at)
    except ValueError:
        raise ToolError(
            f"{taken_at[:40]!a} is no time: give 2026-11-30T09:30:00Z; nothing was written",
            effect="none",
            code="bad_time",
        ) from None
    now = datetime.datetime.fromisoformat(record_time(call.hospital, call.ctx))
    if call.hospital.day_stands:
        now = now.replace(hour=23, minute=59, second=59)
    if (taken if taken.tzinfo else taken.replace(tzinfo=datetime.UTC)) > now + _GRACE:
        raise ToolError(
            f"{moment_text(taken_at)} is still to come (it is {now:%H:%M} on {day(now.date().isoformat())}): "
            "say when it was taken; nothing was written",
            effect="none",
            code="bad_time",
        )


def _which_sign(call: Call) -> NeedInput:
    """Nothing was measured: which sign it is, then its numbers."""
    chosen = call.ctx.answers.get("sign")
    if isinstance(chosen, str) and chosen in _ONE_OF:
        names = ("systolic", "diastolic") if chosen == "systolic" else (chosen,)
        specs = {spec.name: spec for spec in _measured_args()}
        fields = [
            InputField(name=name, label=specs[name].label, type=specs[name].type, hint=specs[name].hint)
            for name in names
        ]
        return NeedInput(fields=tuple(fields), message="What was measured?")
    options: list[Any] = [{"value": name, "label": label} for name, label in _ONE_OF.items()]
    field = InputField(name="sign", label="Vital sign", type="code", hint={"enum": options, "radio": True})
    return NeedInput(fields=(field,), message="Which vital sign was taken?")


def _coded(code: str, display: str) -> dict[str, Any]:
    return {"coding": [{"system": _LOINC, "code": code, "display": display}], "text": display}


def _quantity(name: str, value: Any) -> dict[str, Any]:
    unit = {spec.name: spec.hint.get("unit") for spec in _measured_args()}[name]
    return {"value": value, "unit": unit, "system": _UCUM, "code": unit}


def _measured_words(measured: Mapping[str, Any]) -> list[str]:
    """``blood pressure 148/92 mmHg``, ``heart rate 80 /min``."""
    said = []
    if "systolic" in measured:
        said.append(f"blood pressure {measured['systolic']}/{measured['diastolic']} mmHg")
    for name in ("heart_rate", "temperature", "spo2"):
        if name in measured:
            _, label, unit = _MEASURED[name]
            said.append(f"{label if name == 'spo2' else label.lower()} {amount(measured[name])} {unit}")
    return said


async def _correct(call: Call) -> Composed:
    """Correct the value of a vital sign, or void an entry that should never have been; with the reason."""
    reading, why = await call.target(call.args["observation"], "Observation"), call.given("reason")
    _require_vital(reading)
    row, action = result_row(reading), call.args["action"]
    shown = f"{row['test']} {vital_row(reading)['text']}"
    note = [*(reading.get("note") or []), {"text": why}]
    if action == "void":
        after, done = without(reading, status="entered-in-error", note=note), f"Vital sign voided: {shown}"
        new = "entered-in-error"
    else:
        quantity = reading.get("valueQuantity")
        if quantity is None:
            raise ToolError(
                f"{reference_of(reading)} has no single value: void it and record it anew",
                effect="none",
                code="no_single_value",
            )
        after = without(
            reading, status="corrected", note=note, valueQuantity={**quantity, "value": call.args["value"]}
        )
        new = f"{amount(call.args['value'])} {row['unit']}".strip()
        done = f"Vital sign corrected: {shown} is now {new}"
    return Composed(
        subject=await call.subject_of(reading),
        summary=f"{_ACTIONS[str(action)]}: {shown}. Reason: {why}",
        done=done,
        edits=[Edit(before=reading, after=after)],
        reason=why,
        removes=action == "void",
        before={"reading": shown, "status": reading.get("status")},
        after={"reading": new, "status": after["status"], "reason": why},
    )


def _require_vital(reading: Resource) -> None:
    categories = {
        coding.get("code")
        for category in reading.get("category") or []
        for coding in category.get("coding") or []
    }
    if "vital-signs" not in categories:
        raise ToolError(
            f"{reference_of(reading)} ({concept_text(reading.get('code'))}) is no vital sign: the laboratory "
            "corrects its own results",
            effect="none",
            code="no_vital_sign",
        )
    if reading.get("status") not in ("final", "preliminary", "amended", "corrected"):
        raise ToolError(
            f"{reference_of(reading)} is {reading.get('status')}; there is nothing to correct",
            effect="none",
            code="not_standing",
        )
