"""Homes: their kinds, their lock, what is in the way; and reading beside an owner."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import re
import resource
import signal
import sqlite3
import stat
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor, PolicyClass, ToolContext, tool
from tests.cli.support import CONDOR, HUNG_S, REFUND

if TYPE_CHECKING:
    from tests.cli.support import Shell

SLOW = {"steps": [{"id": "s", "tool": "shop.slow", "args": {"seconds": 30}}]}


def begin_slow(shell: Shell, plan: Any = SLOW) -> subprocess.Popen[bytes]:
    """A command that owns the home, surely at work."""
    owner = shell.begin("run", "--plan", shell.plan(plan, "slow.json"), "--as", "mia")
    until = time.monotonic() + HUNG_S
    while not (shell.home / "shop" / "slow").exists():
        assert time.monotonic() < until
        assert owner.poll() is None, owner.communicate()
        time.sleep(0.02)
    return owner


def bound_by_modes() -> None:
    """In a child before its program: a superuser, too, is bound by the modes of files (Linux)."""
    for capability in (1, 2, 3):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_a_home_is_its_owners_alone(shell: Shell) -> None:
    """Directory 0700, files 0600; its kind and packs are remembered."""
    assert shell.process("run", "--plan", shell.plan(REFUND), "--as", "mia").code == 3
    assert stat.S_IMODE(shell.home.stat().st_mode) == 0o700
    files = [path for path in shell.home.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"home.json", "condor.db"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert json.loads((shell.home / "home.json").read_text()) == {
        "v": 1,
        "kind": "development",
        "packs": ["shop"],
    }


def test_a_home_remembers_its_packs(shell: Shell) -> None:
    """Once made, a home needs no configuration."""
    run = shell.parked()
    done = shell.run("approve", run["suspensions"][0]["suspendId"], "--as", "mia", env={"CONDOR_PACKS": ""})
    assert done.code == 0


def test_reading_works_beside_the_owner_and_writing_says_who_it_is(shell: Shell) -> None:
    """While another process owns the home, reading commands work; writing ones exit with 8 and name it."""
    run = shell.parked()
    owner = begin_slow(shell)
    try:
        for words in (
            ("pending",),
            ("runs",),
            ("show", run["runId"]),
            ("audit",),
            ("audit", "verify"),
            ("tools", "list"),
            ("doctor",),
        ):
            assert shell.run(*words).code == 0
        before = shell.database()
        done = shell.process("approve", run["suspensions"][0]["suspendId"], "--as", "mia")
        assert done.code == 8
        waiting, refusal = done.err.splitlines()
        assert waiting.startswith("condor: waiting a little: ")
        assert f"in use by process {owner.pid} (condor run)" in refusal
        assert before == shell.database()
    finally:
        owner.kill()
        owner.communicate()
    assert shell.ledger == []


def test_an_owner_that_died_holds_nothing(shell: Shell) -> None:
    """After kill -9 the next command takes the home, and the run that was at work goes on."""
    owner = begin_slow(shell)
    owner.kill()
    owner.communicate()
    (slow,) = shell.run("runs", "--json").json
    assert slow["status"] == "executing"
    done = shell.run("stop", slow["runId"], "--as", "mia", "--json")
    assert done.code == 0
    assert done.lines[-1]["run"]["status"] == "aborted"
    assert f"condor: took up {slow['runId']}, which was interrupted; it is now aborted" in done.err


def test_an_interrupted_run_is_said_wherever_it_is_looked_at(shell: Shell) -> None:
    """Show and the doctor say that nobody works on it and what takes it up; who takes it up says so."""
    plan = {"steps": [{"id": "s", "tool": "shop.slow", "args": {"seconds": 1}}]}
    owner = begin_slow(shell, plan)
    (slow,) = shell.run("runs", "--json").json
    at_work = shell.run("show", slow["runId"])
    owner.kill()
    owner.communicate()
    for words in (("show", slow["runId"]), ("show", slow["runId"], "--why")):
        assert (
            "Nobody works on it just now, because it was interrupted; it goes on when"
            in shell.run(*words).words
        )
    assert "Nobody works on it" not in at_work.words
    checked = shell.run("doctor")
    assert checked.code == 0
    assert f"run: {slow['runId']} was interrupted; it goes on when this home is next opened" in checked.words
    done = shell.run("run", "--plan", shell.plan(REFUND), "--as", "mia")
    assert done.code == 3
    assert f"condor: took up {slow['runId']}, which was interrupted; it is now succeeded\n" in done.err
    assert "Nobody works on it" not in shell.run("show", slow["runId"]).words
    assert "took up" not in shell.run("run", "--plan", "plan.json", "--as", "mia").err


def test_commands_that_answer_at_once_all_get_their_answer(shell: Shell) -> None:
    """Eight approvals of one card wait for their turn: one counts, seven are told whose did."""
    card = shell.parked()["suspensions"][0]["suspendId"]
    commands = [shell.begin("approve", card, "--as", user) for user in ("mia", "max") * 4]
    ended = [(command.communicate(timeout=HUNG_S)[1].decode(), command.returncode) for command in commands]
    assert sorted(code for _, code in ended) == [0, *[7] * 7]
    assert all("already approved by M" in err for err, code in ended if code == 7)
    assert len(shell.ledger) == 1


def test_an_interrupt_says_that_the_run_goes_on(shell: Shell) -> None:
    """Ctrl-C while a run works: one clear line, exit 130; nothing is lost."""
    owner = begin_slow(shell)
    owner.send_signal(signal.SIGINT)
    _, err = owner.communicate(timeout=HUNG_S)
    assert owner.returncode == 130
    (slow,) = shell.run("runs", "--json").json
    assert f"run {slow['runId']} goes on when" in err.decode()
    assert "Traceback" not in err.decode()


def test_a_home_that_is_a_file_is_refused(shell: Shell) -> None:
    """It is the environment's matter, and the file stays."""
    shell.home.write_text("mine")
    for words in (("run", "refund 1", "--as", "mia"), ("pending",), ("approve", "sus_x"), ("doctor",)):
        done = shell.run(*words)
        assert done.code == (9 if words == ("doctor",) else 8)
    assert shell.home.read_text() == "mine"


