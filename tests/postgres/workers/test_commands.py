"""The commands as a person types them: a server that hands over, and a worker."""

from __future__ import annotations

import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import shell as shell
from tests.cli.support import CONDOR, HUNG_S, REFUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.support import Shell

pytestmark = pytest.mark.slow


@contextmanager
def begun(shell: Shell, url: str, until: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that is left running, once it has said so; killed at the end."""
    with subprocess.Popen(
        [*CONDOR, *words],
        cwd=shell.directory,
        env=shell.env(CONDOR_DATABASE_URL=url),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        said = b""
        while until.encode() not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def test_a_server_and_a_worker(shell: Shell, url: str) -> None:
    """Asked for and approved at the server, done by the worker; each ends in order at a signal."""
    there = {"CONDOR_DATABASE_URL": url}
    # The home of a person who may be named; the server and the worker have the same packs.
    assert shell.run("run", "--plan", shell.plan(REFUND), "--as", "mia", "--json", env=there).code == 3
    with (
        begun(shell, url, "Stop it with Ctrl-C", "serve", "--dev", "--no-worker", "--port", "0") as server,
        begun(shell, url, "Stop it with Ctrl-C", "worker", "--concurrency", "4") as worker,
    ):
        told = shell.run("run", "--plan", shell.plan(REFUND), "--as", "mia", "--json", env=there)
        assert told.code == 3, told
        cards: Any = shell.run("pending", "--json", env=there).json
        assert len(cards) == 2
        approved = shell.run("approve", cards[-1]["suspendId"], "--as", "mia", env=there)
        assert approved.code == 0, approved
        (check,) = [c for c in shell.run("doctor", "--json", env=there).json if c["check"] == "workers"]
        assert (check["level"], check["message"]) == ("ok", "1 worker; 0 runs wait for one")
        worker.send_signal(signal.SIGTERM)
        assert worker.stdout is not None
        assert b"handed over" in worker.stdout.read()
        assert worker.wait(HUNG_S) == 0
        server.send_signal(signal.SIGINT)
        assert server.wait(HUNG_S) == 0
    assert shell.run("audit", "verify", env=there).code == 0
