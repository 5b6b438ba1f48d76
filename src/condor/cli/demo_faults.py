"""``condor demo --faults``: tools that go wrong on purpose, and what the runs do then.

Law: real runs on the made-up record; only the calls are disturbed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.cli.coroutines import run_to_end
from condor.cli.faults import with_faults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from condor.cli.home import Place
    from condor.cli.screen import Screen
    from condor.ports.packs import FaultScene


def tell_faults(screen: Screen, place: Place) -> int:
    """One run for each scene of the packs; the exit code."""
    from condor.cli.exit_codes import Exit
    from condor.cli.home import home_words, make
    from condor.cli.recovery_view import recovery_blocks
    from condor.cli.run_command import begin
    from condor.cli.run_view import show_rest

    scenes = _scenes_of(place)
    place = make(place)
    where = home_words(place.path)
    ended_well, shown = True, []
    for number, scene in enumerate(scenes, start=1):
        screen.chapter(number, ", ".join(scene.faults), (scene.about,))
        screen.line(f"“{scene.request}”", "bold")
        _, run = begin(
            screen,
            with_faults(place, scene.faults),
            text=scene.request,
            plan=None,
            autonomy="autonomous",
            user=None,
        )
        show_rest(screen, run, where=where)
        for block in recovery_blocks(run):
            screen.show(block)
        ended_well = ended_well and run["status"] in ("succeeded", "degraded", "suspended")
        shown.append(run["runId"])
    screen.chapter(len(scenes) + 1, "Where it is", ())
    screen.line(f"Everything of this is in {place.path}. Look around:")
    for run_id in shown:
        screen.line(f"  condor show {run_id}{where}")
    screen.line(f"  condor audit{where}")
    return Exit.FINE if ended_well else Exit.FAILED


def faults_to_show(place: Place) -> tuple[Place, Sequence[str]]:
    """The home with the faults of its packs' scenes, and what to ask for to see them."""
    scenes = _scenes_of(place)
    return (
        with_faults(place, [fault for scene in scenes for fault in scene.faults]),
        [scene.request for scene in scenes],
    )


def _scenes_of(place: Place) -> Sequence[FaultScene]:
    from condor.cli.session import looking_at_packs
    from condor.core.errors import HomeUnusable

    async def looked() -> Sequence[FaultScene]:
        async with looking_at_packs(place) as packs:
            return packs.fault_scenes

    scenes = run_to_end(looked())
    if not scenes:
        raise HomeUnusable(
            f"the pack {', '.join(place.packs)} brings no fault to show; try `condor run --fault TOOL=KIND`"
        )
    return scenes


__all__ = ["faults_to_show", "tell_faults"]
