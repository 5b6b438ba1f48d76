"""What people are told of workers: by the doctor, by a server's readiness, and where none is there."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from condor.core.errors import HomeUnusable, StoreUnavailable
from tests.cli.conftest import shell as shell
from tests.cli.support import REFUND
from tests.postgres.workers.crew import Crew, parked, step, worker_here
from tests.simulation.restart_server import ANN, OPERATORS

if TYPE_CHECKING:
    from tests.cli.support import Shell

pytestmark = pytest.mark.slow


async def test_an_edit_that_nobody_can_follow_up_says_so(crew: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken and stored; the card of the edited call comes with the next worker."""
    monkeypatch.setattr("condor.runtime.runtime._WORKER_S_MAX", 0.2)
    async with crew.server() as condor:
        worker = await crew.worker()
        run = await condor.start(plan={"steps": [step("a", "gate.write", name="a")]}, principal=ANN)
        (card,) = await parked(condor, run.id)
        await crew.kill(worker)
        with pytest.raises(StoreUnavailable, match=r"the edit was taken.*start `condor worker`"):
            await condor.edit(card["suspendId"], {"name": "b"}, principal=OPERATORS[1])
        await crew.worker()
        (newer,) = await parked(condor, run.id)
        assert newer["suspendId"] != card["suspendId"]


def test_the_doctor_says_that_no_worker_is_there(crew: Crew, shell: Shell) -> None:
    """It names how many wait and what to start."""
    there = {"CONDOR_DATABASE_URL": crew.url}
    assert shell.run("run", "--plan", shell.plan(REFUND), "--as", "mia", "--json", env=there).code == 3
    checks = {check["check"]: check for check in shell.run("doctor", "--json", env=there).json}
    assert "workers" not in checks, "nothing is handed over"
    _hand_over(crew)
    told = shell.run("doctor", "--json", env=there)
    (check,) = [check for check in told.json if check["check"] == "workers"]
    assert (check["level"], told.code) == ("problem", 9)
    assert "1 run waits for a worker" in check["message"]
    assert "condor worker" in check["message"]


def _hand_over(crew: Crew) -> None:
    import subprocess

    from condor.testing.postgres_cluster import find_programs

    programs = find_programs()
    assert programs is not None
    command = "UPDATE condor.run SET status = 'executing', writer = 0"
    subprocess.run([programs / "psql", "-X", "-q", "-c", command, crew.url], check=True)


@pytest.mark.parametrize("command", [["worker"], ["serve", "--demo", "--no-worker"]])
def test_a_file_has_no_workers(shell: Shell, command: list[str]) -> None:
    """One line says what is needed, and nothing is made."""
    told = shell.run(*command)
    assert told.code == 8
    assert "needs a database that processes share" in told.err
    assert "CONDOR_DATABASE_URL" in told.err
    assert not shell.home.exists()


def test_workers_are_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time that would call a worker dead for one lost heartbeat is refused, with what to write."""
    from condor.config import read_settings
    from condor.core.errors import RefusedInput

    monkeypatch.setenv("CONDOR_WORKER_HEARTBEAT_S", "5")
    with pytest.raises(RefusedInput, match=r"CONDOR_WORKER_STALLED_S is 8\.0.*three heartbeats"):
        read_settings()


async def test_an_address_that_libpq_does_not_read_is_said_at_once(crew: Crew) -> None:
    """The other driver takes it; a worker needs both, and says what to write. The password stays out."""
    crew.url = crew.url.replace("condor@", "condor:hunter2@") + "?statement_timeout=60000"
    async with worker_here(crew, "a") as worker:
        with pytest.raises(HomeUnusable, match=r"statement_timeout.*as libpq reads it") as told:
            await worker.work(asyncio.Event())
    assert "hunter2" not in str(told.value)


async def test_readiness_counts_workers(crew: Crew) -> None:
    """Of a server that hands over: how many there are, and how many runs wait."""
    import httpx

    from condor.server.run import bound, serve
    from tests.postgres.workers.crew import until

    async with crew.server() as condor:
        listening = bound("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        home = crew.folder / "here"
        home.mkdir(exist_ok=True)
        serving = asyncio.create_task(serve(condor, home, listening, mode="development"))
        await until((home / "server.json").exists)
        await condor.start(plan={"steps": [step("a", "once.write", record="a")]}, principal=ANN)
        async with httpx.AsyncClient() as client:
            told: Any = (await client.get(f"{url}/readyz")).json()
            assert told == {"ready": True, "workers": 0, "waiting": 1}
            numbers = (await client.get(f"{url}/metrics")).text
            assert "condor_workers 0.0" in numbers
            assert "condor_runs_waiting 1.0" in numbers
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
