"""Who asks and answers, as stored and as read back."""

from __future__ import annotations

import pytest

from condor.core.run import DECIDES_NOTHING, LOCAL_PERSON, SYSTEM, Principal


@pytest.mark.parametrize(
    "principal",
    [
        Principal(id="dr-okafor", roles=frozenset({"doctor", "auditor"}), display="Dr Okafor"),
        Principal(id="agent", kind="program"),
        SYSTEM,
        LOCAL_PERSON,
    ],
    ids=lambda principal: principal.id,
)
def test_a_principal_survives_storage(principal: Principal) -> None:
    """What was written on the run row is who is read back."""
    assert Principal.from_json(principal.to_json()) == principal


def test_a_principal_is_stored_the_same_way_each_time() -> None:
    """Roles are sorted, so that equal principals are equal bytes."""
    one = Principal(id="x", roles=frozenset({"b", "a", "c"}))
    assert one.to_json() == {"id": "x", "roles": ["a", "b", "c"], "kind": "person", "display": ""}


@pytest.mark.parametrize("kind", ["Person", "", None, "admin", 1])
def test_a_kind_that_cannot_be_read_may_least(kind: object) -> None:
    """A damaged row never makes a person, who could approve, of something else."""
    assert Principal.from_json({"id": "x", "roles": [], "kind": kind}).kind == "program"


def test_everybody_has_a_name() -> None:
    """Texts fall back on the id."""
    assert (Principal(id="x").name, Principal(id="x", display="Dr X").name) == ("x", "Dr X")


def test_who_decides_nothing() -> None:
    """Those who look and configure answer no card; nobody is made one of them by default."""
    assert {"auditor", "admin"} == DECIDES_NOTHING
    assert not (SYSTEM.roles | LOCAL_PERSON.roles) & DECIDES_NOTHING
    assert (SYSTEM.kind, LOCAL_PERSON.kind, Principal(id="x").kind) == ("system", "person", "person")
