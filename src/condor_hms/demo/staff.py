"""Who works in the demonstration hospital.

The ids are those of the Practitioner resources in the demonstration record; `admin` looks after the software
and has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEMO_STAFF", "DemoStaff"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStaff:
    """One member of staff."""

    #: Login id, also the id of the Practitioner.
    id: str
    #: Role as the tool catalogue names it.
    role: str
    #: Full name as signed: `Dr Amara Okafor`.
    display: str
    #: How a message names them: `Dr Okafor`.
    short: str
    #: `Practitioner/…`; None for whoever has no clinical record.
    reference: str | None


def _staff(staff_id: str, role: str, display: str, short: str) -> DemoStaff:
    reference = None if role == "admin" else f"Practitioner/{staff_id}"
    return DemoStaff(id=staff_id, role=role, display=display, short=short, reference=reference)


#: By id, in the order a login page shows them.
DEMO_STAFF: Mapping[str, DemoStaff] = MappingProxyType(
    {
        member.id: member
        for member in (
            _staff("dr-okafor", "doctor", "Dr Amara Okafor", "Dr Okafor"),
            _staff("dr-lindholm", "doctor", "Dr Erik Lindholm", "Dr Lindholm"),
            _staff("rn-castillo", "nurse", "Maya Castillo", "Nurse Castillo"),
            _staff("pharm-osei", "pharmacist", "Daniel Osei", "Pharmacist Osei"),
            _staff("front-tanaka", "receptionist", "Yuki Tanaka", "Yuki Tanaka"),
            _staff("bill-novak", "billing", "Petra Novak", "Petra Novak"),
            _staff("audit-reyes", "auditor", "Ines Reyes", "Ines Reyes"),
            _staff("admin", "admin", "Administrator", "Administrator"),
        )
    }
)
