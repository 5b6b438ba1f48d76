"""``condor replay``: what a home recorded, judged by what is changed; and ten thousand calls in no time."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.support import Shell

#: The issue's figure, in seconds.
REPLAY_S_MAX = 5.0


def matrix(shell: Shell, **decisions: str) -> str:
    """A file with the matrix, some rows of it deciding otherwise."""
    rows = shell.run("policy", "matrix", "--json").json
    for row in rows:
        row["decision"] = decisions.get(row["ruleId"].replace(".", "_").replace("-", "_"), row["decision"])
    return shell.plan(rows, "matrix.json")


def test_a_home_is_judged_as_it_was(shell: Shell) -> None:
    """Nothing differs, nothing is changed; a run is chosen by its id."""
    run = shell.parked()
    before = shell.database()
    done = shell.run("replay")
    assert (done.code, done.words) == (0, "1 call, 0 judged differently")
    assert shell.run("replay", "--run", run["runId"]).code == 0
    assert shell.run("replay", "--run", "run_nobody").code == 2
    assert shell.database() == before


def test_a_changed_matrix_is_told(shell: Shell) -> None:
    """Looser, by which rule, how often and where; the exit code says that something was found."""
    run = shell.parked()
    path = matrix(shell, mutate_high_tier_always_approval="allow")
    done = shell.run("replay", "--rules", path)
    assert done.code == 9
    assert "looser shop.refund" in done.words
    assert f"such as {run['runId']}/r" in done.words
    assert "1 call, 1 judged differently: 1 looser" in done.words
    found = shell.run("replay", "--rules", path, "--json").json
    assert (found["calls"], found["looser"], found["stricter"]) == (1, 1, 0)
    assert found["differences"][0]["after"]["decision"] == "allow"


def test_changed_tools_are_told(shell: Shell) -> None:
    """A tool that is gone is named; a stricter one counts unless only looser ones do."""
    shell.parked()
    tools = shell.run("tools", "list", "--json").json
    gone = shell.plan([tool for tool in tools if tool["name"] != "shop.refund"], "gone.json")
    assert "gone shop.refund" in shell.run("replay", "--tools", gone).words
    strict = shell.plan(
        [{**tool, "policyClass": "comms"} if tool["name"] == "shop.refund" else tool for tool in tools],
        "strict.json",
    )
    done = shell.run("replay", "--tools", strict)
    assert (done.code, "other shop.refund" in done.words) == (9, True)
    assert shell.run("replay", "--tools", strict, "--only-looser").code == 0


def test_erased_arguments_leave_the_facts(shell: Shell) -> None:
    """A call whose payload is gone is judged by what its verdict says, and counted."""
    import sqlite3

    shell.parked()
    with sqlite3.connect(shell.home / "condor.db") as database:
        database.execute("DELETE FROM payload")
    done = shell.run("replay")
    assert done.code == 0
    assert "1 call without arguments, which were erased" in done.words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--calls", "nowhere.jsonl"), "the calls 'nowhere.jsonl' cannot be read"),
        (("--rules", "nowhere.json"), "the matrix 'nowhere.json' cannot be read"),
        (("--tools", "bad.json"), "the tools is an object; write an array of rows"),
    ],
)
def test_what_cannot_be_read_is_refused(shell: Shell, words: tuple[str, ...], said: str) -> None:
    """In one line."""
    shell.parked()
    shell.plan({}, "bad.json")
    done = shell.run("replay", *words)
    assert (done.code, said in done.err) == (2, True)


def test_ten_thousand_calls_take_seconds(shell: Shell) -> None:
    """A policy change over 10,000 recorded calls, read from a file, with its differences."""
    shell.parked()
    (line,) = shell.run("replay", "--export").lines
    calls: list[Any] = [
        {
            **line,
            "runId": f"run_{number}",
            "args": {**line["args"], "order": f"A-{number}", "note": "x" * 200},
        }
        for number in range(10_000)
    ]
    text = "\n".join(json.dumps(call) for call in calls)
    (shell.directory / "calls.jsonl").write_text(text, encoding="utf-8")
    path = matrix(shell, mutate_high_tier_always_approval="allow")
    begun = time.perf_counter()
    done = shell.run("replay", "--calls", "calls.jsonl", "--rules", path, "--json")
    took = time.perf_counter() - begun
    assert (done.code, done.json["calls"], done.json["looser"]) == (9, 10_000, 10_000)
    assert len(done.json["differences"]) == 1
    assert took < REPLAY_S_MAX


@pytest.mark.parametrize(
    ("runs", "each"), [(2, 50), pytest.param(5, 2_000, marks=pytest.mark.load)], ids=["100", "10,000"]
)
def test_a_home_of_ten_thousand_calls_takes_seconds(shell: Shell, runs: int, each: int) -> None:
    """The same from a home's own audit: few runs, many reads."""
    steps = [{"id": f"s{number}", "tool": "shop.lookup", "args": {"order": "A-1"}} for number in range(each)]
    for _ in range(runs):
        assert shell.run("run", "--plan", shell.plan({"steps": steps}), "--as", "mia").code == 0
    path = matrix(shell, read_allow="require-approval")
    begun = time.perf_counter()
    done = shell.run("replay", "--rules", path, "--json")
    took = time.perf_counter() - begun
    assert (done.code, done.json["stricter"]) == (9, runs * each)
    assert took < REPLAY_S_MAX
