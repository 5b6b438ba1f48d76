"""Tool kernels only tighten: whatever is laid on a tool, nobody can do more with it than before."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor import Condor, HitlTier, PolicyClass, Principal, ToolContext, tool
from condor.core.errors import NotAllowed, NotAnApprover, RefusedInput, StaleSuspension, UnknownId
from condor.store.migrations import MIGRATIONS, migrate
from condor.tools.kernels import (
    ToolKernel,
    check_tightens,
    in_force,
    nameable_roles,
    next_revision,
    read_kernel,
    tighten,
)
from condor.tools.lint import lint_kernels

if TYPE_CHECKING:
    from pathlib import Path

    from condor.tools import ToolDescriptor

ADMIN = Principal(id="root", roles=frozenset({"admin"}))
ANN = Principal(id="ann", roles=frozenset({"clerk"}))
ROLES = st.frozensets(st.sampled_from(["clerk", "manager", "chief", "admin"]), max_size=3)


@tool(
    "stock.set",
    policy_class=PolicyClass.MUTATE,
    hitl_tier=HitlTier.LOW,
    roles={"clerk", "manager"},
    noun="the stock",
)
async def set_stock(_: ToolContext, item: str) -> str:
    """Set the stock."""
    return item


@tool("stock.show", policy_class=PolicyClass.READ)
async def show_stock(_: ToolContext) -> int:
    """Show the stock."""
    return 3


def _may(descriptor: ToolDescriptor) -> frozenset[str]:
    return descriptor.approver_roles or descriptor.roles


@given(
    tier=st.sampled_from(list(HitlTier)),
    roles=ROLES,
    approvers=ROLES,
    excluded=st.booleans(),
    raises=st.booleans(),
    narrows=st.none() | ROLES,
    excludes=st.booleans(),
)
def test_no_kernel_loosens(
    *, tier: HitlTier, roles: Any, approvers: Any, excluded: bool, raises: bool, narrows: Any, excludes: bool
) -> None:
    """Also one that was stored for another release of the tool: tier, approvers and requester never widen."""
    before = replace(
        set_stock, hitl_tier=tier, roles=roles, approver_roles=approvers, requester_excluded=excluded
    )
    after = tighten(
        before, ToolKernel(raises_tier=raises, approver_roles=narrows, excludes_requester=excludes)
    )
    assert after.hitl_tier in (tier, HitlTier.HIGH)
    assert not excluded or after.requester_excluded
    if _may(before):
        outside = _may(after) - _may(before)
        assert outside <= {"(nobody)"}
        assert _may(after)
    elif narrows:
        assert _may(after) == narrows
    assert replace(after, hitl_tier=tier, approver_roles=approvers, requester_excluded=excluded) == before


def test_roles_that_may_be_named() -> None:
    """Those that approve; where anybody does, those that some tool names; never who decides nothing."""
    closed = replace(set_stock, roles=frozenset({"clerk"}), approver_roles=frozenset({"manager", "admin"}))
    opened = replace(set_stock, roles=frozenset(), approver_roles=frozenset())
    shut = replace(set_stock, approver_roles=frozenset({"auditor"}))
    tools = [closed, opened, shut]
    assert nameable_roles(closed, tools) == {"manager"}
    assert nameable_roles(opened, tools) == {"clerk", "manager"}
    assert nameable_roles(shut, tools) == frozenset()
    for each in tools:
        for role in nameable_roles(each, tools):
            check_tightens(each, ToolKernel(approver_roles=frozenset({role})))


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"hitlTier": "low"}, "kernel_loosens", "cannot lower a tier"),
        ({"approverRoles": ["chief"]}, "kernel_loosens", "cannot widen who may approve: chief may not"),
        ({"hitlTier": "medium"}, "invalid_input", "hitlTier is 'medium'"),
        ({"approverRoles": []}, "invalid_input", "list 1 to 50 roles"),
        ({"requesterExcluded": "no"}, "invalid_input", "take true or false"),
        ({"policyClass": "read"}, "invalid_input", "a kernel has no 'policyClass'"),
    ],
)
def test_what_loosens_is_refused(given: dict[str, Any], code: str, said: str) -> None:
    """With what, and why; a class is nothing that a kernel has."""
    with pytest.raises(RefusedInput) as refused:
        check_tightens(set_stock, read_kernel(given))
    assert said in str(refused.value)
    assert refused.value.code == code


def test_a_read_takes_no_kernel() -> None:
    """It would change nothing, so it is not taken as if it did."""
    with pytest.raises(RefusedInput, match="is a read"):
        check_tightens(show_stock, ToolKernel(excludes_requester=True))


def test_a_tampered_revision_shuts_its_tool() -> None:
    """A row that was changed, cut out or made up leaves nobody to approve; other tools stay."""
    laid = ToolKernel(approver_roles=frozenset({"manager"}))
    first = next_revision([], "a", laid, by=ADMIN, at="2026-11-30T09:00:00.000Z", reason="")
    second = next_revision([first], "a", ToolKernel(), by=ADMIN, at="2026-11-30T09:00:00.000Z", reason="")
    other = next_revision([], "b", laid, by=ADMIN, at="2026-11-30T09:00:00.000Z", reason="")
    assert in_force([first, second, other]) == {"a": ToolKernel(), "b": laid}
    for tampered in (
        [replace(first, body=second.body), second],
        [second],
        [first, replace(second, hash="x")],
    ):
        found = in_force([*tampered, other])
        assert found["a"].approver_roles == frozenset({"(nobody)"})
        assert found["b"] == laid


async def test_a_kernel_holds_at_once_and_after_a_restart(tmp_path: Path) -> None:
    """A low write of an autonomous run waits once its tier is raised; a card of before is stale."""
    plan = {"steps": [{"id": "s", "tool": "stock.set", "args": {"item": "bolt"}}]}
    manager = Principal(id="max", roles=frozenset({"manager"}))
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        run = await condor.start(plan=plan, autonomy="autonomous", principal=ANN)
        assert (await condor.wait(run.id))["status"] == "succeeded"
        parked = await condor.start(plan=plan, principal=ANN)
        old = (await condor.wait(parked.id))["suspensions"][0]["suspendId"]  # type: ignore[index,call-overload]
        laid = await condor.kernels.put(
            "stock.set", {"hitlTier": "high", "approverRoles": ["manager"]}, principal=ADMIN, reason="audit"
        )
        assert laid["rev"] == 1
        with pytest.raises(StaleSuspension):
            await condor.resume(parked.id, str(old), {"approved": True}, principal=manager)
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        run = await condor.start(plan=plan, autonomy="autonomous", principal=ANN)
        assert (await condor.wait(run.id))["status"] == "suspended"
        with pytest.raises(RefusedInput, match="hitlTier and approverRoles of the kernel"):
            await condor.kernels.put("stock.set", {}, principal=ADMIN, reason="tidying")
        with pytest.raises(RefusedInput, match=r"say why \(reason\)"):
            await condor.kernels.put("stock.set", {}, principal=ADMIN, remove=True)
        await condor.kernels.put("stock.set", {}, principal=ADMIN, remove=True, reason="audit is over")
        told = await condor.kernels.one("stock.set")
        assert [revision["rev"] for revision in told["revisions"]] == [1, 2]  # type: ignore[union-attr,index,call-overload]
        assert told["revisions"][0]["by"] == "root"  # type: ignore[index,call-overload]


HELD = {"hitlTier": "high", "approverRoles": ["manager"], "requesterExcluded": True}


@pytest.mark.parametrize(
    ("given", "reason", "said"),
    [
        ({}, "why", "hitlTier and approverRoles and requesterExcluded of the kernel"),
        ({"hitlTier": "high"}, "why", "approverRoles and requesterExcluded of the kernel"),
        (
            {**HELD, "hitlTier": None},
            " ",
            "hitlTier of the kernel on stock.set would be taken off or widened",
        ),
        (
            {**HELD, "approverRoles": ["manager", "clerk"]},
            "",
            "approverRoles of the kernel on stock.set would",
        ),
        ({**HELD, "approverRoles": ["manager", "clerk"]}, "why", ""),
        ({"hitlTier": None, "approverRoles": None, "requesterExcluded": False}, "why", ""),
        (HELD, "", ""),
    ],
    ids=["nothing named", "one named", "no reason", "wider, no reason", "wider", "all off", "the same"],
)
async def test_what_holds_is_not_taken_off_unsaid(
    tmp_path: Path, given: dict[str, Any], reason: str, said: str
) -> None:
    """A field that is left out takes nothing off; what is taken off or widened says why."""
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        await condor.kernels.put("stock.set", HELD, principal=ADMIN)
        laying = condor.kernels.put("stock.set", given, principal=ADMIN, reason=reason, rev=1)
        if not said:
            assert (await laying)["rev"] == 2
            return
        with pytest.raises(RefusedInput, match=said) as refused:
            await laying
        assert refused.value.code == "kernel_loosens"
        assert (await condor.kernels.one("stock.set"))["kernel"] == HELD


async def test_who_may_not_and_what_is_not_there(tmp_path: Path) -> None:
    """Only an admin who is a person; only tools there are; only on the revision that was read."""
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        for who in (ANN, replace(ADMIN, kind="program")):
            with pytest.raises(NotAllowed, match="is no admin"):
                await condor.kernels.put("stock.set", {}, principal=who)
        with pytest.raises(UnknownId):
            await condor.kernels.put("stock.get", {}, principal=ADMIN)
        await condor.kernels.put("stock.set", {}, principal=ADMIN, rev=0)
        with pytest.raises(RefusedInput) as moved:
            await condor.kernels.put("stock.set", {}, principal=ADMIN, rev=0)
        assert moved.value.code == "kernel_moved"
        assert len(await condor.store.kernels()) == 1


async def _remove(home: Path, condition: str) -> None:
    with closing(sqlite3.connect(home / "condor.db", isolation_level=None)) as connection:
        connection.execute(f"DELETE FROM tool_kernel WHERE {condition}")


@pytest.mark.parametrize("condition", ["1", "rev = 2"], ids=["all of them", "the last one"])
@pytest.mark.parametrize("when", ["while it runs", "between two processes"])
async def test_a_kernel_that_is_gone_loosens_nothing(tmp_path: Path, condition: str, when: str) -> None:
    """Removed from the database, its tool is shut, for every process of this home, until it is laid anew."""
    plan = {"steps": [{"id": "s", "tool": "stock.set", "args": {"item": "bolt"}}]}
    manager = Principal(id="max", roles=frozenset({"manager"}))
    laid: dict[str, Any] = {"hitlTier": "high", "approverRoles": ["manager"]}
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        for kernel in ({"hitlTier": "high"}, laid):
            await condor.kernels.put("stock.set", kernel, principal=ADMIN)
        if when == "while it runs":
            await _remove(tmp_path, condition)
            await condor.kernels.load()
            assert [one["isShut"] for one in await condor.kernels.all()] == [True]
    await _remove(tmp_path, condition)
    for _ in range(2):
        async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
            run = await condor.start(plan=plan, autonomy="autonomous", principal=ANN)
            parked: Any = await condor.wait(run.id)
            card = parked["suspensions"][0]["suspendId"]
            with pytest.raises(NotAnApprover):
                await condor.resume(run.id, card, {"approved": True}, principal=manager)
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        told = await condor.kernels.put("stock.set", laid, principal=ADMIN)
        assert (told["isShut"], told["kernel"]) == (False, {**laid, "requesterExcluded": False})


async def test_what_was_seen_and_cannot_be_read_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A damaged file stops nothing: what is in the database holds."""
    (tmp_path / "kernels.json").write_text("[1")
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        await condor.kernels.put("stock.set", {"hitlTier": "high"}, principal=ADMIN)
    assert "cannot be read" in caplog.text
    assert json.loads((tmp_path / "kernels.json").read_text())["stock.set"][0] == 1


def test_the_check_finds_kernels_that_do_nothing_or_are_lost() -> None:
    """Of a tool that is not there: a warning; one that was tampered with: an error."""
    told: list[Any] = [
        {"tool": "gone", "isShut": False},
        {"tool": "a", "isShut": True},
        {"tool": "b", "isShut": False},
    ]
    found = lint_kernels(["a", "b"], told)
    assert [(f.tool, f.level, f.code) for f in found] == [
        ("gone", "warning", "kernel-unregistered"),
        ("a", "error", "kernel-shut"),
    ]


async def test_a_database_of_before_is_brought_forward(tmp_path: Path) -> None:
    """A home of before kernels opens with none laid."""
    with closing(sqlite3.connect(tmp_path / "condor.db", isolation_level=None)) as connection:
        migrate(connection, 0, MIGRATIONS[:4])
    async with Condor(tools=[set_stock], home=tmp_path, tend=False) as condor:
        assert await condor.kernels.all() == []
