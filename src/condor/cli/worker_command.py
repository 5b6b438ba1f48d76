"""``condor worker``: works on the runs of a shared database, until it is told to stop."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option
from condor.cli.owner import check_shared

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

    from condor.cli.home import Place
    from condor.config import Settings

#: What tells a worker to stop: a person, and whoever looks after processes. A second one ends it at once.
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@click.command("worker")
@click.option(
    "--concurrency", type=click.IntRange(1, 1_000), help="Runs worked on at once.  [default: as configured]"
)
@home_option
def worker_command(home: Path, *, concurrency: int | None) -> int:
    """Work on runs that servers hand over (`condor serve --no-worker`), on any machine.

    It needs CONDOR_DATABASE_URL=postgresql://… and the tool packs of the runs. SIGTERM hands over what is
    under way; another worker goes on with it at once.
    """
    from condor.cli.home import place_to_run
    from condor.config import read_settings

    check_shared("a worker")
    run_to_end(_worked(place_to_run(home), read_settings(home=home), concurrency))
    return 0


async def _worked(place: Place, settings: Settings, concurrency: int | None) -> None:
    import asyncio

    from condor.cli.screen import Screen
    from condor.cli.session import holding
    from condor.ports.clock import SystemClock
    from condor.server.logs import log_as_json

    screen, stop = Screen(), asyncio.Event()
    log_as_json(SystemClock())
    _at_a_signal(stop)
    async with holding(place, screen, driven="jobs") as condor:
        at_once = concurrency or settings.worker_concurrency

        def ready() -> None:
            screen.whole(f"Condor works on up to {at_once} runs at once. Stop it with Ctrl-C.")

        await condor.work(stop, concurrency=at_once, ready=ready)
        screen.line("What was under way is handed over.")


def _at_a_signal(stop: asyncio.Event) -> None:
    """Set an event at the first signal; the next one does what it does by itself."""
    import asyncio

    loop = asyncio.get_running_loop()

    def begin_to_stop() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, begin_to_stop)


__all__ = ["worker_command"]
