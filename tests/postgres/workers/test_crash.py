"""kill -9 of a worker at named points: another worker goes on, with one effect whatever happens.

A case is a seed: which tool, where the first worker dies, and where the second one does, if it comes there.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.postgres.workers.crew import PATIENCE_S, QUICK, REST_S_MAX, Crew, step
from tests.simulation.cases import all_kills
from tests.simulation.restart_server import ANN, KINDS, OPERATORS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from condor import Condor
    from tests.simulation.cases import Kill

pytestmark = pytest.mark.slow

#: What a worker never passes: it takes no answers, and its tools are no hospital's.
_ELSEWHERE = ("answer.checked", "answer.committed")
KILLS = [kill for kill in all_kills() if kill.point not in _ELSEWHERE and not kill.point.startswith("fhir.")]
SEEDS = range(int(os.environ.get("CONDOR_CRASH_SEEDS", "15")) // 5)
_RECORD = "a"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a seed decides."""

    kind: str
    kill: Kill
    again: Kill | None
    approved: bool
    planted: str = ""


def by_chance(seed: int) -> Case:
    """The case of a seed."""
    chance = random.Random(seed)
    return Case(
        kind=chance.choice(KINDS),
        kill=chance.choice(KILLS),
        again=chance.choice([None, None, *KILLS]),
        approved=chance.random() > 0.15,
    )


async def check_case(crew: Crew, case: Case) -> list[str]:
    """Play a case; everything that is not as it must be."""
    plan = {"steps": [step("w", f"{case.kind}.write", record=_RECORD), step("s", "gate.hold", "w", name="s")]}
    crew.let_go("s")
    env: dict[str, Any] = {**QUICK, "CREW_PLANTED": case.planted}
    async with crew.server() as condor:
        kills = [case.kill, *([case.again] if case.again else [])]
        dying = [await crew.begin("worker", **env, CREW_KILL=_as_env(kills[0]))]
        run = await condor.start(plan=plan, principal=ANN)
        watch = asyncio.create_task(_replaced(crew, dying, kills[1:], env))
        try:
            wrong = [line async for line in _seen_through(condor, crew, case, run.id)]
        finally:
            watch.cancel()
        verdicts = [verdict async for verdict in condor.verify()]
        return wrong + [verdict.message for verdict in verdicts if not verdict.kept]


async def _replaced(crew: Crew, dying: list[int], kills: list[Kill], env: dict[str, Any]) -> None:
    """Whoever dies has a successor; the last one lives."""
    while dying:
        pid = dying.pop()
        while crew.is_there(pid):  # noqa: ASYNC110 - it dies by itself
            await asyncio.sleep(0.02)
        if kills:
            dying.append(await crew.begin("worker", **env, CREW_KILL=_as_env(kills.pop())))
        else:
            await crew.begin("worker", **env)


async def _seen_through(condor: Condor, crew: Crew, case: Case, run_id: str) -> Any:
    """Answer what is asked until the run has ended; what was wrong with how it went."""
    asked: Counter[str] = Counter()
    while True:
        begun = time.monotonic()
        shown: Any = await asyncio.wait_for(condor.wait(run_id), PATIENCE_S)
        if time.monotonic() - begun > REST_S_MAX:
            yield f"{time.monotonic() - begun:.0f} s until it rested"
        cards = [card for card in shown["suspensions"] if card["status"] == "pending"]
        if not cards:
            break
        reason = cards[0]["reasonCode"]
        asked[reason] += 1
        data: dict[str, Any] = {"approved": case.approved}
        if reason == "reconcile":
            data = {"happened": crew.ledger.count(_RECORD) > 0, "reason": "looked"}
        await condor.resume(run_id, cards[0]["suspendId"], data, principal=OPERATORS[0])
    for line in _complaints(case, shown, asked, crew.ledger.count(_RECORD)):
        yield line


def _complaints(case: Case, shown: Any, asked: Counter[str], effects: int) -> Iterator[str]:
    if shown["status"] != ("succeeded" if case.approved else "aborted"):
        yield f"it ended {shown['status']}: {shown['closing']}"
    if effects != case.approved:
        yield f"{effects} effects"
    if asked["reconcile"] and case.kind != "plain":
        yield "a person was asked what the tool could have told"
    if asked["approval"] > 1 + asked["reconcile"]:
        yield f"{asked['approval']} approvals were asked for"


def _as_env(kill: Kill) -> str:
    return json.dumps([kill.point, kill.nth])


@pytest.mark.parametrize("seed", SEEDS)
async def test_one_effect_by_chance(crew: Crew, seed: int) -> None:
    """Whatever the seed does to the workers, the run comes to its right end."""
    case = by_chance(seed)
    assert await check_case(crew, case) == [], f"seed {seed}: {case}\n{crew.log()[-3000:]}"


async def test_a_planted_bug_is_found(crew: Crew) -> None:
    """The suite is not blind: a worker that enters an unknown effect again makes it complain."""
    kill = next(kill for kill in KILLS if kill.point == "tool.returned")
    case = Case(kind="plain", kill=kill, again=None, approved=True, planted="enters blindly")
    assert "2 effects" in await check_case(crew, case)
