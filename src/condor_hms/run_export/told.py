"""What a run's snapshot says of one step or one card, and what the record says of what it wrote.

Law: everything here is in the snapshot that the caller may read, or is an id and a version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from condor_hms.fhir.own_systems import CONDOR, PRINCIPAL_SYSTEM
from condor_hms.run_export.names import references_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["SYSTEM", "Call", "People", "Version", "Wrote"]

#: Types that are people and places of a call, and not what it changes.
_NOT_CHANGED = frozenset({"Patient", "Practitioner", "PractitionerRole", "Organization", "Location"})
SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One resource that was written."""

    #: `Type/id/_history/version`.
    reference: str
    #: Versions and digests before and after; of a new one there is none before.
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrote:
    """What a step wrote."""

    #: Everything that was written, as the Provenance names it.
    versions: tuple[Version, ...] = ()
    #: `Patient/id` of whom it is about; empty where it is about nobody.
    patient: str = ""
    #: As recorded, in the transaction of the write; None where there is none.
    provenance: Resource | None = None

    @property
    def activity(self) -> str:
        """``CREATE``, ``UPDATE`` or ``DELETE`` as the Provenance says; empty without one."""
        codings = ((self.provenance or {}).get("activity") or {}).get("coding") or [{}]
        return str(codings[0].get("code") or "")

    @property
    def signature(self) -> Mapping[str, Any]:
        """The first signature; empty without one."""
        return next(iter((self.provenance or {}).get("signature") or ()), {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One step of a run."""

    step: Mapping[str, Any]
    #: Its cards, in the order they were opened.
    cards: Sequence[Mapping[str, Any]]
    wrote: Wrote = field(default_factory=Wrote)

    @property
    def approved(self) -> Mapping[str, Any] | None:
        """The card whose approval ran it; None where nobody was asked, or nobody approved."""
        return next((card for card in reversed(self.cards) if card.get("status") == "approved"), None)

    @property
    def patient(self) -> str:
        """`Patient/id` of whom it is about; empty where the run does not say."""
        for card in reversed(self.cards):
            subject = ((card.get("evidence") or {}).get("subject") or {}).get("reference")
            if isinstance(subject, str) and subject.startswith("Patient/"):
                return subject
        named = (ref for ref in references_in(self.step.get("args")) if ref.startswith("Patient/"))
        return self.wrote.patient or next(named, "")

    @property
    def targets(self) -> tuple[str, ...]:
        """`Type/id` of resources that its arguments name to be changed or looked at."""
        given = self.step.get("args") or next((card.get("toolInput") for card in self.cards[-1:]), None)
        found = references_in(given)
        return tuple(dict.fromkeys(ref for ref in found if ref.partition("/")[0] not in _NOT_CHANGED))


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Who is named in a run, by principal id, as a Reference with the printed name."""

    known: Mapping[str, Mapping[str, Any]]
    #: Roles as they were, by principal id.
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def reference(self, principal_id: str) -> dict[str, Any]:
        """Their Practitioner, else their login."""
        if principal_id in ("", SYSTEM):
            return dict(CONDOR)
        found = self.known.get(principal_id)
        if found is not None:
            return dict(found)
        return {
            "identifier": {"system": PRINCIPAL_SYSTEM, "value": principal_id},
            "display": principal_id,
        }
