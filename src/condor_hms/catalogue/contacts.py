"""Where somebody can be reached, and how it is shown to those who need not know all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from condor import ToolError
from condor_hms.catalogue.hospital import Hospital, reading, reference_of
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.words import concept_text, joined

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping

    from condor_hms.fhir.port import Resource

__all__ = ["CHANNELS", "Contact", "consent_text", "contact_of"]

CHANNELS: Mapping[str, str] = {"sms": "SMS", "email": "Email", "portal": "Patient portal", "letter": "Letter"}
#: In a sentence.
_LABELS = {"sms": "SMS", "email": "email", "portal": "portal message", "letter": "letter"}
#: Digits of a number, or letters of a mailbox, that stay visible.
_SHOWN_DIGITS, _SHOWN_LETTERS = 3, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A person on one channel."""

    reference: str
    name: str
    #: ``identity`` of a patient; of a colleague reference and text alone.
    who: Mapping[str, Any]
    #: The channel, in a sentence.
    label: str
    address: str
    #: The address as a card shows it.
    masked: str


def contact_of(resource: Resource, channel: str, today: datetime.date) -> Contact:
    """Where a patient or a colleague is reached.

    Raises:
        ToolError: the record has no address for this channel.
    """
    reference = reference_of(resource)
    who = identity(resource, today) if resource["resourceType"] == "Patient" else _colleague(resource)
    address = _address(resource, channel)
    if not address:
        missing = {"sms": "phone number", "email": "email address", "letter": "postal address"}[channel]
        raise ToolError(
            f"{who['name']} has no {missing} on record; nothing was sent", effect="none", code="no_address"
        )
    return Contact(
        reference=reference,
        name=str(who["name"]),
        who=who,
        label=_LABELS[channel],
        address=address,
        masked=_masked(address, channel),
    )


def _colleague(practitioner: Resource) -> dict[str, Any]:
    names: list[dict[str, Any]] = practitioner.get("name") or [{}]
    name = names[0]
    parts = [*(name.get("prefix") or []), *(name.get("given") or []), name.get("family") or ""]
    said = " ".join(part for part in parts if part) or "colleague without a name"
    return {"reference": reference_of(practitioner), "name": said, "text": said}


def _address(resource: Resource, channel: str) -> str:
    if channel == "portal":
        return reference_of(resource)
    if channel == "letter":
        homes: list[dict[str, Any]] = resource.get("address") or [{}]
        lines = [*(homes[0].get("line") or []), homes[0].get("postalCode"), homes[0].get("city")]
        return ", ".join(str(line) for line in lines if line)
    system = {"sms": "phone", "email": "email"}[channel]
    points = [point for point in resource.get("telecom") or [] if point.get("system") == system]
    mobile = [point for point in points if point.get("use") == "mobile"]
    return next((str(point["value"]) for point in (*mobile, *points) if point.get("value")), "")


def _masked(address: str, channel: str) -> str:
    """Enough to tell two addresses apart, not enough to use one."""
    match channel:
        case "sms":
            digits = [char for char in address if char.isdigit()]
            return "number ending " + "".join(digits[-_SHOWN_DIGITS:])
        case "email":
            box, _, domain = address.partition("@")
            return f"{box[:_SHOWN_LETTERS]}…@{domain}"
        case "letter":
            return f"address in {address.rpartition(', ')[2]}"
        case _:
            return "patient portal"


async def consent_text(hospital: Hospital, reference: str) -> str:
    """What the record says of consent to be contacted."""
    if not reference.startswith("Patient/"):
        return "a colleague"
    with reading():
        found = await hospital.fhir.search("Consent", {"patient": reference, "status": "active"})
    said = [concept_text(next(iter(row.get("category") or []), None)) or reference_of(row) for row in found]
    return joined(said) if said else "none on record"
