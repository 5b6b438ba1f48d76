"""The clients that people use read our streams: Node's own test runner, on the packages of the lock.

Skipped where there is no Node, with the reason named; with ``CI=true`` that is a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from tests.needs import needs

HERE = Path(__file__).parent
#: Needs a running server (``live.js``).
LIVE = "live.test.js"
SUITES = sorted(path.name for path in HERE.glob("*.test.js") if path.name != LIVE)
#: Oldest Node that the clients run on.
NODE_MIN = 20
#: Seconds; a suite takes a few.
PATIENCE_S = 300


def missing() -> str | None:
    """Why the clients cannot be run here; None when they can."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return "Node is not installed, or has no npm"
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.match(r"v(\d+)\.", said)
    if version is None or int(version[1]) < NODE_MIN:
        return f"Node {said.strip()} is older than {NODE_MIN}"
    return None


@cache
def install() -> None:
    """The packages of the lock, once for each lock."""
    lock = sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    mark = HERE / "node_modules" / ".condor-lock"
    if mark.exists() and mark.read_text(encoding="utf-8") == lock:
        return
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
    mark.write_text(lock, encoding="utf-8")


def run(command: list[str], **env: str) -> None:
    """Run it among the clients; what it said is the failure's text."""
    ran = subprocess.run(
        command,
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**os.environ, **env},
    )
    assert ran.returncode == 0, f"{' '.join(command)}\n{ran.stdout[-8_000:]}\n{ran.stderr[-4_000:]}"


def run_suite(suite: str, **env: str) -> None:
    """Run one suite of Node tests."""
    run(["node", "--test", "--test-reporter=spec", suite], **env)


@pytest.fixture
def clients() -> None:
    """The client packages, installed."""
    needs(missing())
    install()


@pytest.mark.slow
@pytest.mark.usefixtures("clients")
@pytest.mark.parametrize("suite", SUITES)
def test_clients_read_our_streams(suite: str) -> None:
    """Every chunk and event is valid, and folds into what the run did."""
    run_suite(suite)


@pytest.mark.slow
@pytest.mark.usefixtures("clients")
def test_clients_use_a_running_server() -> None:
    """Start, answer, reload, answer elsewhere, stale, deny, two cards, cut, late; where a server is named."""
    if "CONDOR_URL" not in os.environ:
        pytest.skip("no server is named: CONDOR_URL is not set")
    run_suite(LIVE)


def test_every_suite_is_run() -> None:
    """A suite that was renamed away would pass by not being there."""
    assert {"ag-ui.test.js", "chat.test.js", "ui-message.test.js"} <= set(SUITES)
