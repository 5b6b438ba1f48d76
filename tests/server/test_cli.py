"""``condor serve`` as a person starts it, and the commands that go through it by themselves."""

from __future__ import annotations

import json
import signal
import socket
import stat
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.support import CONDOR, HUNG_S, REFUND, Shell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from condor.testing.postgres_cluster import PostgresCluster

pytestmark = pytest.mark.slow


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """An empty directory, with the shop's pack configured."""
    return Shell(directory=tmp_path)


@contextmanager
def served(shell: Shell, *words: str, **env: str) -> Iterator[dict[str, Any]]:
    """A server in the shell's home; what it left there."""
    process = subprocess.Popen(
        [*CONDOR, "serve", "--port", "0", *words],
        cwd=shell.directory,
        env=shell.env(**env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield left(shell.home, process)
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=HUNG_S)
    assert process.returncode == 0, err
    assert "Condor serves" in out
    for line in err.splitlines():
        if line.startswith("{"):
            assert json.loads(line)["level"] in ("info", "warning"), line
    assert not (shell.home / "server.json").exists()


def left(home: Path, process: subprocess.Popen[str]) -> dict[str, Any]:
    """What a server leaves when it answers."""
    until = time.monotonic() + HUNG_S
    while time.monotonic() < until:
        if (home / "server.json").exists():
            return dict(json.loads((home / "server.json").read_text(encoding="utf-8")))
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("the server left nothing")


def test_commands_go_through_a_running_server(shell: Shell) -> None:
    """Run, pending, approve, deny, answer's refusal, stop, show: as without one, with the same exit codes."""
    with served(shell, "--dev") as file:
        assert stat.S_IMODE((shell.home / "server.json").stat().st_mode) == 0o600
        assert (file["pid"] > 0, file["url"].startswith("http://127.0.0.1:")) == (True, True)
        run = shell.parked()
        (card,) = shell.run("pending", "--json").json
        assert card["runId"] == run["runId"]
        refused = shell.run("approve", card["suspendId"], "--as", "cleo")
        assert refused.code == 7, refused
        approved = shell.run("approve", card["suspendId"], "--as", "max", "--json")
        assert approved.code == 0, approved
        assert approved.lines[-1]["run"]["status"] == "succeeded"
        late = shell.run("deny", card["suspendId"], "--as", "max", "--reason", "no")
        assert late.code == 7, late
        assert "already approved by" in late.err
        assert len(shell.ledger) == 1
        second = shell.parked()
        old = second["suspensions"][0]["suspendId"]
        wrong = shell.run("edit", old, "--data", '{"cents": "9"}', "--as", "mia")
        assert (wrong.code, "a text stands where a whole number belongs" in wrong.err) == (2, True), wrong
        edited = shell.run("edit", old, "cents=900", "--as", "mia", "--json")
        assert (edited.code, edited.json["toolInput"]["cents"]) == (0, 900), edited
        assert shell.run("approve", old, "--as", "mia").code == 7
        stopped = shell.run("stop", second["runId"], "--as", "mia")
        assert stopped.code == 0, stopped
        assert shell.run("stop", "run_none", "--as", "mia").code == 2
        assert shell.run("show", second["runId"], "--json").json["status"] == "aborted"
        unknown = shell.run(
            "run", "--plan", shell.plan({"steps": [{"id": "a", "tool": "no.such"}]}), "--as", "mia"
        )
        assert unknown.code == 2, unknown


def test_commands_find_the_database_of_a_running_server(shell: Shell, cluster: PostgresCluster) -> None:
    """The server alone knows it: who reads beside it needs no variable, and none leads elsewhere."""
    cluster.emptied()
    with served(shell, "--dev", CONDOR_DATABASE_URL=cluster.url):
        run = shell.parked()
        (card,) = shell.run("pending", "--json").json
        assert card["runId"] == run["runId"]
        elsewhere = shell.run(
            "show", run["runId"], "--json", env={"CONDOR_DATABASE_URL": "sqlite:///elsewhere.db"}
        )
        assert elsewhere.json["status"] == "suspended"
        verified = shell.run("audit", "verify")
        assert verified.code == 0, verified
        approved = shell.run("approve", card["suspendId"], "--as", "max")
        assert approved.code == 0, approved
        assert shell.run("show", run["runId"], "--json").json["status"] == "succeeded"
    # Without its server the home knows of no database but the one in it.
    assert "there is no database" in shell.run("pending").err


def test_what_runs_with_and_without_a_server_reads_the_same(shell: Shell) -> None:
    """The same events, the same snapshot but for ids and times."""

    def told(done: Any) -> list[Any]:
        return [line["type"] for line in done.lines]

    plan = shell.plan(REFUND)
    alone = shell.run("run", "--plan", plan, "--as", "mia", "--json")
    with served(shell, "--dev"):
        through = shell.run("run", "--plan", plan, "--as", "mia", "--json")
    assert (alone.code, through.code) == (3, 3)
    assert told(alone) == told(through)
    assert alone.lines[-1]["run"].keys() == through.lines[-1]["run"].keys()


def test_tokens_are_made_and_revoked_beside_and_through_a_server(shell: Shell) -> None:
    """Shown once, used, listed without its secret, and over when it is revoked."""
    shell.parked()
    made = shell.run("token", "create", "--name", "nightly", "--scope", "policy:read", "--json").json
    with served(shell, CONDOR_AUTH="tokens") as file:
        assert ask(file, "/api/tools", made["secret"]) == 200
        through = shell.run("token", "create", "--name", "other", "--role", "clerk")
        assert through.code == 0, through
        assert ask(file, "/api/runs", through.out.strip()) == 200
        listed = shell.run("token", "list", "--json").json
        assert [token["principal"] for token in listed] == ["program:nightly", "program:other"]
        assert made["secret"] not in json.dumps(listed)
        assert shell.run("token", "revoke", made["tokenId"]).code == 0
        assert ask(file, "/api/tools", made["secret"]) == 401
        assert shell.run("token", "revoke", made["tokenId"]).code == 2
    assert shell.run("token", "create", "--name", "Bad Name").code == 2


def ask(file: dict[str, Any], path: str, token: str) -> int:
    """The status of one request of a program."""
    import httpx

    return httpx.get(
        file["url"] + path, headers={"authorization": f"Bearer {token}"}, timeout=HUNG_S
    ).status_code


@pytest.mark.parametrize(
    ("words", "env", "said"),
    [
        ([], {}, "CONDOR_AUTH=tokens"),
        ([], {"CONDOR_AUTH": "", "CONDOR_BIND": "0.0.0.0"}, "CONDOR_AUTH=tokens"),
        (["--dev", "--host", "0.0.0.0"], {}, "127.0.0.1 only"),
        (["--dev"], {"CONDOR_BIND": "0.0.0.0"}, "127.0.0.1 only"),
        (["--demo", "--host", "::"], {}, "127.0.0.1 only"),
        (["--host", "0.0.0.0"], {"CONDOR_AUTH": "tokens"}, "CONDOR_PUBLIC_URL"),
        ([], {"CONDOR_AUTH": "tokens", "CONDOR_PUBLIC_URL": "http://condor.example"}, "https"),
        ([], {"CONDOR_AUTH": "none"}, "CONDOR_"),
        (["--dev", "--port", "70000"], {}, "70000"),
    ],
    ids=str,
)
def test_what_is_not_safe_is_not_served(
    shell: Shell, words: list[str], env: dict[str, str], said: str
) -> None:
    """Refused before anything is made, in one line that says what to do (B24)."""
    refused = shell.process("serve", *words, env=env)
    assert refused.code == 2, refused
    assert said in refused.err
    assert len(refused.err.splitlines()) == 1
    assert not shell.home.exists()


def test_a_port_that_is_taken_is_the_environment_s(shell: Shell) -> None:
    """One line, exit 8, nothing made."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = shell.process("serve", "--dev", "--port", str(taken.getsockname()[1]))
    assert refused.code == 8, refused
    assert "take another --port" in refused.err
    assert not shell.home.exists()


def test_a_home_has_one_server(shell: Shell) -> None:
    """A second one says who has it and leaves the first one's file."""
    with served(shell, "--dev") as file:
        second = shell.process("serve", "--dev", "--port", "0")
        assert second.code == 8, second
        assert f"process {file['pid']}" in second.err
        assert json.loads((shell.home / "server.json").read_text(encoding="utf-8")) == file


def test_what_a_dead_server_left_is_nobody_s(shell: Shell) -> None:
    """Commands own the home as if the file were not there."""
    shell.parked()
    gone = subprocess.Popen(["true"])
    gone.wait(HUNG_S)
    file = {"v": 1, "url": "http://127.0.0.1:9", "token": "x", "pid": gone.pid}
    (shell.home / "server.json").write_text(json.dumps(file), encoding="utf-8")
    assert shell.run("run", "--plan", shell.plan(REFUND), "--as", "mia", "--json").code == 3


def test_runs_go_on_after_a_server_was_killed(shell: Shell) -> None:
    """The parked run is there, its session too, and nothing ran twice."""
    process = subprocess.Popen(
        [*CONDOR, "serve", "--dev", "--port", "0"], cwd=shell.directory, env=shell.env(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    left(shell.home, process)
    run = shell.parked()
    process.kill()
    process.wait(HUNG_S)
    (shell.home / "server.json").unlink()
    with served(shell, "--dev"):
        (card,) = shell.run("pending", "--json").json
        assert card["runId"] == run["runId"]
        assert shell.run("approve", card["suspendId"], "--as", "max").code == 0
    assert len(shell.ledger) == 1


def test_the_demonstration_is_served_and_its_link_signs_in(tmp_path: Path) -> None:
    """`condor demo --port 0 --no-browser`: this machine alone, a link each, the hospital behind it."""
    import httpx

    shell = Shell(directory=tmp_path, packs="")
    process = subprocess.Popen(
        [*CONDOR, "demo", "--port", "0", "--no-browser"], cwd=shell.directory, env=shell.env(),
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    file = left(shell.home, process)
    lines = iter(process.stdout.readline, "")
    link = next(line.split(": ", 1)[1].strip() for line in lines if line.strip().startswith("dr-okafor: "))
    base, _, fragment = link.partition("/#")
    assert base == file["url"]
    body = dict(pair.split("=", 1) for pair in fragment.split("&"))
    with httpx.Client(base_url=base, timeout=HUNG_S) as client:
        assert client.post("/api/session", json=body).status_code == 204
        me = client.get("/api/session").json()
        assert (me["principal"], me["mode"], me["roles"]) == ("dr-okafor", "demo", ["doctor"])
        people = client.get("/api/principals").json()
        assert people["default"] == "dr-okafor"
        assert {who["id"] for who in people["people"]} >= {"rn-castillo", "pharm-osei", "admin"}
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=HUNG_S)
    assert process.returncode == 0
