"""Flags: the old kind of tool, and the flag that was there before."""

import pytest

from condor import Principal, ToolError
from condor.core.policy.resolve import policy_call
from condor.core.policy.verdict import PolicyContext, evaluate_tool_policy
from tests.hms.catalogue.desk import CASTILLO, HELEN, MELISSA, OKAFOR, Desk

SET = "flag.set"
FALLS = {"patient": HELEN, "flag": "falls"}


@pytest.mark.parametrize("autonomy", ["autonomous", "guarded", "ambient"])
async def test_it_always_waits_for_a_person(desk: Desk, autonomy: str) -> None:
    """Only ``metadata.mutating`` is declared: no tier means the high one (R16)."""
    verdict = evaluate_tool_policy(policy_call(desk.tools[SET], FALLS), PolicyContext(autonomy=autonomy))
    assert (verdict.rule_id, verdict.promotions) == ("mutate.high-tier-always-approval", ("tier-missing",))


async def test_the_card_shows_the_flag_that_is_there(desk: Desk) -> None:
    """Who approves a second falls flag knows that it is the second."""
    card = await desk.preview(SET, FALLS)
    known = {"label": "Existing flag", "text": "already on record: Flag/flag-9001 Falls risk"}
    assert card.context == (known,)
    assert card.before == {"flags": ["Falls risk"]}
    assert card.summary == "Set the flag “Falls risk”"
    fresh = await desk.preview(SET, {**FALLS, "patient": MELISSA})
    assert fresh.context[0]["text"] == "no such flag on record"


async def test_it_is_set_once_and_said(desk: Desk) -> None:
    """One flag for one key; the sentence names the flag that was there before."""
    given = {"principal": CASTILLO, "approved_by": OKAFOR}
    value = await desk.call(SET, FALLS, **given)
    again = await desk.call(SET, FALLS, **given, attempt=2)
    assert again == {**value, "replayed": True}
    flags = await desk.search("Flag", subject=HELEN)
    [flag] = [row for row in flags if row["id"] != "flag-9001"]
    assert (flag["status"], flag["code"], flag["period"]) == (
        "active",
        {"text": "Falls risk"},
        {"start": "2026-11-30"},
    )
    assert flag["author"]["reference"] == "Practitioner/rn-castillo"
    assert desk.report(SET, FALLS, value) == (
        "Flag set: Falls risk for Helen Coleman, 81 y, female, MRN POP-000002 "
        f"(Flag/{flag['id']} version 1). It was already on record: Flag/flag-9001 Falls risk."
    )
    answer = await desk.reconcile(SET, FALLS)
    assert (answer.happened, answer.value) == (True, again)


@pytest.mark.parametrize("flag", ["falls", "infection", "behaviour", "dnacpr"])
async def test_every_flag_can_be_written_with_a_note(desk: Desk, flag: str) -> None:
    """The note stands beside the flag, where everybody sees it; the same flag is still recognised."""
    args = {"patient": MELISSA, "flag": flag, "note": "seen on the ward"}
    value = await desk.call(SET, args, approved_by=OKAFOR)
    stored = await desk.fhir.read(value["reference"])
    assert stored["code"]["text"].endswith(": seen on the ward")
    card = await desk.preview(SET, {"patient": MELISSA, "flag": flag})
    assert value["reference"] in str(card.context[0]["text"])


async def test_no_other_flag(desk: Desk) -> None:
    """A flag outside the list is no flag."""
    with pytest.raises(ToolError, match="not a flag of the list"):
        await desk.call(SET, {"patient": HELEN, "flag": "vip"}, approved_by=OKAFOR)
    assert len(await desk.search("Flag", subject=HELEN)) == 1


async def test_whoever_has_no_practitioner_is_named_by_login(desk: Desk) -> None:
    """A flag by somebody who is not in the record says who it was all the same."""
    local = Principal(id="local", display="the local operator")
    value = await desk.call(SET, FALLS, principal=local, approved_by=OKAFOR)
    author = (await desk.fhir.read(value["reference"]))["author"]
    login = {"system": "urn:condor:principal", "value": "local"}
    assert author == {"display": "the local operator", "identifier": login}
