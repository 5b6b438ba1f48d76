"""Sentences that change a medicine, or record one that is taken without an order."""

from __future__ import annotations

import re
from typing import Any

from condor_hms.catalogue.terms import ingredient_key
from condor_hms.playbook.draft import Draft
from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, step
from condor_hms.playbook.vocabulary import FREQUENCIES

__all__ = ["CHANGE", "MEDICINES", "NOW", "dose_reason", "medicine_list", "new_dose", "order_of"]

_UNITS = {
    r"mgs?|milligrams?": "mg",
    r"mcgs?|ugs?|micrograms?": "ug",
    r"g|grams?": "g",
    r"mls?": "mL",
    r"units?|iu": "[iU]",
    r"tabs?|tablets?": "{tbl}",
    r"puffs?": "{puff}",
}
_DOSE = rf"(?P<value>\d+(?:\.\d+)?) ?(?P<unit>{'|'.join(_UNITS)})?"


#: Verbs of a new dose, and the sense in which it changes; “change” has none.
_SENSES = {r"reduce|drop|lower|decrease": "reduced", r"increase|raise": "increased"}
CHANGE = rf"(?:change|{'|'.join(_SENSES)})"
_VERB = rf"(?P<verb>{CHANGE})"
#: The dose as it is said to stand.
NOW = rf"(?P<now>\d+(?:\.\d+)?)(?: ?(?P<now_unit>{'|'.join(_UNITS)}))?"


def medicine_list(**args: Any) -> dict[str, Any]:
    """The step that lists the patient's orders."""
    return step("s2", "medication.list.card", {"patient": PATIENT, **args}, after=("s1",))


def order_of(said: Said, index: str = "byIngredient", *path: str) -> dict[str, str]:
    """The one order of the medicine, or a part of it; where its dose was said, only if it has that dose."""
    if said.has("now") and index == "byIngredient":
        dose = f"{ingredient_key(said.text('drug'))} {float(said.text('now')):g}"
        unit = said.code("now_unit", _UNITS)
        return reference("s2", "byDose", f"{dose} {unit}" if unit else dose, *(path or ("reference",)))
    return reference("s2", index, ingredient_key(said.text("drug")), *(path or ("reference",)))


def new_dose(said: Said, action: str = "update") -> dict[str, Any]:
    """The arguments of a new dose; a number without a unit is of the unit that the order has.

    Raises:
        RequestNotUnderstood: two frequencies.
    """
    often = Draft(said.text("often"))
    frequencies = FREQUENCIES.take(often)
    if said.has("often") and (len(frequencies) != 1 or next(often.words(), None)):
        raise refuse_part(said.text("often"), "it is no frequency that I know")
    value = float(said.text("value"))
    _check_sense(said, value)
    return {
        "order": order_of(said),
        "action": action,
        "dose_value": int(value) if value.is_integer() else value,
        "dose_unit": said.code("unit", _UNITS) or order_of(said, "byIngredient", "doseUnit"),
        "frequency": frequencies[0] if frequencies else None,
    }


def _sense(said: Said) -> str:
    verb = said.text("verb").lower()
    return next((sense for verbs, sense in _SENSES.items() if re.fullmatch(verbs, verb)), "")


def _check_sense(said: Said, value: float) -> None:
    """“Drop” leads to less than the dose that was said, and “increase” to more; both to another one."""
    if not said.has("now") or said.code("now_unit", _UNITS) != said.code("unit", _UNITS):
        return
    now, sense = float(said.text("now")), _sense(said)
    if now == value or (sense and (value < now) != (sense == "reduced")):
        raise refuse(
            f"“{said.text('verb').lower()}” from {now:g} to {value:g} does not fit; say the new dose"
        )


def dose_reason(said: Said, why: str | None) -> str | None:
    """The reason of a new dose, with the sense that was said: the tool holds it against the order.

    Raises:
        RequestNotUnderstood: a sense, and nothing that it could be held against.
    """
    sense = _sense(said)
    if not sense or said.has("now"):
        return why
    if why is None:
        raise refuse(f"it does not say why the dose is {sense}; add “because …”, or say “change … to …”")
    return f"Dose {sense}: {why}"


