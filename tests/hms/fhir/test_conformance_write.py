"""What any `FhirStore` does when it is written to: a Bundle whole, or nothing of it."""

from typing import Any

import pytest

from condor_hms.fhir.port import (
    DuplicateMatch,
    FhirStore,
    NotFound,
    RequestRefused,
    Resource,
    ValidationRefused,
    VersionConflict,
)
from tests.hms.fhir.support import (
    CELECOXIB,
    FALLS,
    HELEN,
    IDEM,
    JOHN,
    WHEAT,
    allergy,
    bundle,
    changed,
    everything,
    flag,
    order,
    post,
    post_tagged,
    provenance,
    put,
)

URN = "urn:uuid:90fc6c64-3b01-5865-ba47-0f940e790959"


async def test_a_create_gets_an_id_a_version_and_its_provenance(store: FhirStore) -> None:
    """References between entries are resolved; the outcome quotes reference and version."""
    result = await store.transact(
        bundle(post(allergy(), "k1", full_url=URN), post_tagged(provenance(URN), "k1"))
    )
    created, witness = result.outcomes
    assert (created.status, witness.status) == ("created", "created")
    stored = await store.read(created.reference)
    assert stored["meta"]["versionId"] == created.version
    assert stored["code"] == {"text": "Ibuprofen"}
    assert (await store.read(witness.reference))["target"] == [{"reference": created.reference}]
    found = await store.search("Provenance", {"target": created.reference})
    assert [f"Provenance/{item['id']}" for item in found] == [witness.reference]
    assert (await store.search("AllergyIntolerance", {"patient": JOHN}))[-1] == stored


async def test_the_same_write_again_changes_nothing(store: FhirStore) -> None:
    """A repeated conditional create answers with what the first one made."""
    write = bundle(post(allergy(), "k1", full_url=URN), post_tagged(provenance(URN), "k1"))
    first = await store.transact(write)
    before = await everything(store)
    again = await store.transact(write)
    assert [item.status for item in again.outcomes] == ["unchanged", "unchanged"]
    assert [item.reference for item in again.outcomes] == [item.reference for item in first.outcomes]
    assert [item.version for item in again.outcomes] == [item.version for item in first.outcomes]
    assert await everything(store) == before


async def test_an_update_makes_the_next_version_and_keeps_its_tag(store: FhirStore) -> None:
    """The tag tells who wrote this version; it does not stay on a later one by itself."""
    resource, version = await changed(store, CELECOXIB, status="on-hold")
    tag = {"system": IDEM, "code": "run-7:hold"}
    result = await store.transact(bundle(put(resource | {"meta": {"tag": [tag]}}, version)))
    held = await store.read(CELECOXIB)
    assert result.outcomes[0].status == "updated"
    assert result.outcomes[0].version == held["meta"]["versionId"] != version
    assert held["meta"]["tag"] == [tag]
    assert [
        item["id"] for item in await store.search("MedicationRequest", {"_tag": f"{IDEM}|run-7:hold"})
    ] == [held["id"]]
    assert await store.search("MedicationRequest", {"subject": JOHN, "status": "on-hold"}) == [held]
    resource, version = await changed(store, CELECOXIB, status="active")
    await store.transact(bundle(put(resource, version)))
    assert "tag" not in (await store.read(CELECOXIB))["meta"]
    assert await store.search("MedicationRequest", {"_tag": f"{IDEM}|run-7:hold"}) == []


async def test_a_stale_update_is_refused_with_both_versions(store: FhirStore) -> None:
    """Whoever saw an older version must look again; the other entries are not applied either."""
    stale, version = await changed(store, CELECOXIB, status="stopped")
    newer, _ = await changed(store, CELECOXIB, status="on-hold")
    await store.transact(bundle(put(newer, version)))
    before = await everything(store)
    with pytest.raises(VersionConflict) as refused:
        await store.transact(bundle(post(allergy(), "k1"), put(stale, version)))
    assert refused.value.reference == CELECOXIB
    assert (refused.value.expected, refused.value.current) == (version, before[CELECOXIB])
    assert await everything(store) == before


async def test_an_update_says_what_it_was_made_from(store: FhirStore) -> None:
    """A PUT without a version would overwrite what somebody else wrote."""
    resource, _ = await changed(store, FALLS, status="inactive")
    with pytest.raises(RequestRefused, match=r"Flag/flag-9001 exists: say which version"):
        await store.transact(bundle(put(resource, None)))
    with pytest.raises(NotFound):
        await store.transact(bundle(put(flag(id="flag-none"), "1")))


