"""Who asks and who answers: the signed-in principal, never a name in a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.ids import Json

#: Roles that look and configure; they answer no card, whatever else the principal is.
DECIDES_NOTHING = frozenset({"auditor", "admin"})
#: No role of anybody: who may approve where what is laid on a tool leaves nobody.
NOBODY = frozenset({"(nobody)"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """One signed-in person or program."""

    id: str
    roles: frozenset[str] = frozenset()
    #: A program (an agent's token, a service) is at most guarded and answers nothing.
    kind: Literal["person", "program", "system"] = "person"
    #: What texts call them: ``Dr Okafor``.
    display: str = ""

    @property
    def name(self) -> str:
        """The display name, or the id where there is none."""
        return self.display or self.id

    def to_json(self) -> dict[str, Json]:
        """As stored on the run row."""
        return {"id": self.id, "roles": sorted(self.roles), "kind": self.kind, "display": self.display}

    @classmethod
    def from_json(cls, stored: Mapping[str, object]) -> Principal:
        """The principal of a run row; a kind that cannot be read is a program, which may least."""
        kind = stored["kind"]
        return cls(
            id=str(stored["id"]),
            roles=frozenset(cast("list[str]", stored["roles"])),
            kind=kind if kind in ("person", "program", "system") else "program",
            display=str(stored.get("display", "")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvers:
    """Who answers, resolved for people to read; whoever decides nothing is not among them."""

    #: Roles that do, each alone.
    roles: frozenset[str]
    #: Whoever is signed in does; then there are no roles.
    anybody: bool

    @property
    def nobody(self) -> bool:
        """No answer of anybody counts."""
        return not self.anybody and not self.roles

    def to_json(self) -> dict[str, Json]:
        """As in the API: no roles, and not anybody, is nobody."""
        return {"roles": sorted(self.roles), "anybody": self.anybody}


def approvers_among(named: frozenset[str]) -> Approvers:
    """Who answers where these roles are named; none named is anybody signed in."""
    return Approvers(roles=named - NOBODY - DECIDES_NOTHING, anybody=not named)


#: The actor of what nobody did: expiry, recovery.
SYSTEM = Principal(id="system", kind="system", display="Condor")
#: The person at a library call or a development home that names nobody.
LOCAL_PERSON = Principal(id="local", display="the local operator")
