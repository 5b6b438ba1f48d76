"""Bad input gets one clear line that says what to do, the right exit code, and changes nothing."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
from pydantic import SecretStr

from condor.cli.app import condor
from condor.config import Settings, read_settings
from condor.core.errors import RefusedInput
from tests.cli.support import REFUND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.support import Shell


def step(**more: Any) -> dict[str, Any]:
    """One step of a plan."""
    return {"id": "a", "tool": "shop.lookup", "args": {"order": "1"}, **more}


PLANS: dict[str, tuple[Any, str]] = {
    "unknown tool": ({"steps": [step(tool="shop.nope")]}, "shop.nope"),
    "unknown argument": ({"steps": [step(args={"ordre": "1"})]}, "ordre"),
    "cycle": ({"steps": [step(after=["b"]), step(id="b", after=["a"])]}, "a"),
    "missing reference": ({"steps": [step(args={"order": {"$from": "zz", "path": "/x"}})]}, "zz"),
    "two of one id": ({"steps": [step(), step()]}, "'a'"),
    "no steps": ({"steps": []}, "/steps"),
    "not an object": ([1], "object"),
    "unknown key": ({"steps": [step(if_="x")]}, "if_"),
}
BODIES: dict[str, tuple[bytes, str]] = {
    "malformed": (b'{"steps": [}', "is not JSON"),
    "empty": (b"  ", "empty"),
    "duplicate key": (b'{"steps": [], "steps": []}', "'steps' twice"),
    "too deep": (b'{"a":' * 40 + b"1" + b"}" * 40, "nests deeper than 32"),
    "oversized": (b'{"a":"' + b"x" * 300_000 + b'"}', "more than 262144 bytes"),
    "not a number": (b'{"a": NaN}', "NaN"),
    "lone surrogate": (b'{"a": "\\ud800"}', "surrogate"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8 (byte 7)"),
    "UTF-16": ('{"steps": []}'.encode("utf-16"), "not UTF-8"),
}


def assert_one_line(err: str, wanted: str) -> None:
    """One line, ours, with what was wrong; a note about who acts may stand before it."""
    lines = [line for line in err.splitlines() if "acting as" not in line]
    assert len(lines) == 1, err
    assert lines[0].startswith("condor")
    assert wanted in lines[0]


@pytest.mark.parametrize("kind", PLANS)
def test_a_bad_plan_is_refused(shell: Shell, kind: str) -> None:
    """Whatever is wrong with a plan, nothing is stored and no home is made for it."""
    plan, wanted = PLANS[kind]
    done = shell.run("run", "--plan", shell.plan(plan), "--as", "mia")
    assert done.code == 2
    assert_one_line(done.err, wanted)
    assert not shell.home.exists()


@pytest.mark.parametrize("kind", BODIES)
def test_bad_json_is_refused(shell: Shell, kind: str) -> None:
    """A file, a pipe and an argument are read by the same strict reader."""
    body, wanted = BODIES[kind]
    (shell.directory / "plan.json").write_bytes(body)
    for words, stdin in ((("run", "--plan", "plan.json"), b""), (("run", "--plan", "-"), body)):
        done = shell.run(*words, stdin=stdin)
        assert done.code == 2
        assert_one_line(done.err, wanted)
    assert not shell.home.exists()


REFUSED: dict[str, tuple[tuple[str, ...], int, str]] = {
    "no request": (("run",), 2, "--plan FILE"),
    "empty request": (("run", "  "), 2, "empty"),
    "both": (("run", "x", "--plan", "good.json"), 2, "exactly one"),
    "missing plan": (("run", "--plan", "nope.json"), 2, "'nope.json' cannot be read: no such file"),
    "plan is a directory": (("run", "--plan", "."), 2, "is a directory"),
    "unknown user": (("run", "refund 1", "--as", "bob"), 2, "there are mia, max, cleo, ada"),
    "unknown autonomy": (("run", "x", "--autonomy", "wild"), 2, "guarded"),
    "unknown option": (("run", "--plam", "x"), 2, "see `condor run --help`"),
    "unknown command": (("rum",), 2, "rum"),
    "no command of a group": (("policy",), 2, "see `condor policy --help`"),
    "unknown card": (("approve", "sus_nope", "--as", "mia"), 2, "condor pending"),
    "denial without reason": (("deny", "sus_nope"), 2, "--reason"),
    "unknown run": (("show", "run_nope"), 2, "condor runs"),
    "unknown run to stop": (("stop", "run_nope", "--as", "mia"), 2, "run_nope"),
    "unknown run in the audit": (("audit", "--run", "run_nope"), 2, "condor runs"),
    "unknown run to verify": (("audit", "verify", "--run", "run_nope"), 2, "condor runs"),
    "unknown decision": (("audit", "--decision", "maybe"), 2, "run-started"),
    "unknown tool": (("policy", "explain", "shop.nope"), 2, "shop.refund"),
    "unknown argument": (("policy", "explain", "shop.post", "--args", '{"x":1}'), 2, "it has order"),
    "arguments no object": (("policy", "explain", "shop.post", "--args", "[]"), 2, "write an object"),
    "arguments no JSON": (("policy", "explain", "shop.post", "--args", "{"), 2, "is not JSON"),
    "data no JSON": (("answer", "sus_x", "--data", "{"), 2, "is not JSON"),
    "negative limit": (("pending", "--limit", "-1"), 2, "--limit"),
}


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A home with one parked run, which nothing here may change."""
    from tests.cli.support import Shell

    shell = Shell(directory=tmp_path_factory.mktemp("used"))
    shell.parked()
    shell.plan(REFUND, "good.json")
    return shell


