"""Every error has its problem, and every problem is one that a caller can meet."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from condor.core import errors
from condor.core.errors import CondorError
from condor.server.problems import PROBLEMS, Refused, code_of, problem_of
from tests.architecture.house import SRC
from tests.server.support import problem_of as read_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.support import House


def tree(error: type[CondorError] = CondorError) -> Iterator[type[CondorError]]:
    """An error and everything below it that Condor defines."""
    yield error
    for child in error.__subclasses__():
        if child.__module__.startswith("condor."):
            yield from tree(child)


@pytest.mark.parametrize("error", list(tree()), ids=lambda error: error.__name__)
def test_every_error_has_its_problem(error: type[CondorError]) -> None:
    """By its own code, or by its nearest ancestor's."""
    made = error.__new__(error)
    assert PROBLEMS[code_of(made)].status >= 400


@pytest.mark.parametrize("code", PROBLEMS)
def test_a_row_says_why_and_what_to_do(code: str) -> None:
    """Four things, none of them empty; the code is a word for programs."""
    kind = PROBLEMS[code]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", code)
    assert 400 <= kind.status <= 599
    for text in (kind.title, kind.cause, kind.remedy):
        assert text
    assert kind.cause.endswith(".") and kind.remedy.endswith(".")
    assert not kind.title.endswith(".")


def test_every_code_that_the_edge_raises_has_a_row() -> None:
    """A code that nobody listed would be an error of ours at the worst moment."""
    raised = {
        code
        for path in (SRC / "condor" / "server").rglob("*.py")
        for code in re.findall(
            r"(?:Refused|_Unfit|problem)\(\s*\"([a-z_]+)\"", path.read_text(encoding="utf-8")
        )
    }
    # On AG-UI's own wire only.
    assert raised - PROBLEMS.keys() == {"interrupted"}
    with pytest.raises(KeyError):
        Refused("no_such_code")


@pytest.mark.parametrize(
    "error",
    [
        errors.UnknownId("run", "run_ZZCANARY", "see ZZCANARY"),
        errors.PlanRefused("no tool is called 'ZZCANARY'; near it are a, b", path="/steps/0/tool"),
        errors.RefusedInput('session id "it\'s ZZCANARY" cannot be kept'),
        errors.RefusedInput("no scope 'ZZ\\'CANARY…"),
        errors.OurBug("run x: ZZCANARY"),
        errors.ToolError("ZZCANARY"),
        errors.StoreUnavailable("/some/path/ZZCANARY.db"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_value_is_repeated(error: CondorError) -> None:
    """The place is named, what stood there is not; what is ours alone is not told at all."""
    assert b"CANARY" not in problem_of(error).body


def test_what_names_no_value_is_told_whole() -> None:
    """An apostrophe is not a quotation."""
    told = problem_of(errors.RefusedInput("the card's deadline isn't a date; it's a word")).body
    assert b"the card's deadline isn't a date; it's a word" in told


async def test_the_router_says_problems_too(house: House) -> None:
    """No such path, and no such method on one that is there."""
    ann = await house.signed_in("ann")
    assert read_problem(await ann.get("/api/nothing")) == (404, "not_found")
    assert read_problem(await ann.get("/nothing")) == (404, "not_found")
    wrong = await ann.put("/api/runs", json={})
    assert read_problem(wrong) == (405, "method_not_allowed")
    assert "POST" in wrong.headers["allow"] or "GET" in wrong.headers["allow"]


async def test_a_query_that_has_no_shape(house: House) -> None:
    """The place, not the value."""
    ann = await house.signed_in("ann")
    for path in (
        "/api/runs?limit=ZZCANARY",
        "/api/runs?limit=0",
        "/api/runs?limit=100000",
        "/api/suspensions?status=ZZCANARY",
        "/api/audit?decision=ZZCANARY&runId=x",
        "/api/audit?after=ZZCANARY",
    ):
        answer = await ann.get(path)
        assert read_problem(answer) == (422, "invalid_input"), path
        assert "ZZCANARY" not in answer.text


async def test_checks_come_in_their_order(house: House) -> None:
    """401 before 404 before 422 before 403 before 409."""
    run = await house.parked()
    path = f"/api/runs/{run['runId']}/approve"
    nobody, ben, ann = await house.client(), await house.signed_in("ben"), await house.signed_in("ann")
    cleo = await house.signed_in("cleo")
    body = {"suspendId": run["suspensions"][0]["suspendId"], "approved": True}
    assert read_problem(await nobody.post("/api/runs/none/approve", json={}))[0] == 401
    assert read_problem(await ben.post(path, json={}))[0] == 404
    assert read_problem(await ann.post(path, json={**body, "approved": "yes"}))[0] == 422
    assert read_problem(await ann.post(path, json=body)) == (403, "not_an_approver")
    assert (await cleo.post(path, json=body)).status_code == 202
    await house.rest(run["runId"])
    assert read_problem(await cleo.post(path, json={**body, "approved": 1}))[0] == 422
    assert read_problem(await ann.post(path, json=body))[0] == 403
    assert read_problem(await cleo.post(path, json=body)) == (409, "already_decided")


async def test_a_damaged_run_is_said_to_be_damaged(house: House) -> None:
    """A status that no run has, written by something else: no guess, and the others are answered."""
    damaged, whole = await house.parked(), await house.parked()
    with closing(sqlite3.connect(house.home / "condor.db")) as other, other:
        other.execute("UPDATE run SET status = 'paused' WHERE run_id = ?", (damaged["runId"],))
    cleo = await house.signed_in("cleo")
    assert read_problem(await cleo.get(f"/api/runs/{damaged['runId']}")) == (500, "damaged")
    assert (await cleo.get(f"/api/runs/{whole['runId']}")).status_code == 200
