"""docs/troubleshooting.md is executable: every check runs, and the doctor runs what needs no argument."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from typing import Any

import pytest

from condor.cli.home_checks import LOOKS
from tests.architecture.house import ROOT, SRC
from tests.cli.support import REFUND, Shell

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| what you see")
]
COMMANDS = sorted({command for row in ROWS for command in re.findall(r"`(condor [^`]+)`", row[2])})
PLACEHOLDERS = ("RUN_ID", "SUSPEND_ID", "TOOL")
#: The doctor itself.
THE_DOCTOR = frozenset({"condor doctor", "condor doctor --model"})

#: What the mission warns of and users of other systems report → a word of the row that answers it.
NAMED = {
    "parked but no card": "nobody sees a card",
    "card doubled": "two cards",
    "approval without effect": "approved and nothing happened",
    "clarification swallowed": "a clarification was swallowed",
    "substitution refused": "No other tool stood in",
    "breaker tripped": "circuit breaker tripped",
    "claim corrected": "closing was corrected",
    "sink down": "outside sink",
    "ran without asking": "should have asked",
    "unknown.fail-closed": "unknown.fail-closed",
    "missing tier": "although it is harmless",
    "resume refused": "stale",
    "render set incomplete": "draws no card",
    "doubled effect": "happened twice",
    "expired": "ended as aborted",
    "unknown outcome": "A step is `unknown`",
}


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shell, dict[str, str]]:
    """A demonstration home with a parked prescription, and what the placeholders stand for."""
    shell = Shell(directory=tmp_path_factory.mktemp("hospital"), packs="hms")
    asked = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI."
    run = shell.run("run", asked, "--as", "dr-okafor", "--json", env={"CONDOR_PACKS": ""}).lines[-1]["run"]
    card = next(card for card in run["suspensions"] if card["status"] == "pending")
    return shell, {"RUN_ID": run["runId"], "SUSPEND_ID": card["suspendId"], "TOOL": card["toolName"]}


def is_free(command: str) -> bool:
    """Whether it needs no argument."""
    return not any(word in command.split() for word in PLACEHOLDERS)


def test_every_failure_that_is_named_has_its_row() -> None:
    """None of the mission's failure modes is missing."""
    assert {what for what, words in NAMED.items() if not any(words in row[0] for row in ROWS)} == set()
    assert all(len(row) == 4 and all(row) for row in ROWS)


def test_every_layer_exists() -> None:
    """A layer is a module of the house, and every row names one."""
    for row in ROWS:
        layers = re.findall(r"`([a-z_.]+)`", row[1])
        assert layers, row
        for layer in layers:
            at = SRC / "condor" / layer.replace(".", "/")
            assert at.is_dir() or at.with_suffix(".py").is_file(), layer


@pytest.mark.parametrize("command", COMMANDS)
def test_every_check_is_a_command_that_runs(hospital: tuple[Shell, dict[str, str]], command: str) -> None:
    """On a demonstration home; it says what it found, is no wrong use of ours, and changes nothing."""
    shell, stands_for = hospital
    words = [stands_for.get(word, word) for word in shlex.split(command)[1:]]
    before = shell.database()
    done = shell.run(*words, env={"CONDOR_PACKS": ""})
    assert done.code in (0, 9), done
    assert done.out
    assert shell.database() == before


def test_the_doctor_runs_what_needs_no_argument() -> None:
    """Neither more nor less than the page shows."""
    assert {command for command in COMMANDS if is_free(command)} - THE_DOCTOR == set(LOOKS)


def told(shell: Shell, name: str) -> list[Any]:
    """What the doctor says of one thing."""
    return [check for check in shell.run("doctor", "--json").json if check["check"] == name]


def test_a_sound_home_has_nothing_wrong(shell: Shell) -> None:
    """The doctor's lines of a home with one parked run."""
    shell.parked()
    done = shell.run("doctor", "--json")
    assert done.code == 0
    said = {check["check"]: check["message"] for check in done.json}
    assert said["cards"] == "1 open, one a step; every parked run has one"
    assert said["replay"] == "1 recorded calls judged by the tools of now, none looser"


def test_a_sink_that_is_away_is_told(shell: Shell) -> None:
    """How far it is, and why it is no further; what is up to date is fine."""
    shell.parked()
    env = {"CONDOR_SINK_FILE": str(shell.home / "none" / "audit.jsonl")}
    (behind,) = [one for one in shell.run("doctor", "--json", env=env).json if one["check"] == "sinks"]
    assert behind["message"].startswith("file has all up to seal 0 of ")
    kept = {"seal": 0, "runs": {}, "away": "No such file or directory"}
    (shell.home / "sink-file.json").write_text(json.dumps(kept))
    (away,) = [one for one in shell.run("doctor", "--json", env=env).json if one["check"] == "sinks"]
    assert (away["level"], "No such file" in away["message"]) == ("warning", True)


def plant(shell: Shell, statement: str, *values: object) -> None:
    """Change the database as no Condor does."""
    with sqlite3.connect(shell.home / "condor.db") as database:
        assert database.execute(statement, values).rowcount
    database.close()


def test_a_parked_run_without_a_card_is_found(shell: Shell) -> None:
    """By name, and what ends it."""
    run = shell.parked()
    plant(shell, "UPDATE suspension SET status = 'withdrawn'")
    (check,) = told(shell, "cards")
    assert check["level"] == "problem"
    assert check["message"].startswith(f"{run['runId']} is parked and has no card")
    assert shell.run("doctor").code == 9


def test_a_doubled_card_is_found(shell: Shell) -> None:
    """Two open cards of one step are a bug, and are said to be one."""
    steps = [{**REFUND["steps"][0], "id": name} for name in ("a", "b")]
    run = shell.parked({"steps": steps})
    plant(shell, 'UPDATE payload SET value = replace(value, \'"stepId":"b"\', \'"stepId":"a"\')')
    (check,) = told(shell, "cards")
    assert (check["level"], f"{run['runId']}/a" in check["message"]) == ("problem", True)


def test_a_tripped_breaker_and_an_expired_card_are_told(shell: Shell) -> None:
    """With the command that lists them."""
    shell.parked()
    assert told(shell, "expired") == []
    plant(shell, "UPDATE suspension SET expires_at = '2020-01-01T00:00:00.000Z'")
    assert shell.run("sweep").code == 0
    (check,) = told(shell, "expired")
    assert check["message"] == "1 cards expired; see `condor audit --decision expired`"
