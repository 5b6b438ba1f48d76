"""kill -9 anywhere between the approval and the end: one effect, no approval lost, nobody asked twice.

Here with the ledger, and by chance; with the hospital's own record in ``test_crash_hospital``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from condor.ports.faults import FAULT_POINTS
from tests.simulation.cases import LEDGER_KINDS, Case, Kill, by_chance, complaints, one_of_each
from tests.simulation.planted import PLANTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.cases import Told

pytestmark = pytest.mark.slow

CASES = list(one_of_each())
#: More cases, by seed: `make crash`.
SEEDS = range(int(os.environ.get("CONDOR_CRASH_SEEDS", "12")))


@pytest.mark.parametrize("case", [case for case in CASES if case.kind != "hospital"], ids=str)
def test_one_effect_whatever_happens(case: Case, play: Callable[[Case], Told]) -> None:
    """After kill -9 the run ends right by itself, or a person is asked what nobody else can know."""
    told = play(case)
    assert told.ends[0] == "killed", "the point was not reached"
    assert list(complaints(case, told)) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_one_effect_by_chance(seed: int, play: Callable[[Case], Told]) -> None:
    """The same for cases that a seed decides."""
    case = by_chance(seed)
    told = play(case)
    assert list(complaints(case, told)) == [], f"seed {seed}: {case}"


def test_there_are_sixty_cases_and_no_two_are_one() -> None:
    """Beside what chance adds; every point has its case."""
    assert len(CASES) >= 60
    assert len({str(case) for case in CASES}) == len(CASES)
    assert {case.kill.point for case in CASES if case.kill} == set(FAULT_POINTS)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str, play: Callable[[Case], Told]) -> None:
    """The suite is not blind: each of these mistakes makes a case complain."""
    for kind in LEDGER_KINDS:
        for point in ("fhir.after-commit", "tool.returned", "intent.committed"):
            case = Case(kind=kind, kill=Kill(point=point), planted=name)
            if list(complaints(case, play(case))):
                return
    pytest.fail(f"{name}: no case complains")
