"""``condor sweep``: end what nobody will answer any more, now and without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option, json_option

if TYPE_CHECKING:
    from pathlib import Path

    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.runtime.sweeping import Swept


@click.command("sweep", short_help="End runs whose cards have expired, and idle ones.")
@home_option
@json_option
def sweep_command(home: Path, *, as_json: bool) -> int:
    """End runs whose cards have expired, and parked runs that have had no card to answer for too long.

    A server sweeps every few seconds by itself, and so does every command that changes a home.
    """
    from condor.cli.home import place_to_change
    from condor.cli.screen import Screen
    from condor.runtime.sweeping import Swept
    from condor.server.server_file import running_server

    screen = Screen(as_json=as_json)
    place = place_to_change(home)
    server = running_server(place.path)
    if server is not None:
        screen.note(f"condor: the server of this home (process {server.pid}) sweeps it every few seconds")
    swept = run_to_end(_swept(place, screen)) if server is None else Swept()
    if as_json:
        screen.json({"expired": swept.expired, "idle": swept.idle, "byServer": server is not None})
    elif server is None:
        screen.line(f"Ended {swept.expired} run(s) whose card had expired, and {swept.idle} idle one(s).")
    return 0


async def _swept(place: Place, screen: Screen) -> Swept:
    """What the opening and a sweep after it have ended."""
    from condor.cli.session import holding

    async with holding(place, screen, quiet=True) as condor:
        return condor.swept + await condor.sweep()


__all__ = ["sweep_command"]