def _dose(said: Said) -> Plan:
    args = new_dose(said)
    checked = {
        "patient": PATIENT,
        "medication": _name(said),
        **{key: args[key] for key in ("dose_value", "dose_unit")},
    }
    return plan(
        said.search(),
        medicine_list(),
        step("s3", "interaction.check", checked, after=("s2",)),
        step("s4", "medication.update", {**args, "reason": dose_reason(said, said.why())}, after=("s3",)),
    )


def _name(said: Said) -> str:
    return _capital(said.text("drug"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _hold(said: Said) -> Plan:
    args = {"order": order_of(said), "action": "hold", "reason": said.why()}
    return plan(said.search(), medicine_list(), step("s3", "medication.update", args, after=("s2",)))


def _resume(said: Said) -> Plan:
    args = {"order": order_of(said, "heldByIngredient"), "action": "resume", "reason": said.why()}
    return plan(said.search(), medicine_list(), step("s3", "medication.update", args, after=("s2",)))


def _renew(said: Said) -> Plan:
    args = {
        "order": order_of(said),
        "quantity": int(said.text("quantity")) if said.has("quantity") else None,
        "refills": int(said.text("refills")) if said.has("refills") else None,
        "valid_until": said.coming(),
    }
    return plan(said.search(), medicine_list(), step("s3", "prescription.renew", args, after=("s2",)))


def _reported(said: Said) -> Plan:
    args = {
        "patient": PATIENT,
        "medication": _capital(said.entry("drug")),
        "dosage": said.why("how") and said.entry("how"),
        "status": "active",
    }
    return plan(said.search(), step("s2", "medication.statement.record", args, after=("s1",)))


_SUPPLY = r"(?:[,:]? (?:for )?(?P<quantity>\d{1,4})(?: tablets| capsules| to dispense)?)?"
_REFILLS = r"(?:,?(?: and| with)? (?P<refills>\d{1,2}) refills?)?(?:,?(?: and)? valid until {when})?"
_OFTEN = r"(?:,? (?P<often>[a-z0-9 ./]{2,30}?))??"

MEDICINES: tuple[Formula, ...] = (
    Formula.of(
        "medication.update",
        _dose,
        rf"{_VERB} {{whose}} {{drug}} (?:dose )?(?:from {NOW} )?to {_DOSE}{_OFTEN}(?:{{because}}{{why}})?",
        rf"{_VERB} the (?:dose of )?{{drug}} (?:of|for) {{who}} (?:from {NOW} )?to {_DOSE}"
        rf"{_OFTEN}(?:{{because}}{{why}})?",
    ),
    Formula.of(
        "medication.update",
        _hold,
        r"(?:hold|pause) {whose} {drug}(?:{because}{why})?",
        r"put {whose} {drug} on hold(?:{because}{why})?",
    ),
    Formula.of(
        "medication.update",
        _resume,
        r"(?:resume|restart) {whose} {drug}(?:{because}{why})?",
        r"take {whose} {drug} off hold(?:{because}{why})?",
    ),
    Formula.of(
        "prescription.renew",
        _renew,
        rf"renew {{whose}} {{drug}}(?: prescription)?{_SUPPLY}{_REFILLS}",
        rf"renew the {{drug}}(?: prescription)? (?:of|for) {{who}}{_SUPPLY}{_REFILLS}",
        rf"repeat (?:the )?prescription (?:for|of) {{whose}} {{drug}}{_SUPPLY}{_REFILLS}",
    ),
    Formula.of(
        "medication.statement.record",
        _reported,
        r"record that {who} (?:says (?:that )?{they} )?(?:takes|is taking) {drug}(?:[,:] "
        r"(?P<how>[^\0]{3,120}))?",
        r"{who} (?:says|(?:tells|told) (?:me|us)) (?:that )?{they} (?:takes|is taking) {drug}(?:[,:]? "
        r"(?P<how>[^\0,]{3,120}?))?, (?:note|record) it as (?:patient-)?reported",
        r"{who} (?:reports|says) (?:taking|{they} takes) {drug}(?:[,:] (?P<how>[^\0]{3,120}))?",
    ),
)