def test_a_home_that_cannot_be_made_is_refused(shell: Shell) -> None:
    """Below a file nothing can be made."""
    (shell.directory / "file").write_text("")
    done = shell.run("run", "refund 1", "--as", "mia", "--home", "file/home")
    assert done.code == 8
    assert done.err.count("\n") <= 2


def test_there_is_no_home_yet(shell: Shell) -> None:
    """Reading and answering say so, and make none."""
    for words in (("pending",), ("show", "run_x"), ("audit",), ("approve", "sus_x"), ("stop", "run_x")):
        done = shell.run(*words)
        assert done.code == 8
        assert "there is no home at .condor; `condor run` makes one" in done.err
    assert not shell.home.exists()


def test_a_newer_database_is_left_alone(shell: Shell) -> None:
    """A home of a newer Condor is not touched by an older one."""
    shell.parked()
    with sqlite3.connect(shell.home / "condor.db") as database:
        database.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
    database.close()
    before = shell.database()
    for words in (("run", "refund 1", "--as", "mia"), ("pending",), ("audit", "verify")):
        done = shell.run(*words)
        assert done.code == 8
        assert "upgrade condor" in done.err
    assert shell.run("doctor").code == 9
    assert shell.database() == before


@pytest.mark.parametrize(
    "body", ["{", "[]", '{"v":1,"kind":"palace","packs":[]}', '{"kind":"demo"}', '{"a":1,"a":2}']
)
def test_a_home_file_that_is_not_ours_is_refused(shell: Shell, body: str) -> None:
    """A kind is never guessed from a file that cannot be understood."""
    shell.parked()
    (shell.home / "home.json").write_text(body)
    done = shell.run("run", "refund 1", "--as", "mia")
    assert done.code == 8
    assert "home.json" in done.err


def test_a_home_that_cannot_be_written_is_read(shell: Shell) -> None:
    """A read-only home is read; writing exits with 8."""
    shell.parked()
    shell.home.chmod(0o500)
    try:
        assert shell.process("pending", preexec_fn=bound_by_modes).code == 0
        done = shell.process("run", "refund 1", "--as", "mia", preexec_fn=bound_by_modes)
        assert done.code == 8
        assert done.err.count("\n") == 1
        assert "it can be read only: run chmod -R u+rwX" in done.err
        checked = shell.process("doctor", preexec_fn=bound_by_modes)
        assert checked.code == 9
        assert ".condor cannot be written; it can be read only: run chmod -R" in checked.words
        assert "schema: version" in checked.words
    finally:
        shell.home.chmod(0o700)


def test_a_database_that_cannot_be_written_is_said(shell: Shell) -> None:
    """It is said before anything is tried, with what to do."""
    shell.parked()
    (shell.home / "condor.db").chmod(0o400)
    done = shell.process("run", "refund 1", "--as", "mia", preexec_fn=bound_by_modes)
    assert done.code == 8
    assert "condor.db cannot be written; it can be read only: run chmod -R u+rwX" in done.err
    checked = shell.process("doctor", preexec_fn=bound_by_modes)
    assert checked.code == 9
    assert "condor.db cannot be written" in checked.words


def test_a_home_that_nobody_may_enter_is_refused(shell: Shell) -> None:
    """It says what to do, for every command."""
    shell.parked()
    shell.home.chmod(0)
    try:
        for words in (("pending",), ("run", "refund 1", "--as", "mia"), ("approve", "sus_x")):
            done = shell.process(*words, preexec_fn=bound_by_modes)
            assert done.code == 8
            assert "run chmod -R u+rwX .condor" in done.err
        assert shell.process("doctor", preexec_fn=bound_by_modes).code == 9
    finally:
        shell.home.chmod(0o700)


