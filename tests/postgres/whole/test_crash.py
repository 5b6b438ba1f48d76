"""kill -9 at named points, on PostgreSQL: the same cases and the same complaints as with a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.simulation.cases import Case, Kill, by_chance, complaints, one_of_each

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simulation.cases import Told

pytestmark = pytest.mark.slow

#: Every case of `make crash`; in the suite each twelfth, and the two sides of the writer's commit.
ALL = "CONDOR_CRASH_SEEDS" in os.environ
COMMITS = {Kill(point="writer.before-commit", nth=2), Kill(point="writer.after-commit", nth=2)}
CASES = [
    case
    for place, case in enumerate(one_of_each())
    if ALL or place % 12 == 0 or (case.kill in COMMITS and case.kind == "hospital" and not case.again)
]
#: More, by seed; not those of the file's suite. One dies after an answer was stored and before it was told.
SEEDS = sorted({*range(10_000, 10_000 + int(os.environ.get("CONDOR_CRASH_SEEDS", "1"))), 10_013})


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_effect_whatever_happens(case: Case, play: Callable[[Case], Told]) -> None:
    """After kill -9 the run ends right by itself, or a person is asked what nobody else can know."""
    told = play(case)
    assert told.ends[0] == "killed", "the point was not reached"
    assert list(complaints(case, told)) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_one_effect_by_chance(seed: int, play: Callable[[Case], Told]) -> None:
    """The same for cases that a seed decides."""
    case = by_chance(seed)
    assert list(complaints(case, play(case))) == [], f"seed {seed}: {case}"


def test_a_planted_bug_is_found(play: Callable[[Case], Told]) -> None:
    """The suite is not blind here either."""
    case = Case(kind="plain", kill=Kill(point="tool.returned"), planted="enters blindly")
    assert list(complaints(case, play(case))) != []