@pytest.mark.parametrize("kind", REFUSED)
def test_bad_words_are_refused(used: Shell, kind: str) -> None:
    """One line, the right code, and the home as it was."""
    words, code, wanted = REFUSED[kind]
    before = used.database()
    done = used.run(*words)
    assert done.code == code
    assert_one_line(done.err, wanted)
    assert done.out == ""
    assert used.database() == before


def test_text_that_is_no_utf8_is_refused(shell: Shell) -> None:
    """Bytes that are no text never reach the store."""
    done = shell.run("run", b"refund \xff".decode("utf-8", "surrogateescape"), "--as", "mia")
    assert done.code == 2
    assert "not UTF-8" in done.err
    assert not shell.home.exists()


def test_the_wrong_role_is_refused_and_recorded(shell: Shell) -> None:
    """Who may not answer is told who may; the attempt stands in the audit, and the card as it was."""
    run = shell.parked()
    card = run["suspensions"][0]["suspendId"]
    for user in ("cleo", "ada"):
        done = shell.run("approve", card, "--as", user)
        assert done.code == 7
        assert_one_line(done.err, "manager" if user == "cleo" else "auditor")
    assert shell.run("stop", run["runId"], "--as", "ada").code == 7
    rejected = shell.run("audit", "--decision", "decision-rejected", "--json").json
    assert [row["actor"] for row in rejected] == ["cleo", "ada"]
    assert shell.run("show", run["runId"], "--json").json["suspensions"] == run["suspensions"]
    assert shell.ledger == []


def test_an_expired_card_is_refused(shell: Shell) -> None:
    """After the deadline nothing runs; the run ends as aborted."""
    name = shell.plan(REFUND)
    done = shell.run("run", "--plan", name, "--as", "mia", "--json", env={"CONDOR_SUSPEND_TTL_S": "0.001"})
    run = done.lines[-1]["run"]
    late = shell.run("approve", run["suspensions"][0]["suspendId"], "--as", "mia")
    assert late.code == 7
    assert "expired" in late.err
    assert shell.run("show", run["runId"], "--json").json["status"] == "aborted"
    assert shell.ledger == []


def test_a_setting_that_cannot_be_used_is_refused(shell: Shell) -> None:
    """The variable and its fault stand in the line."""
    done = shell.run("run", "refund 1", "--as", "mia", env={"CONDOR_SUSPEND_TTL_S": "soon"})
    assert done.code == 2
    assert_one_line(done.err, "CONDOR_SUSPEND_TTL_S is 'soon'; write a number of seconds above 0, at most")


@pytest.mark.parametrize("given", ["0", "-1", "nan", "inf", "1e300", "315360001"])
def test_a_deadline_that_no_card_can_have_is_refused(shell: Shell, given: str) -> None:
    """What is above ten years, or is no time at all, is refused before anything runs."""
    done = shell.run("run", "refund 1", "--as", "mia", env={"CONDOR_SUSPEND_TTL_S": given})
    assert done.code == 2
    assert_one_line(done.err, "CONDOR_SUSPEND_TTL_S is")
    assert "write a number of seconds above 0, at most 315360000 (ten years)" in done.err
    assert not shell.home.exists()


