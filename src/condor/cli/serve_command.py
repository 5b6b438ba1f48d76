"""``condor serve``: the HTTP API on one home, until it is told to stop.

Law: who may sign in is settled before anything is made or listened on.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import click

from condor.cli.coroutines import run_to_end
from condor.cli.options import home_option
from condor.cli.owner import check_shared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from condor.bootstrap import Driven
    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.config import Settings
    from condor.server.auth import AuthMode
    from condor.server.run import Served


#: Seconds that a server waits for the home: a command that answers is done sooner, another server never.
_TURN_S = 3.0


def server_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every server takes."""
    for option in (
        click.option("--no-browser", is_flag=True, help="Open no browser; print the links alone."),
        click.option(
            "--port", type=click.IntRange(0, 65535), help="Port; 0 takes a free one.  [default: 8421]"
        ),
    ):
        command = option(command)
    return command


@click.command("serve")
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@server_options
@click.option(
    "--dev", is_flag=True, help="People of the packs sign in with a printed link; this machine alone."
)
@click.option("--demo", is_flag=True, help="On the demonstration data, made if the home is new; as --dev.")
@click.option("--no-worker", is_flag=True, help="Work on no run here: `condor worker` does; on PostgreSQL.")
@home_option
def serve_command(
    host: str | None,
    port: int | None,
    home: Path,
    *,
    dev: bool,
    demo: bool,
    no_worker: bool,
    no_browser: bool,
) -> int:
    """Serve the HTTP API of a home.

    Without CONDOR_AUTH it refuses to start; with --dev or --demo it listens on this machine alone.
    With --no-worker runs wait for a `condor worker`, on any machine.
    """
    from condor.config import read_settings

    settings = read_settings(home=home)
    where = host if host is not None else settings.bind
    mode: AuthMode | str = "demo" if demo else "development" if dev else settings.auth
    return serve_home(
        settings,
        home,
        host=where,
        port=port,
        mode=mode,
        is_demo=demo,
        opens=demo and not no_browser,
        driven="workers" if no_worker or settings.no_worker else "here",
    )


def serve_home(
    settings: Settings,
    home: Path,
    *,
    host: str,
    port: int | None,
    mode: str,
    is_demo: bool,
    shows_faults: bool = False,
    opens: bool = False,
    driven: Driven = "here",
) -> int:
    """Serve a home until a signal; the exit code.

    Args:
        opens: open the console in a browser, where a person started this.
        driven: where segments of runs are worked on.
        shows_faults: let the tools go wrong that its packs show it with.
    """
    from condor.cli.screen import Screen
    from condor.core.errors import HomeUnusable

    try:
        from condor.server.auth import check_binding
        from condor.server.run import bound
        from condor.server.site import site_of
    except ImportError as error:
        raise HomeUnusable(f"a server needs {error.name}: install condor-runtime[server]") from error

    checked = check_binding(mode, host)  # type: ignore[arg-type]
    if driven != "here":
        check_shared("--no-worker")
    wanted = settings.port if port is None else port
    site_of(host=host, port=wanted, public_url=settings.public_url)
    screen, place = Screen(), place_to_serve(home, mode=checked, is_demo=is_demo)
    if shows_faults:
        from condor.cli.demo_faults import faults_to_show

        place, requests = faults_to_show(place)
        for request in requests:
            screen.note(f"condor: ask for this to see it: {request}")
    listening = bound(host, wanted)
    with listening:
        run_to_end(_served(screen, place, settings, listening, checked, opens=opens, driven=driven))
    return 0


def place_to_serve(home: Path, *, mode: AuthMode, is_demo: bool) -> Place:
    """The home to serve; a new one is not made yet.

    Raises:
        HomeUnusable: a new home without packs, or demonstration data that nobody asked for.
    """
    from dataclasses import replace

    from condor.cli.home import place_to_run
    from condor.core.errors import HomeUnusable

    place = place_to_run(home)
    if place.is_demo and not is_demo:
        raise HomeUnusable(
            "no tool pack is configured: name yours in CONDOR_PACKS, or serve the demonstration with --demo"
            if place.is_new
            else f"{place.path} is a demonstration home; serve it with --demo"
        )
    if is_demo and not place.is_demo:
        raise HomeUnusable(f"{place.path} is no demonstration home, or CONDOR_PACKS is set; leave --demo out")
    # Only a home that was made for it takes people by their names.
    return replace(place, kind="program") if place.is_new and mode == "tokens" else place


async def _served(
    screen: Screen,
    place: Place,
    settings: Settings,
    listening: Any,
    mode: AuthMode,
    *,
    opens: bool,
    driven: Driven,
) -> None:
    from condor.cli.session import configured_database, holding
    from condor.ports.clock import SystemClock
    from condor.server.live import StreamCaps
    from condor.server.logs import log_as_json
    from condor.server.run import serve

    log_as_json(SystemClock())
    async with holding(place, screen, wait_s=_TURN_S, driven=driven) as condor:

        def ready(served: Served) -> None:
            _keep_what_is_loaded()
            _say(screen, place, served, mode, opens=opens)
            if driven != "here":
                screen.line("It works on no run itself: start `condor worker`, here or on any machine.")

        await serve(
            condor,
            place.path,
            listening,
            mode=mode,
            public_url=settings.public_url,
            database_url=configured_database(),
            caps=StreamCaps(each=settings.streams_each_max, total=settings.streams_max),
            ready=ready,
        )


def _keep_what_is_loaded() -> None:
    """What is loaded is no garbage; a collection that walks it takes 20 ms, in which nobody is answered."""
    gc.collect()
    gc.freeze()


def _say(screen: Screen, place: Place, served: Served, mode: AuthMode, *, opens: bool) -> None:
    """Where it answers, and how to sign in."""
    from condor.cli.browser import open_console
    from condor.cli.home import home_words

    screen.whole(f"Condor serves {place.path} at {served.site.url} (API: {served.site.url}/api/v1)")
    if mode == "tokens":
        screen.whole(f"Programs sign in with tokens: condor token create --name NAME{home_words(place.path)}")
    else:
        screen.line("On this machine alone. Sign in as one of them; each link counts once:")
        for who, link in served.links:
            screen.whole(f"  {who}: {link}")
    if opens and screen.interactive and open_console(served.own_link):
        screen.line(f"Your browser opens the console as {served.links[0][0]}.")
    screen.line("Stop it with Ctrl-C.")


__all__ = ["place_to_serve", "serve_command", "serve_home", "server_options"]
