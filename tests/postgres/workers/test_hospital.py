"""The hospital behind a server and a worker, each with a home of its own: one record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import Shell
from tests.postgres.workers.test_commands import begun

if TYPE_CHECKING:
    from pathlib import Path

    from condor.testing.postgres_cluster import PostgresCluster

pytestmark = pytest.mark.slow


def test_what_a_worker_writes_the_server_reads(tmp_path: Path, url: str, cluster: PostgresCluster) -> None:
    """Asked for at the server, written by the worker, carried once; neither home has a record of its own."""
    there = {"CONDOR_DATABASE_URL": url}
    server, worker = (Shell(directory=tmp_path / name, packs="") for name in ("server", "worker"))
    for shell in (server, worker):
        shell.directory.mkdir()
    serve = ("serve", "--demo", "--no-worker", "--no-browser", "--port", "0")
    with (
        begun(server, url, "Stop it with Ctrl-C", *serve),
        begun(replace(worker, packs="hms"), url, "Stop it with Ctrl-C", "worker"),
    ):
        allergy = "Record that John Hernandez is allergic to ibuprofen: angioedema, severe"
        done = server.run("run", allergy, "--as", "dr-okafor", "--autonomy", "autonomous", env=there)
        assert (done.code, "Allergy recorded: ibuprofen" in done.out) == (0, True), done
        asked = server.run("run", "What is John Hernandez allergic to?", "--as", "rn-castillo", env=there)
        assert (asked.code, "ibuprofen (high criticality" in asked.words) == (0, True), asked
        message = "Text Melissa Smith: Your prescription is ready."
        assert server.run("run", message, "--as", "rn-castillo", env=there).code == 3
        (card,) = server.run("pending", "--json", env=there).json
        sent = server.run("approve", card["suspendId"], "--as", "rn-castillo", env=there)
        assert (sent.code, "Message sent by SMS" in sent.out) == (0, True), sent
    assert cluster.sql("SELECT count(*) FROM condor_fhir.message_log") == "1"
    assert not list(tmp_path.rglob("fhir.db"))