def test_a_full_disk_is_said(shell: Shell) -> None:
    """Where nothing more can be written, the line says so and the exit code is the environment's."""
    shell.parked()

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, 8_192))  # no room for one unit in the log

    done = shell.process("run", "--plan", shell.plan(REFUND), "--as", "mia", preexec_fn=small_files)
    assert done.code == 8
    assert "Traceback" not in done.err
    assert len(shell.run("runs", "--json").json) == 1


def test_a_disk_that_fills_while_a_run_works_is_said(shell: Shell) -> None:
    """The command does not hang on a run that stands still; the run goes on when there is room again."""
    plan = {
        "steps": [
            {"id": "f", "tool": "shop.fill"},
            {"id": "l", "tool": "shop.lookup", "args": {"order": "1"}, "after": ["f"]},
        ]
    }
    done = shell.process("run", "--plan", shell.plan(plan), "--as", "mia")
    assert done.code == 8
    (run,) = shell.run("runs", "--json").json
    assert f"run {run['runId']} stands still: nothing more can be stored" in done.err
    assert shell.run("show", run["runId"], "--json").json["status"] == "executing"


def test_a_reader_that_goes_away_is_no_error(shell: Shell) -> None:
    """`condor … | head` ends quietly."""
    shell.parked()
    reading, writing = os.pipe()
    os.close(reading)
    command = shell.begin("audit", "--json")
    assert command.stdout is not None
    command.stdout.close()
    os.close(writing)
    _, err = command.communicate(timeout=HUNG_S)
    assert command.returncode in (0, 141)
    assert err == b""


def test_a_programs_home_is_read_but_not_changed(shell: Shell) -> None:
    """A command that does not have a program's tools does not touch its runs; --as does not work there."""

    @tool("own.read", policy_class=PolicyClass.READ)
    async def own(_ctx: ToolContext) -> str:
        """Its own."""
        return "x"

    plan = {
        "steps": [
            {"id": "ask", "approval": {"title": "Go on?"}},
            {"id": "o", "tool": "own.read", "after": ["ask"]},
        ]
    }

    async def parked_run() -> dict[str, Any]:
        async with Condor(tools=[own], home=shell.home) as condor:
            return await condor.wait((await condor.start(plan=plan)).id)

    run_id = asyncio.run(parked_run())["runId"]
    bare = {"CONDOR_PACKS": ""}
    (card,) = shell.run("pending", "--json", env=bare).json
    assert card["runId"] == run_id
    before = shell.database()
    for words in (("approve", card["suspendId"]), ("run", "anything"), ("stop", run_id)):
        done = shell.run(*words, env=bare)
        assert done.code == 8
        assert "was made by a program" in done.err
    named = shell.run("approve", card["suspendId"], "--as", "mia")
    assert named.code == 2
    assert "--as works in a demo or development home only" in named.err
    assert shell.database() == before


@pytest.mark.parametrize("words", [("pending", "--tool", "none"), ("runs",), ("runs", "--json")])
def test_who_stops_reading_ends_a_command_quietly(shell: Shell, words: tuple[str, ...]) -> None:
    """`condor … | head`: its own exit code, which is no bug, and not a word."""
    shell.parked()
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [*CONDOR, *words],
            cwd=shell.directory,
            env=shell.env(),
            stdout=writes,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writes)
    assert (done.returncode, done.stderr) == (141, b"")


def test_the_doctor_really_writes(shell: Shell) -> None:
    """A place that takes no more is named as such, although its modes allow it; nothing is left behind."""
    shell.parked()

    def takes_nothing() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_024, 1_024))

    checked = shell.process("doctor", preexec_fn=takes_nothing)
    assert checked.code == 9
    assert "✗ writable: .condor cannot be written (File too large)" in checked.words
    assert "✓ writable" in shell.run("doctor").words
    assert not list(shell.home.glob(".condor-doctor-*"))


def test_a_file_that_is_no_database_is_named_with_what_to_do(shell: Shell) -> None:
    """By every command, and by the doctor; nothing of it is changed."""
    shell.parked()
    database = shell.home / "condor.db"
    for beside in shell.home.glob("condor.db-*"):
        beside.unlink()
    database.write_bytes(b"garbage" * 4_000)
    for words in (("runs",), ("run", "refund A-1", "--as", "mia")):
        done = shell.run(*words)
        assert done.code == 8
        assert ".condor/condor.db: file is not a database; it is no database" in done.err
        assert "restore it from a backup" in done.err
    checked = shell.run("doctor")
    assert checked.code == 9
    assert "✗ writable: .condor/condor.db is no SQLite database" in checked.words
    assert database.read_bytes() == b"garbage" * 4_000


def test_the_remedy_fits(shell: Shell) -> None:
    """A directory that is not there is to be made; no mode of it can be mended."""
    away = {"CONDOR_DATABASE_URL": "sqlite:///none/here/c.db"}
    done = shell.run("run", "refund A-1", "--as", "mia", env=away)
    assert done.code == 8
    assert re.search(r"the directory \S*none/here is not there: make it \(mkdir -p \S*none/here\)", done.err)
    assert "chmod" not in done.err