def test_every_setting_that_can_be_refused_says_what_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting answers in the words of the library that reads it."""
    for name, field in Settings.model_fields.items():
        if field.annotation in (str, Any, Path, SecretStr):
            continue
        with monkeypatch.context() as patch:
            patch.setenv(f"CONDOR_{name.upper()}", "nonsense")
            with pytest.raises(
                RefusedInput, match=rf"CONDOR_{name.upper()} is 'nonsense'; write (?!another)"
            ):
                read_settings()


def test_a_pack_that_is_not_installed_is_refused(shell: Shell) -> None:
    """Its name, and the names there are."""
    done = shell.run("run", "refund 1", env={"CONDOR_PACKS": "shopp"})
    assert done.code == 2
    assert_one_line(done.err, "'shopp'")
    assert not shell.home.exists()


def test_an_error_of_ours_is_one_line_and_a_file(shell: Shell) -> None:
    """Nobody gets a traceback in the face; it is kept, or printed where that is wanted."""
    shell.parked()
    broken = {"PYTHONPATH": str(shell.directory)}
    (shell.directory / "sitecustomize.py").write_text(
        "import condor.cli.lists as lists\nlists.pending_card = lambda card: 1 / 0\n"
    )
    done = shell.process("pending", env=broken)
    assert done.code == 1
    assert_one_line(done.err, "an error of ours: ZeroDivisionError")
    path = done.err.rsplit(" ", 1)[1].strip()
    assert "ZeroDivisionError" in Path(path).read_text()
    Path(path).unlink()
    shown = shell.process("pending", env=broken | {"CONDOR_TRACEBACK": "1"})
    assert "Traceback (most recent call last)" in shown.err


def test_nothing_foreign_acts_on_the_terminal(shell: Shell) -> None:
    """A hostile id, path or name in a refusal is escaped."""
    for words in (("show", "\x1b[2Jrun\u202e"), ("run", "--plan", "\x1b[2J\u202e.json"), ("\x1b[31mrum",)):
        done = shell.run(*words)
        assert done.code in (2, 8)
        assert "\x1b" not in done.err
        assert "\u202e" not in done.err


def test_json_is_ascii_even_for_what_strangers_wrote(shell: Shell) -> None:
    """A program's output acts on no terminal, and is exact."""
    shell.parked()
    done = shell.run("pending", "--json")
    assert done.out.isascii()
    assert json.loads(done.out)[0]["evidence"]["subject"]["text"].startswith("order A-1 of a\u202e")


def _commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _commands(inner, (*path, name))
    else:
        yield " ".join(path), command


def test_every_command_takes_json_but_those_that_run_on() -> None:
    """The README says which."""
    without = {
        path
        for path, command in _commands(condor)
        if "--json" not in {option for parameter in command.params for option in parameter.opts}
    }
    assert without == {"demo", "serve", "worker"}
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert "Every command but `demo`, `serve` and `worker` takes `--json`" in readme


ERRORS_AS_JSON: dict[str, tuple[tuple[str, ...], int, str]] = {
    "usage": (("run", "x", "--plam", "--json"), 2, "usage"),
    "input": (("run", "  ", "--json"), 2, "invalid_input"),
    "id": (("show", "run_nope", "--json"), 2, "not_found"),
    "card": (("approve", "sus_nope", "--as", "mia", "--json"), 2, "not_found"),
    "plan": (("run", "--plan", "bad.json", "--as", "mia", "--json"), 2, "invalid_plan"),
    "home": (("pending", "--home", "nowhere", "--json"), 8, "environment"),
    "export": (("audit", "export", "--run", "run_nope", "--json"), 2, "not_found"),
}


@pytest.mark.parametrize("kind", ERRORS_AS_JSON)
def test_an_error_is_json_where_a_program_reads(used: Shell, kind: str) -> None:
    """One object on stderr with code, message and exit code; nothing on stdout."""
    words, code, error_code = ERRORS_AS_JSON[kind]
    used.plan({"steps": []}, "bad.json")
    done = used.run(*words)
    assert done.code == code
    assert done.out == ""
    told = json.loads(done.err)
    assert told.keys() == {"type", "code", "message", "exit"}
    assert (told["type"], told["code"], told["exit"]) == ("error", error_code, code)
    assert not told["message"].startswith("condor")


DAMAGE = {
    "status": "UPDATE run SET status = 'paused'",
    "requester": "UPDATE run SET requester = 'x'",
    "requester without id": "UPDATE run SET requester = '{}'",
    "step": "UPDATE step SET status = 'maybe'",
    "card facts": "UPDATE suspension SET facts = '{}'",
    "payloads": "UPDATE payload SET value = '{}'",
    "payloads that are no objects": "UPDATE payload SET value = '[1]'",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_row_is_no_bug_of_ours(shell: Shell, kind: str) -> None:
    """Whatever something else wrote into a run, each command says which run, or goes on without it."""
    run = shell.parked()
    card = run["suspensions"][0]["suspendId"]
    with sqlite3.connect(shell.home / "condor.db") as database:
        database.execute(DAMAGE[kind])
    database.close()
    refused = 0
    for words in (("runs",), ("show", run["runId"]), ("pending",), ("approve", card, "--as", "mia")):
        done = shell.run(*words)
        assert done.code != 1, done.err
        if done.code == 8:
            refused += 1
            assert_one_line(done.err, f"run {run['runId']}: ")
            assert "the database was changed by something else than Condor" in done.err
            assert "condor audit verify" in done.err
    assert refused or kind == "payloads"
    assert shell.ledger == []
    assert shell.run("run", "--plan", shell.plan(REFUND), "--as", "mia").code == 3
