"""Kernels over HTTP: shapes, conflicts and what a kernel does to a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.processors import PROCESSOR_CATALOG

if TYPE_CHECKING:
    from tests.server.support import House

REFUND = "/api/admin/tool-kernels/shop.refund"


async def test_a_kernel_is_laid_told_and_replaced(house: House) -> None:
    """PUT answers with what holds now; the revision that it replaces can be named."""
    admin = await house.signed_in("admin")
    assert (await admin.get(REFUND)).json()["rev"] == 0
    laid = await admin.put(REFUND, json={"requesterExcluded": True, "reason": "four eyes", "rev": 0})
    assert laid.status_code == 200
    assert laid.json()["kernel"] == {"hitlTier": None, "approverRoles": None, "requesterExcluded": True}
    moved = await admin.put(REFUND, json={"rev": 0})
    assert (moved.status_code, moved.json()["code"]) == (409, "kernel_moved")
    [told] = (await admin.get("/api/admin/tool-kernels")).json()
    assert told["revisions"][0]["reason"] == "four eyes"
    refund = next(t for t in (await admin.get("/api/tools")).json() if t["name"] == "shop.refund")
    assert refund["requesterExcluded"] is True


async def test_what_loosens_or_has_no_shape_is_refused(house: House) -> None:
    """422 with a stable code; nothing is stored."""
    admin = await house.signed_in("admin")
    for body, code in (
        ({"hitlTier": "low"}, "kernel_loosens"),
        ({"approverRoles": ["nobody-has-this"]}, "kernel_loosens"),
        ({"policyClass": "read"}, "invalid_input"),
        ({"requesterExcluded": 1}, "invalid_input"),
    ):
        refused = await admin.put(REFUND, json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert (await admin.get(REFUND)).json()["revisions"] == []
    assert (await admin.put("/api/admin/tool-kernels/no.such", json={})).status_code == 404


async def test_the_catalog_is_told_with_its_schemas(house: House) -> None:
    """Eight entries, each with what it does not do."""
    auditor = await house.signed_in("audit")
    told = (await auditor.get("/api/admin/processor-kernels")).json()
    assert [entry["id"] for entry in told] == [entry.id for entry in PROCESSOR_CATALOG]
    assert all(entry["configurationSchema"]["properties"] and entry["limits"] for entry in told)


async def test_passed_over_faults_are_counted(house: House) -> None:
    """``/metrics`` has what processors threw."""
    house.condor.counts("post_tool.output-bounding")
    client = await house.signed_in("ann")
    assert 'condor_passed_over{what="post_tool.output-bounding"} 1.0' in (await client.get("/metrics")).text
