"""How Condor names itself, its people and its calls in a record: systems of identifiers and tags.

The index of PostgreSQL that holds one resource to a key has the system written out (``postgres_tables``):
what a database was made with does not follow a constant.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CONDOR", "IDEMPOTENCY_SYSTEM", "PRINCIPAL_SYSTEM", "agent"]

#: Of the identifier and the tag that carry a call's key.
IDEMPOTENCY_SYSTEM = "urn:condor:idem"
#: Of whoever has no Practitioner: their principal id.
PRINCIPAL_SYSTEM = "urn:condor:principal"
_AGENT_SYSTEM = "urn:condor:agent"


def agent(display: str) -> dict[str, Any]:
    """A part of Condor as a Reference."""
    return {"display": display, "identifier": {"system": _AGENT_SYSTEM, "value": "condor"}}


#: The run-time: what parked, asked and wrote.
CONDOR: Mapping[str, Any] = MappingProxyType(agent("Condor agent run-time"))
