"""`condor sweep`: expired and idle runs end now; beside a server it leaves that to the server."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import REFUND

if TYPE_CHECKING:
    from tests.cli.support import Shell


def test_sweep_ends_what_nobody_will_answer(shell: Shell) -> None:
    """Expired cards and idle parks end their runs now; a second sweep finds nothing; the closing says why."""
    expired = shell.run(
        "run", "--plan", shell.plan(REFUND), "--as", "mia", "--json", env={"CONDOR_SUSPEND_TTL_S": "0.01"}
    ).lines[-1]["run"]
    idle, live = shell.parked(), shell.parked()
    with contextlib.closing(sqlite3.connect(shell.home / "condor.db")) as database, database:
        database.execute(
            "UPDATE run SET updated_at = '2020-01-01T00:00:00.000Z' WHERE run_id = ?", (idle["runId"],)
        )
        database.execute("UPDATE suspension SET status = 'withdrawn' WHERE run_id = ?", (idle["runId"],))
    swept = shell.run("sweep", "--json").json
    # Whoever opened the home since the card expired has ended its run already.
    assert (swept["idle"], swept["byServer"]) == (1, False)
    assert "Ended 0 run(s) whose card had expired, and 0 idle one(s)." in shell.run("sweep").out
    ends = {
        name: shell.run("show", run["runId"], "--json").json
        for name, run in {"expired": expired, "idle": idle, "live": live}.items()
    }
    assert {name: end["status"] for name, end in ends.items()} == {
        "expired": "aborted",
        "idle": "aborted",
        "live": "suspended",
    }
    assert "not given in time" in ends["expired"]["closing"]
    assert "parked for 86400 s without a card" in ends["idle"]["closing"]
    assert shell.ledger == []
    assert shell.run("sweep", "--home", "nowhere").code == 8


@pytest.mark.slow
def test_a_server_sweeps_by_itself(shell: Shell) -> None:
    """Beside a living server the command ends nothing and says who does."""
    run = shell.parked()
    server = shell.begin("serve", "--dev", "--port", "0")
    try:
        until = time.monotonic() + 30
        while not (shell.home / "server.json").exists():
            assert time.monotonic() < until, "no server came"
            time.sleep(0.05)
        swept = shell.run("sweep", "--json")
        assert swept.json == {"expired": 0, "idle": 0, "byServer": True}
        assert f"process {server.pid}) sweeps it every few seconds" in swept.err
    finally:
        server.terminate()
        server.communicate(timeout=30)
    assert shell.run("show", run["runId"], "--json").json["status"] == "suspended"