async def test_an_ambiguous_condition_is_refused(store: FhirStore) -> None:
    """Two resources with one identifier: nobody can say which is meant."""
    for _ in range(2):
        await store.transact(bundle(post(allergy(identifier=[{"system": "urn:test", "value": "twice"}]))))
    before = await everything(store)
    third = post(allergy())
    third["request"]["ifNoneExist"] = "identifier=urn:test|twice"
    with pytest.raises(DuplicateMatch, match="matches 2 resources") as refused:
        await store.transact(bundle(third))
    assert len(refused.value.matches) == 2
    assert await everything(store) == before


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_one_bad_entry_stops_the_whole_bundle(store: FhirStore, place: int) -> None:
    """Wherever the bad entry stands, nothing is applied, and the refusal says which entry it was."""
    resource, version = await changed(store, CELECOXIB, status="stopped")
    entries = [post(allergy(), "k1"), put(resource, version)]
    entries.insert(place, post(flag(status="bogus")))
    before = await everything(store)
    with pytest.raises(ValidationRefused) as refused:
        await store.transact(bundle(*entries))
    assert [(issue.entry, issue.path) for issue in refused.value.issues] == [(place, "Flag.status")]
    assert await everything(store) == before


def _entry(method: str, url: str, resource: Resource | None = None, **request: str) -> Resource:
    entry: dict[str, Any] = {"request": {"method": method, "url": url, **request}}
    return entry if resource is None else entry | {"resource": resource}


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (bundle(_entry("DELETE", CELECOXIB)), "removal is a state"),
        (bundle(_entry("PATCH", CELECOXIB, order())), "give POST or PUT"),
        (bundle(_entry("GET", CELECOXIB, order())), "give POST or PUT"),
        (bundle(_entry("POST", "Flag", order())), "POST goes to 'MedicationRequest'"),
        (bundle(_entry("POST", "Flag", flag(), ifMatch='W/"1"')), "use PUT"),
        (bundle(_entry("POST", "Flag", flag(), ifNoneExist="colour=red")), "unknown search parameter"),
        (bundle(_entry("POST", "Flag", flag(), ifNoneExist="")), "is no condition"),
        (
            bundle(_entry("POST", "Flag", flag(), ifNoneMatch="*")),
            "ifNoneMatch: this store does not understand",
        ),
        (bundle(_entry("PUT", "flag-9001", flag(id="flag-9001"))), "give Type/id"),
        (bundle(_entry("PUT", "Flag/flag-9001", flag(id="other"))), r"resource\.id: it must be 'flag-9001'"),
        (bundle(_entry("PUT", "Flag/flag-9001", flag())), r"resource\.id: it must be 'flag-9001'"),
        (bundle(_entry("PUT", "Flag/flag-9001", order(id="flag-9001"))), "it must be Flag"),
        (bundle(_entry("PUT", "Flag/flag-9001", flag(id="flag-9001"), ifMatch="1")), "as W/"),
        (bundle(_entry("PUT", "Flag/flag-9001", flag(id="flag-9001"), ifNoneExist="_id=x")), "use ifMatch"),
        (bundle(_entry("POST", "Flag")), "carries a resource"),
        (bundle({"resource": flag()}), "give request.method"),
        (bundle(), "give 1 to 200 entries"),
        (bundle(*[post(flag()) for _ in range(201)]), "give 1 to 200 entries"),
        ({"resourceType": "Bundle", "type": "batch", "entry": [post(flag())]}, "applied whole or not at all"),
        (bundle(post(flag(), "k"), post(flag(), "k")), "same ifNoneExist as entry 0"),
        (bundle(put(flag(id="a"), "1"), put(flag(id="a"), "1")), "same resource as entry 0"),
        (bundle(post(flag(), full_url=URN), post(flag(), full_url=URN)), "same fullUrl as entry 0"),
    ],
)
async def test_a_request_that_is_not_understood_is_refused(
    store: FhirStore, write: Resource, said: str
) -> None:
    """The refusal says where in the request and what to do; nothing is applied."""
    before = await everything(store)
    with pytest.raises(RequestRefused, match=said):
        await store.transact(write)
    assert await everything(store) == before


async def test_removal_is_a_state(store: FhirStore) -> None:
    """A removed allergy is still there, entered in error; who looks for active ones does not find it."""
    resource, version = await changed(
        store,
        WHEAT,
        clinicalStatus=None,
        verificationStatus={
            "coding": [
                {
                    "system": "http://terminology.hl7.org/CodeSystem/allergyintolerance-verification",
                    "code": "entered-in-error",
                }
            ]
        },
    )
    await store.transact(bundle(put(resource, version)))
    active = await store.search("AllergyIntolerance", {"patient": JOHN, "clinical-status": "active"})
    assert WHEAT.partition("/")[2] not in {item["id"] for item in active}
    assert len(await store.history(WHEAT)) == 2


async def test_a_new_flag_is_found_beside_the_old_one(store: FhirStore) -> None:
    """A write is seen by the next search, in the order of writing."""
    await store.transact(bundle(post(flag(code={"text": "Wandering"}), "k1")))
    found = await store.search("Flag", {"subject": HELEN, "status": "active"})
    assert [item["code"]["text"] for item in found] == ["Falls risk", "Wandering"]
