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
    "code_arg",
    "date_arg",
    "patient_arg",
    "priority_arg",
    "record_arg",
    "since_arg",
    "text_arg",
    "until_arg",
    "why_arg",
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


def record_arg(name: str, label: str, tool: str = "", *, required: bool = True) -> ArgSpec:
    """A resource, and the tool that finds it."""
    hint: Hint = {"lookup": {"tool": tool}} if tool else {}
    return ArgSpec(name=name, label=label, type="reference", required=required, hint=hint)


def code_arg(
    name: str,
    label: str,
    options: Mapping[str, str],
    *,
    required: bool = False,
    radio: bool = True,
    vs: str = "",
    **rest: Any,
) -> ArgSpec:
    """One of a closed list of codes.

    Args:
        vs: the value set it comes from.
    """
    hint: Hint = {"enum": choice(options)}
    if radio:
        hint["radio"] = True
    if vs:
        hint["vs"] = vs
    return ArgSpec(name=name, label=label, type="code", required=required, hint=hint, **rest)


def text_arg(name: str, label: str, *, required: bool = False, area: bool = True, **limits: int) -> ArgSpec:
    """Free text; ``limits`` are ``min_length`` and ``max_length``, in characters."""
    hint: Hint = {"textarea": True, **limits} if area else dict(limits)
    return ArgSpec(name=name, label=label, type="string", required=required, hint=hint)


def why_arg(*, required: bool = True, required_if: Mapping[str, tuple[Any, ...]] | None = None) -> ArgSpec:
    """Why something is changed or taken out of use."""
    hint: Hint = {"textarea": True, "min_length": 3, "max_length": 500}
    return ArgSpec(
        name="reason",
        label="Reason",
        type="string",
        required=required,
        hint=hint,
        required_if=required_if or {},
    )


def date_arg(
    name: str, label: str, earliest: str, latest: str, *, required: bool = False, **rest: Any
) -> ArgSpec:
    """A day between two, such as ``today-10y`` and ``today``."""
    hint: Hint = {"format": "date", "min": earliest, "max": latest}
    return ArgSpec(name=name, label=label, type="date", required=required, hint=hint, **rest)


def since_arg() -> ArgSpec:
    """From which day on."""
    return date_arg("since", "Since", "today-10y", "today")


def until_arg() -> ArgSpec:
    """Up to which day."""
    return date_arg("until", "Until", "today-10y", "today+1y")


def priority_arg() -> ArgSpec:
    """How soon."""
    return code_arg("priority", "Priority", PRIORITIES, vs="request-priority")
