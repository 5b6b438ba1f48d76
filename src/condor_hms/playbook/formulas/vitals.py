"""Sentences that write vital signs, or correct one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.refusals import refuse, refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, step

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SIGNS", "SIGN_NAME", "VITALS"]

#: How a sign is called → its LOINC code.
SIGNS = {
    r"(?:bp|blood pressures?)": "85354-9",
    r"(?:heart rate|pulse|hr)": "8867-4",
    r"(?:temperature|temp)": "8310-5",
    r"(?:spo2|(?:o2 )?sats|(?:oxygen )?saturations?)": "59408-5",
    r"weight": "29463-7",
}
SIGN_NAME = rf"(?P<sign>{'|'.join(SIGNS)})"
_IS = r"(?: of| as| is|:)? ?"
_PRESSURE, _PULSE, _TEMPERATURE = r"(?:bp|blood pressure)", r"(?:pulse|heart rate|hr)", r"temp(?:erature)?"
_SATURATION = r"(?:spo2|(?:o2 )?sats|(?:oxygen )?saturations?)"
#: One sign with its value, whole; a group for each argument.
_MEASURED = (
    rf"{_PRESSURE}{_IS}(?P<systolic>\d{{2,3}})(?: ?/ ?| over )(?P<diastolic>\d{{2,3}})(?: ?mm ?hg)?",
    rf"{_PULSE}{_IS}(?P<heart_rate>\d{{2,3}})(?: ?bpm| ?/min)?",
    rf"{_TEMPERATURE}{_IS}(?P<temperature>\d{{2,3}}(?:\.\d)?)(?: ?°? ?c)?",
    rf"{_SATURATION}{_IS}(?P<spo2>\d{{2,3}}) ?%?",
)
_VALUES = ("systolic", "diastolic", "heart_rate", "temperature", "spo2")
_JOINT = re.compile(r"\s*(?:,|;|(?<!\w)and(?!\w))\s*", re.IGNORECASE)
#: °C that a body can have; 98.6 is another unit.
_WARMEST = 45.0
_WRITE = r"(?:record|chart|note)"
_VITALS = r"(?:vitals|vital signs|obs|observations)"
_READING = rf"(?:{'|'.join(_MEASURED)})"
_TAKEN = r"(?:,? (?:taken )?at {time})?"
_ONE_NUMBER = r"(?P<vital>heart rate|pulse|hr|temperature|temp|spo2|(?:o2 )?sats|oxygen saturation|weight)"
_SIGN = rf"(?:{_PRESSURE}|{_PULSE}|{_TEMPERATURE}|{_SATURATION})"
_LISTED = rf"(?P<readings>{_SIGN}(?!\w)[^\0]{{2,200}}?)"


def _one(said: Said) -> Plan:
    args = _values({name: said.text(name) for name in _VALUES if said.has(name)})
    taken = f"{said.today.isoformat()}T{said.time()}:00Z" if said.has("time") else None
    return _recorded(said, {**args, "taken_at": taken})


def _several(said: Said) -> Plan:
    given: dict[str, str] = {}
    for part in _JOINT.split(said.text("readings").rstrip(" .")):
        found = next((match for shape in _MEASURED if (match := re.fullmatch(shape, part, re.I))), None)
        if found is None:
            raise refuse_part(
                part, "it is no blood pressure, pulse, temperature or saturation with its value"
            )
        if found.groupdict().keys() & given.keys():
            raise refuse_part(part, "this sign is said twice")
        given |= found.groupdict()
    return _recorded(said, _values(given))


def _values(given: Mapping[str, str]) -> dict[str, float]:
    """What was read, as numbers. Whether they can be is for the tool to say, their unit is known here."""
    values = {name: float(text) if name == "temperature" else int(text) for name, text in given.items()}
    if values.get("temperature", 0.0) > _WARMEST:
        raise refuse(f"a temperature of {values['temperature']:g} is not in °C; say it in °C")
    return values


def _recorded(said: Said, args: Mapping[str, Any]) -> Plan:
    return plan(said.search(), step("s2", "vitals.record", {"patient": PATIENT, **args}, after=("s1",)))


def _correct_last(said: Said) -> Plan:
    """The newest reading of that sign, which the card shows."""
    sign = said.code("vital", SIGNS)
    args = {
        "observation": reference("s2", "readings", "0", "reference"),
        "action": "amend",
        "value": said.number("value"),
        "reason": said.why(),
    }
    return plan(
        said.search(),
        step("s2", "vitals.trend.card", {"patient": PATIENT, "sign": [sign]}, after=("s1",)),
        step("s3", "vitals.correct", args, after=("s2",)),
    )


VITALS: tuple[Formula, ...] = (
    Formula.of(
        "vitals.record",
        _one,
        rf"{_WRITE} {{whose}} {_READING}{_TAKEN}",
        rf"{_WRITE} an? {_READING} for {{who}}{_TAKEN}",
    ),
    Formula.of(
        "vitals.record",
        _several,
        rf"{_WRITE} (?:the )?{_VITALS} (?:for|of) {{who}}: {_LISTED}",
        rf"{_WRITE} {{whose}} {_VITALS}: {_LISTED}",
        rf"{{who}}: {_LISTED}",
    ),
    Formula.of(
        "vitals.correct",
        _correct_last,
        rf"correct {{whose}} (?:last|latest) {_ONE_NUMBER} to (?P<value>\d+(?:\.\d+)?)"
        r"(?:{because}{why})?",
        rf"{{whose}} (?:last|latest) {_ONE_NUMBER} (?:was|is) wrong,? (?:and )?it should (?:be|have been) "
        rf"(?P<value>\d+(?:\.\d+)?)(?:{{because}}{{why}})?",
    ),
)
