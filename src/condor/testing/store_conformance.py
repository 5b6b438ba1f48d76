"""What a store must do: the definition of ``ports.store.Store``, run against any of them.

``CHECKS`` are coroutines that take ``open``, which opens the database of one test: an empty one at first,
the same one when it is called again after ``close``. ``check_kill`` takes a command for a child process
too, that runs ``write_until_killed`` on the same database.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

from condor.core.run import EventKind
from condor.ports.store import (
    Store,
    Transition,
)
from condor.testing import (
    store_checks_cards,
    store_checks_edge,
    store_checks_kernels,
    store_checks_lists,
    store_checks_seals,
    store_checks_units,
)
from condor.testing.store_units import (
    Check,
    Open,
    at,
    creation,
    entry,
    every_chain_is_whole,
    run_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Every promise but that of ``check_kill``.
CHECKS: tuple[Check, ...] = tuple(
    check
    for module in (
        store_checks_units,
        store_checks_cards,
        store_checks_lists,
        store_checks_edge,
        store_checks_kernels,
        store_checks_seals,
    )
    for name, check in vars(module).items()
    if name.startswith("check_")
)

#: Runs that the child of ``check_kill`` writes to at the same time.
_KILLED_RUNS = 8


async def write_until_killed(store: Store) -> None:
    """Write to several runs for ever; print ``run seq`` as each unit is acknowledged."""

    async def write(number: int) -> None:
        committed = await store.commit(creation(number))
        while True:
            _acknowledge(run_name(number), committed.last_seq)
            following = committed.last_seq + 1
            committed = await store.commit(
                Transition(
                    run_id=run_name(number),
                    at=at(following),
                    events=[(EventKind.TEXT_DELTA, b"%d" % following)],
                    audit=[entry(run_name(number), second=following)],
                    payloads=[("latest", b"%d" % following)],
                )
            )

    async with asyncio.TaskGroup() as group:
        for number in range(_KILLED_RUNS):
            group.create_task(write(number))


def _acknowledge(run_id: str, seq: int) -> None:
    sys.stdout.write(f"{run_id} {seq}\n")
    sys.stdout.flush()


async def check_kill(open_store: Open, child: Sequence[str], *, acknowledged: int = 200) -> None:
    """After kill -9 every acknowledged unit is there whole, and of the others at most the one in flight.

    Args:
        open_store: opens the database, once the child is dead.
        child: a command that runs ``write_until_killed`` on the same, empty database.
        acknowledged: units to wait for before the kill.
    """
    process = await asyncio.create_subprocess_exec(*child, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    lines = [await process.stdout.readline() for _ in range(acknowledged)]
    process.send_signal(signal.SIGKILL)
    rest = await process.stdout.read()
    await process.wait()
    told: dict[str, int] = {}
    for line in (*lines, *rest.splitlines(keepends=True)):
        if line.endswith(b"\n"):
            run_id, number = line.decode().split()
            told[run_id] = int(number)
    assert len(told) == _KILLED_RUNS
    store = await open_store()
    for run_id, seq in told.items():
        run = await store.run(run_id)
        assert run is not None
        assert run.seq - seq in {0, 1}, f"run {run_id} was told {seq} and has {run.seq}"
        assert run.seq == run.rev == run.audit_seq
        events = await store.events(run_id, limit=1_000_000)
        assert list(range(1, run.seq + 1)) == [event.seq for event in events]
        if run.seq > 1:
            assert {"latest": b"%d" % run.seq} == dict(await store.payloads(run_id, ["latest"]))
    await every_chain_is_whole(store)


__all__ = ["CHECKS", "Check", "Open", "check_kill", "write_until_killed"]
