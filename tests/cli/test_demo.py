"""`condor demo` and the demonstration home, on the hospital's made-up record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import Shell, Terminal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def fresh(tmp_path: Path) -> Shell:
    """An empty directory with nothing configured."""
    return Shell(directory=tmp_path, packs="")


def test_the_demo_is_driven_through_without_a_terminal_again_and_again(fresh: Shell) -> None:
    """Exit 0, the whole story, one write; the second time it begins afresh and a real home is left alone."""
    for _ in range(2):
        done = fresh.process("demo")
        assert done.code == 0, done.err
        for wanted in (
            "APPROVAL NEEDED",
            "nitrofurantoin",
            "approved as Dr Okafor",
            "MedicationRequest/",
            "unbroken",
        ):
            assert wanted in done.out
        assert ".condor/demo" in done.out
    (run,) = fresh.run("runs", "--json", "--home", ".condor/demo").json
    assert run["status"] == "succeeded"
    assert fresh.run("show", run["runId"], "--home", ".condor/demo").code == 0
    (fresh.home / "demo" / "home.json").write_text(json.dumps({"v": 1, "kind": "demo", "packs": ["hms"]}))
    refused = fresh.process("demo")
    assert refused.code == 8
    assert "no demonstration made" in refused.err


def test_the_demo_asks_in_a_terminal(fresh: Shell) -> None:
    """The person decides: denied, nothing is prescribed, and the story goes on to the audit."""
    terminal = Terminal(fresh, "demo", columns=80)
    assert "1. The request" in terminal.expect("leave parked >")
    terminal.type("d\n")
    terminal.expect("Why? >")
    terminal.type("wrong drug\n")
    done = terminal.end()
    assert done.code == 0
    assert "⚠ Not completed: the prescription was declined by Dr Okafor (wrong drug)" in done.words
    assert "4. The audit" in done.words


def test_a_first_run_makes_a_demonstration_home_and_says_so(fresh: Shell) -> None:
    """With nothing configured, `run` uses the demo hospital as the pack's person, and says both on stderr."""
    done = fresh.process("run", "Give me a quick overview of Melissa Smith", "--json")
    assert done.code in (0, 4), done
    assert "this is a demonstration home: .condor" in done.err
    assert "acting as Dr Okafor (dr-okafor); others: --as dr-lindholm" in done.err
    assert json.loads((fresh.home / "home.json").read_text())["kind"] == "demo"
    again = fresh.run("run", "Give me a quick overview of Melissa Smith", "--as", "nobody")
    assert again.code == 2
    assert "there are dr-okafor, dr-lindholm" in again.err
