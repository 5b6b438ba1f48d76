"""What every test shares.

Hypothesis explores at a desk and is deterministic where `CI` is set. What a wait says of a run from the
memory of its segment is held against the store, in every test that waits; so is what an answer is taken on.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from condor.core.errors import RecordDamaged, StoreUnavailable
from condor.pump.phases import suspend_resume
from condor.pump.state import RunAsLeft, RunState
from condor.runtime.runtime import Runtime
from condor.runtime.snapshot import run_snapshot
from tests.clusters import cluster as cluster  # a fixture

if TYPE_CHECKING:
    from condor.pump.phases.suspend_resume import Accepted, ResumeRun
    from condor.pump.ports import PumpPorts
    from condor.runtime.snapshot import Shown

settings.register_profile("desk", deadline=None)
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture(autouse=True)
def _waits_are_held_to_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Runtime.wait

    async def held(self: Runtime, run_id: str) -> Shown:
        left = await wait(self, run_id)
        if isinstance(left, RunAsLeft):
            stored = await self._ports.store.load(run_id)
            assert stored is not None, "what has rested is stored"
            moved_on = (stored.run.status, stored.run.updated_at) != (left.run.status, left.run.updated_at)
            assert moved_on or run_snapshot(left) == run_snapshot(stored)
        return left

    monkeypatch.setattr(Runtime, "wait", held)


@pytest.fixture(autouse=True)
def _what_was_left_is_held_to_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = suspend_resume._on_what_was_left

    async def held(resume: ResumeRun, ports: PumpPorts) -> Accepted | None:
        left = ports.left.forget(resume.run_id)
        if left is None:
            return await answered(resume, ports)
        ports.left.keep(left)
        with contextlib.suppress(StoreUnavailable, RecordDamaged):
            stored = await ports.store.load(left.run.run_id)
            if stored is not None and stored.run.rev == left.run.rev:
                assert RunState.from_store(left) == RunState.from_store(stored)
        return await answered(resume, ports)

    monkeypatch.setattr(suspend_resume, "_on_what_was_left", held)
