"""A request that is sent again makes nothing new."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.server.support import problem_of, refund, step

if TYPE_CHECKING:
    from tests.server.support import House

KEY = {"idempotency-key": "6f1c-1"}


async def test_the_same_key_and_body_are_the_same_run(house: House) -> None:
    """Again, later, and after it has ended; the answer says that it is a repeat."""
    ann = await house.signed_in("ann")
    body = {"plan": {"steps": [step("f", "shop.find", order="A-1")]}}
    first = await ann.post("/api/runs", json=body, headers=KEY)
    await house.rest(first.json()["runId"])
    again = await ann.post(
        "/api/runs",
        content=b'{ "plan" : ' + first.request.content[8:],
        headers={**KEY, "content-type": "application/json"},
    )
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json()["runId"] == again.json()["runId"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]


async def test_the_same_key_with_another_body_is_refused(house: House) -> None:
    """422, and nothing is started."""
    ann = await house.signed_in("ann")
    await ann.post("/api/runs", json={"request": "find A-1"}, headers=KEY)
    for body in ({"request": "find A-2"}, {"request": "find A-1", "autonomy": "ambient"}, {"plan": refund()}):
        answer = await ann.post("/api/runs", json=body, headers=KEY)
        assert problem_of(answer) == (422, "idempotency_key_reused")
    assert len(await house.condor.store.runs()) == 1


async def test_a_key_is_its_principal_s(house: House) -> None:
    """Two people who take the same key have two runs."""
    ann, ben = await house.signed_in("ann"), await house.signed_in("ben")
    runs = [
        await client.post("/api/runs", json={"request": "find A-1"}, headers=KEY) for client in (ann, ben)
    ]
    assert len({run.json()["runId"] for run in runs}) == 2


async def test_concurrent_repeats_are_one_run(house: House) -> None:
    """However many come at once."""
    ann = await house.signed_in("ann")
    answers = await asyncio.gather(
        *(ann.post("/api/runs", json={"plan": refund()}, headers=KEY) for _ in range(20))
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["runId"] for answer in answers}) == 1
    assert sum("idempotency-replayed" not in answer.headers for answer in answers) == 1
    assert len(await house.condor.store.runs()) == 1


async def test_a_refused_body_leaves_its_key_free(house: House) -> None:
    """A mended request may use it."""
    ann = await house.signed_in("ann")
    assert problem_of(await ann.post("/api/runs", json={"plan": {"steps": []}}, headers=KEY))[0] == 422
    assert (await ann.post("/api/runs", json={"request": "find A-1"}, headers=KEY)).status_code == 201


async def test_a_key_that_cannot_be_kept(house: House) -> None:
    """Empty or too long."""
    ann = await house.signed_in("ann")
    for key in ("x" * 300, "a\tb"):
        answer = await ann.post("/api/runs", json={"request": "find A"}, headers={"idempotency-key": key})
        assert problem_of(answer) == (422, "invalid_input")
