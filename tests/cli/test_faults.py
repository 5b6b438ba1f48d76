"""Tools that go wrong on purpose: ``run --fault``, ``demo --faults``, and homes that take none."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import condor.cli
from condor.cli.remote import RemoteCondor
from tests.cli.support import Shell, Terminal

LOOKUP = {"steps": [{"id": "l", "tool": "shop.lookup", "args": {"order": "A-1"}}]}
FAULT = ("--fault", "shop.lookup=fail:2")


def test_a_fault_is_shown_and_recovered(shell: Shell) -> None:
    """Two refusals, two retries; said before, charged, and gone with the command."""
    done = shell.run("run", "--plan", shell.plan(LOOKUP), "--as", "mia", *FAULT, "--json")
    assert done.code == 0, done
    assert "goes wrong on purpose: shop.lookup (fail, 2 times)" in done.err
    run = done.lines[-1]["run"]
    assert run["budget"]["retries_per_step"]["used"] == 2
    again = shell.run("run", "--plan", shell.plan(LOOKUP), "--as", "mia", "--json")
    assert again.lines[-1]["run"]["budget"]["retries_per_step"]["used"] == 0


def test_show_tells_the_budget_and_every_decision(shell: Shell) -> None:
    """What was used of each ceiling, and why nothing stood in."""
    done = shell.run(
        "run", "--plan", shell.plan(LOOKUP), "--as", "mia", "--fault", "shop.lookup=fail", "--json"
    )
    assert done.code == 4, done
    shown = shell.run("show", done.lines[-1]["run"]["runId"])
    assert "retries per step 3 of 6 retries" in shown.words
    assert "Recovery l none (nothing stands in for it; end.as-it-is)" in shown.words


def test_show_tells_why_a_run_was_stopped(shell: Shell) -> None:
    """The ceiling that was met, in the decision and in the budget."""
    words = ("run", "--plan", shell.plan(LOOKUP), "--as", "mia", "--autonomy", "autonomous", "--json")
    done = shell.run(*words, "--fault", "shop.lookup=replan")
    assert done.code == 4, done
    shown = shell.run("show", done.lines[-1]["run"]["runId"]).words
    assert "replans 2 of 2 replans" in shown
    assert "stopped by replans: 2 of 2 replans used up" in shown
    assert "retry-with-different-tool: shop.lookup → shop.lookup" in shown
    assert "halt: replans used up" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fault", "shop.lookup"), "write TOOL=KIND or TOOL=KIND:TIMES"),
        (("--fault", "=fail"), "write TOOL=KIND or TOOL=KIND:TIMES"),
        (("--fault", "shop.lookup=explode"), "'explode' is no kind of fault; take fail, break,"),
        (("--fault", "shop.lookup=fail:0"), "'0' is no number of times"),
        (("--fault", "shop.lookup=fail:-1"), "'-1' is no number of times"),
        (("--fault", "shop.lookup=fail:" + "9" * 5000), "is no number of times"),
        (("--fault", "shop.nothing=fail"), "'shop.nothing', and there is no such tool; there are shop.fill"),
        ((*FAULT, *FAULT), "'shop.lookup' is given two faults"),
    ],
)
def test_a_bad_fault_is_refused_and_nothing_is_made(shell: Shell, words: tuple[str, ...], said: str) -> None:
    """One line, exit 2, no home."""
    refused = shell.run("run", "--plan", shell.plan(LOOKUP), "--as", "mia", *words)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1), refused
    assert said in refused.err
    assert not shell.home.exists()


@pytest.mark.parametrize("way", ["option", "environment"])
def test_a_home_of_a_program_takes_no_faults(shell: Shell, way: str) -> None:
    """Refused, not ignored; nothing is opened or run."""
    shell.home.mkdir()
    (shell.home / "home.json").write_text(json.dumps({"v": 1, "kind": "program", "packs": ["shop"]}))
    words = ("run", "--plan", shell.plan(LOOKUP), *(FAULT if way == "option" else ()))
    env = {"CONDOR_FAULTS": "shop.lookup=fail"} if way == "environment" else {}
    refused = shell.run(*words, env=env)
    assert (refused.code, "in a demo or development home only" in refused.err) == (2, True), refused
    assert [path.name for path in shell.home.iterdir()] == ["home.json"]
    assert shell.run("run", "--plan", shell.plan(LOOKUP)).code == 0


def test_the_environment_does_the_same_and_an_option_is_stronger(shell: Shell) -> None:
    """``CONDOR_FAULTS`` for every command."""
    words = ("run", "--plan", shell.plan(LOOKUP), "--as", "mia", "--json")
    env = {"CONDOR_FAULTS": "shop.lookup=break, shop.slow=hang"}
    assert shell.run(*words, env=env).code == 4
    assert shell.run(*words, *FAULT, env=env).code == 0


def test_what_commands_do_through_a_server_can_be_done_there() -> None:
    """Whatever a command asks of Condor, the one behind a server has too."""
    folder = Path(condor.cli.__file__).parent
    asked = {
        node.attr
        for name in ("following", "run_command", "answer_commands", "dialogue", "demo_command")
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "condor"
    }
    (made,) = [
        node
        for node in ast.walk(ast.parse((folder / "remote.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name == RemoteCondor.__name__
    ]
    own = {node.attr for node in ast.walk(made) if isinstance(node, ast.Attribute)}
    assert "stands_still" in asked
    assert {name for name in asked if not hasattr(RemoteCondor, name)} <= own


@pytest.mark.slow
def test_the_demonstration_shows_faults(tmp_path: Path) -> None:
    """R09 and R10 in one command: the stand-in is named, a task is left, nothing says ordered."""
    done = Shell(directory=tmp_path, packs="").process("demo", "--faults")
    assert done.code == 0, done.err
    assert "The lab reports stood in for the lab results" in done.words
    assert "labs.search → labs.report.search" in done.words
    assert "plan: s2 is now labs.report.search" in done.err
    assert "⚠ Not completed: the lab order was not done" in done.words
    assert "Ordered" not in done.words
    assert "order.lab.create → task.create" in done.words


@pytest.mark.slow
def test_the_demonstration_serves_faults(tmp_path: Path) -> None:
    """Behind the server the same tool goes wrong, also for a command that goes through it and waits long."""
    shell = Shell(directory=tmp_path, packs="")
    server = Terminal(shell, "demo", "--faults", "--serve", "--no-browser", "--port", "0", columns=200)
    server.expect("Stop it with Ctrl-C.")
    done = shell.run(
        "run", "Order an urgent potassium on John Hernandez.", "--autonomy", "autonomous", "--json"
    )
    refused = shell.run("run", "anything", "--fault", "labs.search=fail")
    server.type("\x03")
    server.end()
    assert done.code == 6, done
    assert done.lines[-1]["run"]["steps"][1]["tool"] == "task.create"
    assert (refused.code, "stop the server" in refused.err) == (8, True), refused
