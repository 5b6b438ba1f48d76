"""The export over HTTP and on the command line: for whoever may read the run, and in the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor_hms.pack import PACK
from tests.cli.support import Shell
from tests.hms.run_export.test_view import PRESCRIBE
from tests.server.support import House, open_house, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
async def hospital(tmp_path: Path) -> AsyncIterator[House]:
    """The demonstration hospital on a socket."""
    async with open_house(tmp_path, mode="demo", pack=PACK) as house:
        yield house


async def test_who_may_read_the_run_may_export_it(hospital: House) -> None:
    """The requester, whoever may answer its card, the auditor; to others it is not there."""
    doctor = await hospital.signed_in("dr-okafor")
    begun = (await doctor.post("/api/runs", json={"request": PRESCRIBE})).json()
    run_id = begun["runId"]
    await hospital.rest(run_id)
    path = f"/api/runs/{run_id}/export/fhir"
    bodies = []
    for who in ("dr-okafor", "dr-lindholm", "audit-reyes"):
        told = await (await hospital.signed_in(who)).get(path)
        assert (told.status_code, told.headers["content-type"]) == (200, "application/fhir+json")
        bodies.append(told.content)
    assert len(set(bodies)) == 1
    for who in ("front-tanaka", "rn-castillo"):
        client = await hospital.signed_in(who)
        assert problem_of(await client.get(path)) == (404, "not_found")
    assert problem_of(await doctor.get(f"/api/runs/{run_id}/export/pdf")) == (404, "not_found")
    feed = await hospital.program("feed", scopes=("record:read",), roles=("doctor",))
    assert problem_of(await feed.get(path)) == (404, "not_found")


def test_the_command_says_the_same(tmp_path: Path) -> None:
    """One line of JSON; a run that is not there, two runs, no run and further filters are refused."""
    shell = Shell(directory=tmp_path, packs="")
    run = shell.run("run", PRESCRIBE, "--json").lines[-1]["run"]
    run_id = run["runId"]
    exported = shell.run("audit", "export", run_id, "--fhir")
    assert (exported.code, exported.json["type"]) == (0, "collection")
    assert shell.run("audit", "export", "--run", run_id, "--fhir").json == exported.json
    assert shell.run("audit", "--run", run_id, "export", "--fhir").json == exported.json
    rows = shell.run("audit", "export", run_id).lines
    assert {row["runId"] for row in rows} == {run_id}
    assert len(rows) == len(shell.run("audit", "export", "--run", run_id).lines)
    for words, said in (
        (("run_none", "--fhir"), "no run 'run_none'"),
        (("--fhir",), "give its RUN_ID"),
        ((run_id, "--fhir", "--decision", "denied"), "no other filter"),
        ((run_id, "--run", "run_2"), "two runs are named"),
    ):
        refused = shell.run("audit", "export", *words)
        assert (refused.code, refused.out) == (2, "")
        assert said in refused.err
    # Without its record an export would lack what was written.
    (tmp_path / ".condor" / "hms" / "fhir.db").unlink()
    gone = shell.run("audit", "export", run_id, "--fhir")
    assert (gone.code, gone.out) == (8, "")
    assert "the record does not answer" in gone.err


def test_a_home_without_the_form(tmp_path: Path) -> None:
    """Its packs have none."""
    shell = Shell(directory=tmp_path)
    refused = shell.run("audit", "export", shell.parked()["runId"], "--fhir")
    assert (refused.code, refused.out) == (2, "")
    assert "no pack of this home exports runs as fhir" in refused.err
