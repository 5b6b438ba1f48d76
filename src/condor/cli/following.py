"""Following a run to its next rest: events out as JSON lines, or progress for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor.cli.progress import Progress, drawn
from condor.core.errors import StoreUnavailable

if TYPE_CHECKING:
    from condor.bootstrap import Condor
    from condor.cli.screen import Screen

Snapshot = dict[str, Any]

#: Seconds between two looks whether the run stands still.
_LOOK_S = 0.5


async def follow(condor: Condor, run_id: str, screen: Screen, *, after: int = 0) -> Snapshot:
    """Show what happens until the run is parked or has ended; the snapshot then.

    Args:
        after: sequence number of the last event that was shown already.

    Raises:
        StoreUnavailable: the run stands still, because nothing more can be stored.
    """
    import asyncio

    watching = asyncio.ensure_future(_watched(condor, run_id, screen, after))
    try:
        while not (await asyncio.wait({watching}, timeout=_LOOK_S))[0]:
            if condor.stands_still(run_id):
                raise StoreUnavailable(
                    f"run {run_id} stands still: nothing more can be stored (is the disk full?); "
                    "it goes on when this home is next opened to change it"
                )
        return watching.result()
    except asyncio.CancelledError:
        screen.note(
            f"condor: run {run_id} goes on when this home is next opened to change it; "
            "what is in flight has a few seconds to finish"
        )
        raise
    finally:
        watching.cancel()


async def _watched(condor: Condor, run_id: str, screen: Screen, after: int) -> Snapshot:
    """Draw every event until the run rests."""
    progress = Progress()
    with drawn(screen) as display:
        if after:
            progress.load((await condor.show(run_id))["steps"])  # type: ignore[arg-type]
        async for event in condor.watch(run_id, after=after):
            if screen.as_json:
                screen.json(event.to_json())
                continue
            if str(event.kind) == "plan.ready":
                _load_plan(progress, await condor.show(run_id))
                display.plan(progress)
                continue
            step = progress.apply(event)
            if step is not None:
                display.moved(progress, step)
    return await condor.wait(run_id)


def _load_plan(progress: Progress, snapshot: Snapshot) -> None:
    """The plan's steps, not yet begun: what has happened since is told by the events that follow."""
    progress.load([{**step, "status": "pending", "code": ""} for step in snapshot["steps"]])


async def last_seq(condor: Condor, run_id: str) -> int:
    """Sequence number of the run's last event: what is before it was shown when it happened."""
    return int((await condor.show(run_id))["seq"])  # type: ignore[arg-type]


__all__ = ["Snapshot", "follow", "last_seq"]
