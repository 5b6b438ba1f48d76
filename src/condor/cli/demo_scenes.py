"""What there is to try in a demonstration: requests with what to look for, and faults to switch on.

Law: every line is a command as it stands; nothing is run by showing it.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from condor.cli.coroutines import run_to_end
from condor.cli.faults import FAULTS_VARIABLE
from condor.core.errors import HomeUnusable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.ports.packs import DemoScene, FaultScene

#: In the words of a person who wonders what to write behind ``--fault TOOL=``.
_KINDS = (
    ("fail", "nothing was done; the same call may work later"),
    ("break", "nothing was done, and it will not work later"),
    ("timeout-before", "no answer, and nothing was done"),
    ("timeout-after", "no answer, and it was done"),
    ("hang", "no answer until the tool's time is over"),
    ("rubbish", "an answer that is no JSON"),
    ("replan", "done, and the tool asks for another way"),
)


def tell_scenes(screen: Screen, place: Place, *, first: int = 1) -> None:
    """Chapters from number ``first`` on: requests to try, faults to switch on."""
    from condor.cli.home import home_words

    where = home_words(place.path)
    requests, faults = _looked_at(place)
    if not requests and not faults:
        raise HomeUnusable(
            f"the pack {', '.join(place.packs)} brings nothing to try; see `condor tools list`"
        )
    if requests:
        about = "Each is a run of its own; what waits for a person is in `condor pending`."
        screen.chapter(first, "What to try", (about,))
        for scene in requests:
            autonomy = "" if scene.autonomy == "guarded" else f" --autonomy {scene.autonomy}"
            words = f"{_quoted(scene.request)} --as {scene.who}{autonomy}{where}"
            _told(screen, f"condor run {words}", scene.about)
    if faults:
        screen.chapter(
            first + 1,
            "Faults to switch on",
            (
                "--fault makes a tool go wrong for one command alone. What answers the run later is another "
                f"command: give it {FAULTS_VARIABLE}=TOOL=KIND, or what was broken works again.",
                "`condor demo --faults` runs these, `condor demo --faults --serve` has them behind a server.",
            ),
        )
        for fault in faults:
            options = " ".join(f"--fault {word}" for word in fault.faults)
            _told(
                screen,
                f"condor run {_quoted(fault.request)} {options} --autonomy autonomous{where}",
                fault.about,
            )
        screen.line("Any tool takes a fault: TOOL=KIND[:TIMES], where KIND is")
        for kind, about in _KINDS:
            screen.line(f"  {kind:<15}{about}")


def _told(screen: Screen, command: str, about: str) -> None:
    screen.line(f"  {command}", "bold")
    screen.line(f"      {about}")


def _quoted(request: str) -> str:
    """For a shell, as a person would: an apostrophe needs no art inside double quotes."""
    return shlex.quote(request) if set(request) & set('"$`\\!') else f'"{request}"'


def _looked_at(place: Place) -> tuple[Sequence[DemoScene], Sequence[FaultScene]]:
    from condor.cli.session import looking_at_packs

    async def looked() -> tuple[Sequence[DemoScene], Sequence[FaultScene]]:
        async with looking_at_packs(place) as packs:
            return packs.demo_scenes, packs.fault_scenes

    return run_to_end(looked())


__all__ = ["tell_scenes"]
