"""What a write profile is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["AGENTS", "ANY", "CLINICIANS", "NEW_PATIENT", "SHARED_CODES", "Profile", "States", "moves"]

#: What acts or is acted for, as R4 lists it for most elements.
AGENTS = ("Practitioner", "PractitionerRole", "RelatedPerson", "Patient", "Device", "Organization")
CLINICIANS = ("Practitioner", "PractitionerRole")
#: Stands for any type: the element may point at everything that exists.
ANY = ("Resource",)
NEW_PATIENT = "a record cannot move to another patient: mark this one entered-in-error and write a new one"
SHARED_CODES = {"identifier.use": "identifier-use", "text.status": "narrative-status"}


def moves(table: dict[str, str]) -> dict[str, frozenset[str]]:
    """State → the states that may follow it, written as words."""
    return {state: frozenset(following.split()) for state, following in table.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """The states of a resource and where each may go; a state that is no key may go anywhere."""

    #: Dotted path of the state; a CodeableConcept counts by the code of the bound system.
    path: str
    #: Allowed next states by state. An empty set is terminal: nothing may change any more.
    moves: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The write profile of one type. Paths are dotted, without the type and without indices."""

    #: Value set name by path of a `code` element.
    codes: dict[str, str] = field(default_factory=dict)
    #: Value set name by path of a CodeableConcept element: one coding must be of the set.
    concepts: dict[str, str] = field(default_factory=dict)
    #: Reference targets by path of a Reference. Source: R4 StructureDefinitions; narrower where noted.
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: References that must be literal (`Type/id`), never only a display or an identifier.
    literal: tuple[str, ...] = ()
    #: References that may be to another patient's: a newborn's mother, a donor.
    others: tuple[str, ...] = ()
    #: CodeableConcepts that must say something: a text, a code or a display.
    spoken: tuple[str, ...] = ()
    #: Paths that an update may not change, with the advice that goes with it.
    fixed: dict[str, str] = field(default_factory=dict)
    #: The state machine; None where the type has none.
    states: States | None = None
    #: A version, once written, is final: no update at all.
    append_only: bool = False
