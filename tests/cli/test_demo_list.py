"""``condor demo --list``: what there is to try, true of every line, and nothing run by showing it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from condor import Condor
from condor.testing import FAULT_KINDS, FaultyPack
from condor.testing.tool_faults import read_fault
from condor_hms.demo.scenes import FAULTS, REQUESTS, Shown
from condor_hms.pack import PACK
from tests.cli.support import Shell

if TYPE_CHECKING:
    from pathlib import Path


def test_the_list_is_commands_with_what_to_look_for(tmp_path: Path) -> None:
    """Each request and fault with its sentence, every kind of fault in words; no home is made."""
    shell = Shell(directory=tmp_path, packs="")
    done = shell.run("demo", "--list")
    assert done.code == 0, done.err
    commands = [shlex.split(line) for line in done.out.splitlines() if line.strip().startswith("condor run ")]
    assert [words[2] for words in commands] == [scene.request for scene in (*REQUESTS, *FAULTS)]
    asked = {words[2]: words[words.index("--fault") + 1] for words in commands if "--fault" in words}
    assert asked == {scene.request: scene.fault for scene in FAULTS}
    for scene in (*REQUESTS, *FAULTS):
        assert scene.about in done.words
    for kind in FAULT_KINDS:
        assert f"  {kind} " in done.out
    assert not shell.home.exists()


def test_a_pack_without_a_story_says_so(shell: Shell) -> None:
    """Nothing to show is told, with where to look instead."""
    done = shell.run("demo", "--list")
    assert done.code == 8
    assert "brings nothing to try; see `condor tools list`" in done.err


def test_a_run_that_waits_says_that_its_fault_is_not_kept(shell: Shell) -> None:
    """What answers it later is told how to have it too; a run that is over is not."""
    from tests.cli.support import REFUND

    plan = shell.plan(REFUND)
    waits = shell.run("run", "--plan", plan, "--as", "mia", "--fault", "shop.refund=fail:1")
    assert waits.code == 3
    assert "--fault was for this command alone" in waits.err
    assert "CONDOR_FAULTS=shop.refund=fail:1" in waits.err
    assert "alone" not in shell.run("run", "--plan", plan, "--as", "mia").err


#: How each request rests.
RESTS = {
    "Show the full record of Leonard Mason": "failed",
    "Order an urgent potassium on John Hernandez.": "degraded",
    "What is Helen Coleman taking?": "degraded",
}
WAITS = ("Start ", "Stop ", "Text ", "Flag ")


@pytest.mark.slow
async def test_every_line_of_the_list_shows_what_it_says(tmp_path: Path) -> None:
    """In its order, on one home, as the person named: understood, and resting where the sentence says."""
    for scene in (*REQUESTS, *FAULTS):
        pack = FaultyPack(PACK, dict([read_fault(scene.fault)])) if scene.fault else PACK
        async with Condor(packs=[pack], home=tmp_path, demo=True) as condor:
            who = next(person for person in condor.principals if person.id == scene.who)
            run = await condor.start(scene.request, autonomy=scene.autonomy, principal=who)
            end = await condor.wait(run.id)
        usual = "suspended" if scene.request.startswith(WAITS) else "succeeded"
        assert end["status"] == RESTS.get(scene.request, usual), (scene.request, end["closing"])
        assert end["notices"] == [] or end["status"] in ("failed", "degraded"), scene.request
        assert "not understood" not in str(end["closing"]), scene.request


def test_a_scene_is_of_the_demonstrations_people() -> None:
    """Nobody is named who cannot sign in."""
    from condor_hms.demo import DEMO_STAFF

    assert {scene.who for scene in (*REQUESTS, *FAULTS)} <= set(DEMO_STAFF)
    assert all(isinstance(scene, Shown) for scene in (*REQUESTS, *FAULTS))
