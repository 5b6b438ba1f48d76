"""Kernels over HTTP: shapes, conflicts and what a kernel does to a call."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from condor.processors import PROCESSOR_CATALOG
from condor.processors.wiring import read_configuration

if TYPE_CHECKING:
    from tests.server.support import House

REFUND = "/api/admin/tool-kernels/shop.refund"
PROCESSORS = "/api/admin/processor-kernels"


async def test_a_kernel_is_laid_told_and_replaced(house: House) -> None:
    """PUT answers with what holds now; the revision that it replaces can be named."""
    admin = await house.signed_in("admin")
    assert (await admin.get(REFUND)).json()["rev"] == 0
    laid = await admin.put(REFUND, json={"requesterExcluded": True, "reason": "four eyes", "rev": 0})
    assert laid.status_code == 200
    assert laid.json()["kernel"] == {"hitlTier": None, "approverRoles": None, "requesterExcluded": True}
    moved = await admin.put(REFUND, json={"requesterExcluded": True, "rev": 0})
    assert (moved.status_code, moved.json()["code"]) == (409, "kernel_moved")
    for body, code in (
        ({}, "invalid_input"),
        ({"requesterExcluded": True, "reason": "again"}, "invalid_input"),
        ({"rev": 1, "reason": "tidying"}, "kernel_loosens"),
        ({"rev": 1, "hitlTier": "high", "reason": "tidying"}, "kernel_loosens"),
        ({"rev": 1, "remove": True}, "kernel_loosens"),
        ({"rev": 1, "remove": True, "hitlTier": "high", "reason": "both"}, "invalid_input"),
    ):
        refused = await admin.put(REFUND, json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, code), body
    [told] = (await admin.get("/api/admin/tool-kernels")).json()
    assert told["revisions"][0]["reason"] == "four eyes"
    assert told["declared"]["requesterExcluded"] is False
    refund = next(t for t in (await admin.get("/api/tools")).json() if t["name"] == "shop.refund")
    assert refund["requesterExcluded"] is True
    off = await admin.put(REFUND, json={"rev": 1, "remove": True, "reason": "two are enough"})
    assert (off.json()["rev"], off.json()["kernel"]["requesterExcluded"]) == (2, False)


async def test_what_loosens_or_has_no_shape_is_refused(house: House) -> None:
    """422 with a stable code; nothing is stored."""
    admin = await house.signed_in("admin")
    for body, code in (
        ({"hitlTier": "low"}, "kernel_loosens"),
        ({"approverRoles": ["nobody-has-this"]}, "kernel_loosens"),
        ({"policyClass": "read"}, "invalid_input"),
        ({"requesterExcluded": 1}, "invalid_input"),
    ):
        refused = await admin.put(REFUND, json={**body, "rev": 0})
        assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert (await admin.get(REFUND)).json()["revisions"] == []
    assert (await admin.put("/api/admin/tool-kernels/no.such", json={"rev": 0})).status_code == 404


async def test_the_catalog_is_told_with_its_schemas(house: House) -> None:
    """Eight entries, each with what it does not do."""
    auditor = await house.signed_in("audit")
    told = (await auditor.get("/api/admin/processor-kernels")).json()
    assert [entry["id"] for entry in told] == [entry.id for entry in PROCESSOR_CATALOG]
    assert all(entry["configurationSchema"]["properties"] and entry["limits"] for entry in told)


async def test_the_processors_in_force_are_told(house: House) -> None:
    """What the server was started with, whole; what is off has none."""
    admin = await house.signed_in("admin")
    told = {entry["id"]: entry for entry in (await admin.get("/api/admin/processor-kernels")).json()}
    assert told["batch-parts"]["configuration"] == {"chars_min": 160, "delay_s_max": 0.25}
    assert told["moderation"]["configuration"] is None


async def test_a_processor_configuration_becomes_the_setting(house: House) -> None:
    """The setting reads back as what was given; what a server would not start with is refused, and why."""
    admin = await house.signed_in("admin")
    given = {"token-limiter": {"input_tokens_max": 900}, "moderation": {"words": ["it's"]}, "batch-parts": {}}
    said = (await admin.post(f"{PROCESSORS}/check", json={"processors": given})).json()
    assert said["input"] == ["token-limiter", "moderation"]
    assert said["output"] == ["moderation", "token-limiter", "batch-parts"]
    assert said["isInForce"] is False
    (name, _, value) = shlex.split(said["line"])[1].partition("=")
    assert (name, value) == (said["setting"], said["value"])
    assert read_configuration(value) == read_configuration(given)
    default = {"unicode-normalizer": {"form": "NFC"}, "batch-parts": {"chars_min": 160}}
    same = (await admin.post(f"{PROCESSORS}/check", json={"processors": default})).json()
    assert (same["isInForce"], same["value"]) == (True, '{"batch-parts": {}, "unicode-normalizer": {}}')
    for wrong, said_of_it in (
        ({"token-limiter": {"input_tokens_max": 0}}, "token-limiter.input_tokens_max"),
        ({"moderation": {"languages": ["klingon"]}}, "klingon"),
        ({"moderation": {"languages": ["english"] * 51}}, "moderation.languages"),
        ({"spell-checker": {}}, "is no processor"),
    ):
        refused = await admin.post(f"{PROCESSORS}/check", json={"processors": wrong})
        assert refused.status_code == 422
        assert said_of_it in refused.json()["detail"]


async def test_what_a_kernel_would_change_is_shown_and_not_laid(house: House) -> None:
    """A low write runs by itself where the requester lets it; with the tier raised it would not."""
    admin = await house.signed_in("admin")
    note = "/api/admin/tool-kernels/shop.note"
    tried = await admin.post(f"{note}/check", json={"hitlTier": "high", "approverRoles": ["manager"]})
    effects = {effect["autonomy"]: effect for effect in tried.json()["effects"]}
    assert set(effects) == {"autonomous", "guarded", "ambient"}
    assert effects["autonomous"]["now"]["ruleId"] == "mutate.low-tier-autonomous-allow"
    assert effects["autonomous"]["then"]["ruleId"] == "mutate.high-tier-always-approval"
    assert effects["guarded"]["now"]["approverRoles"] == ["clerk", "manager"]
    assert effects["guarded"]["then"]["approverRoles"] == ["manager"]
    loosens = await admin.post(f"{note}/check", json={"approverRoles": ["driver"]})
    assert (loosens.status_code, loosens.json()["code"]) == (422, "kernel_loosens")
    assert (await admin.get(note)).json()["revisions"] == []


async def test_passed_over_faults_are_counted(house: House) -> None:
    """``/metrics`` has what processors threw."""
    house.condor.counts("post_tool.output-bounding")
    client = await house.signed_in("ann")
    assert 'condor_passed_over{what="post_tool.output-bounding"} 1.0' in (await client.get("/metrics")).text
