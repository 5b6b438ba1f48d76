"""Edit before approve over HTTP, and cards that have become stale: the new card is what counts."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from condor import Effect, HitlTier, OpenedPack, PolicyClass, ToolContext, tool
from condor.testing import Ledger
from tests.server.support import PEOPLE, approve, card_of, chunks_of, open_house, problem_of, step

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.server.support import House


async def test_a_call_is_edited_on_its_card(house: House) -> None:
    """201 with the new card; the old one superseded in its place in the stream; the edited call runs once."""
    run = await house.parked()
    cleo, old = await house.signed_in("cleo"), card_of(run)
    made = await cleo.post(f"/api/suspensions/{old}/edit", json={"args": {"cents": 900}})
    assert made.status_code == 201, made.text
    new = made.json()
    assert made.headers["location"] == f"/api/v1/suspensions/{new['suspendId']}"
    assert (new["toolInput"]["cents"], new["status"], new["mayAnswer"]) == (900, "pending", True)
    assert (new["edits"][0]["byDisplay"], new["edits"][0]["before"]) == ("Cleo, manager", {"cents": 1200})
    assert house.shop.ledger.count() == 0
    late = await cleo.post(f"/api/runs/{run['runId']}/approve", json=approve(run))
    assert problem_of(late) == (409, "stale_suspension")
    assert (late.json()["nextSuspendId"], "Cleo, manager edited" in late.json()["cause"]) == (
        new["suspendId"],
        True,
    )
    told = chunks_of((await cleo.get(f"/api/runs/{run['runId']}/stream")).text)
    cards = [
        (chunk["toolCallId"], chunk["output"]["status"])
        for chunk in told[:-1]
        if str(chunk.get("toolCallId")).startswith("sus_") and "output" in chunk
    ]
    assert cards == [(old, "pending"), (old, "superseded"), (new["suspendId"], "pending")]
    yes = {"suspendId": new["suspendId"], "approved": True}
    assert (await cleo.post(f"/api/runs/{run['runId']}/approve", json=yes)).status_code == 202
    assert (await house.rest(run["runId"]))["status"] == "succeeded"
    assert [entry.value for entry in house.shop.ledger.entries()] == ["900"]


async def test_the_same_edit_sent_again_is_one_edit(house: House) -> None:
    """Under an Idempotency-Key: 201 and the same card; another body under it is refused."""
    run = await house.parked()
    cleo, path = await house.signed_in("cleo"), f"/api/suspensions/{card_of(run)}/edit"
    first = await cleo.post(path, json={"args": {"cents": 900}}, headers={"idempotency-key": "e1"})
    again = await cleo.post(path, json={"args": {"cents": 900}}, headers={"idempotency-key": "e1"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    other = await cleo.post(path, json={"args": {"cents": 901}}, headers={"idempotency-key": "e1"})
    assert problem_of(other) == (422, "idempotency_key_reused")
    assert problem_of(await cleo.post(path, json={"args": {"cents": 901}})) == (409, "stale_suspension")


@pytest.mark.parametrize(
    ("body", "code", "at"),
    [
        ({"args": {"order": "B-2"}}, "invalid_edit", "/order"),
        ({"args": {"cents": "9"}}, "invalid_edit", "/cents"),
        ({"args": {"cents": None}}, "invalid_edit", "/cents"),
        ({"args": {"cents": 1200}}, "invalid_edit", None),
        ({"args": {}}, "invalid_edit", None),
        ({"args": [1]}, "invalid_edit", None),
        ({"args": {"cents": 1}, "approved": True}, "invalid_input", None),
        ({}, "invalid_input", None),
    ],
)
async def test_a_bad_edit_is_refused_and_changes_nothing(
    house: House, body: Any, code: str, at: str | None
) -> None:
    """422 with the place; the card is as it was. An edit cannot bring its own approval."""
    run = await house.parked()
    cleo = await house.signed_in("cleo")
    refused = await cleo.post(f"/api/suspensions/{card_of(run)}/edit", json=body)
    assert problem_of(refused) == (422, code)
    assert refused.json().get("at") == at
    assert (await cleo.get(f"/api/runs/{run['runId']}")).json() == run


async def test_what_allows_no_edit_says_so(house: House) -> None:
    """409: the tool names nothing that may be edited."""
    run = await house.parked(plan={"steps": [step("n", "shop.note", text="hello")]})
    cleo = await house.signed_in("cleo")
    refused = await cleo.post(f"/api/suspensions/{card_of(run)}/edit", json={"args": {"text": "x"}})
    assert problem_of(refused) == (409, "not_editable")


# -- drift over HTTP -------------------------------------------------------------------------


class Drifting:
    """A pack whose one write changes between two openings of the home."""

    name = "drifting"
    has_demo = False

    def __init__(self, ledger: Ledger, *, title: str = "Write", removes: bool = False) -> None:
        """As it is now.

        Args:
            removes: its calls count as removals; this is code, so the descriptor's digest stays.
        """
        self._ledger, self._title, self._removes = ledger, title, removes

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[OpenedPack]:
        """Bring the tool and the people."""

        def effects(args: Any) -> tuple[Effect, ...]:
            return (Effect(verb="write", target=str(args.get("text")), destructive=self._removes),)

        @tool(
            "drift.write",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            title=self._title,
            effect_of=effects,
        )
        async def write(ctx: ToolContext, text: str) -> int:
            return self._ledger.write("note", text, key=ctx.idempotency_key)

        yield OpenedPack(tools=[write], principals=PEOPLE)


@pytest.mark.parametrize(
    ("later", "cause"),
    [({"title": "Rub out"}, "the descriptor of drift.write has changed"), ({"removes": True}, "the policy")],
    ids=["descriptor", "policy"],
)
async def test_a_card_that_drifted_is_stale_with_its_cause(
    tmp_path: Path, later: dict[str, Any], cause: str
) -> None:
    """409 `stale_suspension`, the cause, and the new card; nothing runs until that one is approved."""
    ledger, home = Ledger(tmp_path / "ledger.db"), tmp_path / "home"
    plan = {"steps": [step("w", "drift.write", text="hello")]}
    async with open_house(home, pack=Drifting(ledger)) as house:
        run = await house.parked(plan=plan)
    async with open_house(home, pack=Drifting(ledger, **later)) as house:
        cleo = await house.signed_in("cleo")
        stale = await cleo.post(f"/api/runs/{run['runId']}/approve", json=approve(run))
        assert problem_of(stale) == (409, "stale_suspension")
        assert cause in stale.json()["cause"]
        now = (await cleo.get(f"/api/runs/{run['runId']}")).json()
        assert stale.json()["nextSuspendId"] == card_of(now) != card_of(run)
        assert ledger.count() == 0
        again = await cleo.post(f"/api/runs/{run['runId']}/approve", json=approve(run))
        assert problem_of(again) == (409, "stale_suspension")
        taken = await cleo.post(f"/api/runs/{run['runId']}/approve", json=approve(now))
        assert taken.status_code == 202
        assert (await house.rest(run["runId"]))["status"] == "succeeded"
        assert ledger.count() == 1
