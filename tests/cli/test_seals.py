"""Sealing, checkpoints and their key as a person types them."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.support import Shell


def kept(shell: Shell, *words: str) -> str:
    """A checkpoint in a file beside the home."""
    file: Path = shell.directory / "checkpoint.jsonl"
    file.write_text(shell.process("audit", "checkpoint", *words).out)
    return str(file)


def sql(shell: Shell, *statements: str) -> None:
    with closing(sqlite3.connect(shell.home / "condor.db")) as database, database:
        for statement in statements:
            database.execute(statement)


def test_a_checkpoint_finds_what_was_removed_with_its_seals(shell: Shell) -> None:
    """The run is named; without the checkpoint nothing is at odds."""
    run = shell.parked()["runId"]
    assert shell.run("audit", "seal", "--json").json == {"sealed": 1, "byServer": False}
    assert shell.run("audit", "seal").words == "All was sealed already."
    file = kept(shell)
    good = shell.run("audit", "verify", "--against", file)
    assert (good.code, "✓ all that the checkpoint of" in good.words) == (0, True)
    assert "holds is there: 1 seal, 1 run" in good.words
    sql(shell, *(f"DELETE FROM {table}" for table in ("run", "audit", "suspension", "seal", "sealed")))
    assert shell.run("audit", "verify").code == 0
    bad = shell.run("audit", "verify", "--against", file)
    assert bad.code == 9
    assert "goes up to seal 1, and there are none: the database was rolled back" in bad.words
    assert f"run {run} was removed with all its audit rows" in bad.words
    found = shell.run("audit", "verify", "--against", file, "--json").json
    assert [(one["runId"], one["what"]) for one in found["bad"]] == [
        ("", "rolled-back"),
        (run, "run-removed"),
    ]
    assert (found["kept"], found["runs"]) == (False, 1)


def test_a_checkpoint_seals_first_and_its_line_alone_finds_too(shell: Shell) -> None:
    """``--brief`` is one line; it names no run."""
    shell.parked()
    file = kept(shell, "--brief")
    assert len((shell.directory / "checkpoint.jsonl").read_text().splitlines()) == 1
    assert shell.run("audit", "verify", "--against", file).code == 0
    sql(shell, "DELETE FROM seal", "DELETE FROM sealed")
    assert shell.run("audit", "verify", "--against", file).code == 9


def test_only_a_checkpoint_of_the_right_key_counts(shell: Shell) -> None:
    """Of this home, or of one that is named; its own proves nothing; a changed or cut file is refused."""
    shell.parked()
    file = kept(shell)
    key = shell.run("audit", "key").words
    assert shell.run("audit", "key", "--json").json == {"key": key}
    own = shell.home / "checkpoint.key"
    assert stat.S_IMODE(own.stat().st_mode) == 0o600
    own.rename(shell.directory / "old.key")
    verify = ("audit", "verify", "--against", file)
    refused = shell.run(*verify)
    assert (refused.code, "this home has no key" in refused.err) == (2, True)
    assert shell.run(*verify, "--key", key).code == 0
    shell.run("audit", "key")
    refused = shell.run(*verify)
    assert (refused.code, "signed with another key" in refused.err) == (2, True)
    assert "is no public key" in shell.run(*verify, "--key", "x").err
    assert "name one with --against" in shell.run("audit", "verify", "--key", key).err
    text = (shell.directory / "checkpoint.jsonl").read_text()
    for changed in (text.replace('"seals":1', '"seals":2'), text + "{}\n", "", "x\n"):
        (shell.directory / "checkpoint.jsonl").write_text(changed)
        refused = shell.run(*verify, "--key", key)
        assert (refused.code, "cannot be used" in refused.err) == (2, True), changed
    refused = shell.run("audit", "verify", "--against", str(shell.directory / "none"), "--key", key)
    assert (refused.code, "cannot be read: No such file" in refused.err) == (2, True)


def test_nothing_is_made_where_nothing_is(shell: Shell) -> None:
    """No home, no database, no key."""
    for words in (("seal",), ("checkpoint",), ("key",)):
        refused = shell.run("audit", *words)
        assert refused.code not in (0, 1)
        assert "there is no home at" in refused.err
    shell.home.mkdir()
    assert shell.run("audit", "seal").code not in (0, 1)
    assert not (shell.home / "condor.db").exists()
