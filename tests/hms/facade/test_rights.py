"""Nobody reads through the facade what no reading tool gives their role."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING, Any

import pytest

from condor import PolicyClass, Principal
from condor_hms.alerts import demo_rules
from condor_hms.breakglass import break_glass_tools
from condor_hms.catalogue import Hospital
from condor_hms.facade.access import DIRECTORY, READERS, REVIEWERS, TASK_READERS, WHOLE_RECORD
from tests.hms.catalogue.desk import CASTILLO, NICHOLAS, Desk
from tests.hms.catalogue.test_every_read import SAID
from tests.hms.facade.conftest import DOCTOR
from tests.hms.fhir.support import bundle, changed, post, put

if TYPE_CHECKING:
    from tests.hms.facade.conftest import Asker

REVIEW = "Task, review"
#: Read by a tool to look after its version only, or found beside what it looked for; never shown.
NEVER_SHOWN = {("audit.trail", "MedicationRequest"), ("order.status", REVIEW)}
#: It opens what a role does not open, once and on record: no right, here or elsewhere, comes of it.
EMERGENCY = "patient.breakglass"
NURSE, ADMIN, AUDITOR = (
    Principal(id=role, roles=frozenset({role})) for role in ("nurse", "admin", "auditor")
)
WHY = "unconscious in the ED, no history to be had"
ORDER_TASK = {
    "resourceType": "Task",
    "status": "requested",
    "intent": "order",
    "description": "Lactate of Nicholas Bell",
    "for": {"reference": NICHOLAS},
}


class Noting:
    """A store that notes what types are read; reviews of emergency reads are a type of their own."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.types: set[str] = set()
        self.review_ids: set[str] = set()

    async def read(self, reference: str) -> Any:
        """As the store, noted."""
        self.types.add(reference.partition("/")[0])
        return await self.store.read(reference)

    async def search(self, resource_type: str, params: Any) -> Any:
        """As the store, noted; of Tasks each kind that is found."""
        rows = await self.store.search(resource_type, params)
        if resource_type != "Task":
            self.types.add(resource_type)
        for row in rows if resource_type == "Task" else ():
            is_review = "breakglass-review" in json.dumps(row.get("code", {}))
            self.types.add(REVIEW if is_review else "Task")
            self.review_ids.update({row["id"]} if is_review else ())
        return rows

    async def history(self, reference: str) -> Any:
        """As the store, noted."""
        self.types.add(reference.partition("/")[0])
        return await self.store.history(reference)

    async def versions(self, references: Any) -> Any:
        """As the store."""
        return await self.store.versions(references)


def house(store: Any) -> Desk:
    """Every tool of the hospital, those of emergency reads among them."""
    desk = Desk(Hospital(fhir=store, rules=demo_rules(), today=datetime.date(2026, 11, 30)))
    desk.tools |= {tool.name: tool for tool in break_glass_tools(desk.hospital)}
    return desk


async def reviewed_and_ordered(asker: Asker) -> tuple[str, str]:
    """`Task/id` of the review of an emergency read of Nicholas, and of another Task for him."""
    desk = house(asker.store)
    read = await desk.call(EMERGENCY, {"patient": NICHOLAS, "reason": WHY}, principal=CASTILLO)
    await asker.store.transact(bundle(post(ORDER_TASK, "order")))
    (order,) = [row for row in await asker.store.search("Task", {"patient": NICHOLAS}) if "code" not in row]
    return read["review"], f"Task/{order['id']}"


async def test_the_table_is_that_of_the_reading_tools(own: Asker) -> None:
    """Every reading tool runs; who may call one that reads a type reads it here, and nobody else does."""
    await reviewed_and_ordered(own)
    noting = Noting(own.store)
    desk = house(noting)
    reading = {name for name, tool in desk.tools.items() if tool.policy_class is PolicyClass.READ}
    rows: list[tuple[str, dict[str, Any]]] = [
        *((tool, args) for tool, args, _ in SAID),
        ("breakglass.list", {}),
    ]
    assert {tool for tool, _ in rows} == reading - {EMERGENCY}
    given: dict[str, set[str]] = {"Binary": set(desk.tools["document.read"].roles)}
    for tool, args in rows:
        noting.types = set()
        value = await desk.call(tool, args, idempotency_key="")
        for resource_type in noting.types:
            if (tool, resource_type) not in NEVER_SHOWN:
                given.setdefault(resource_type, set()).update(desk.tools[tool].roles)
            elif resource_type == REVIEW:
                assert noting.review_ids
                assert not [own_id for own_id in noting.review_ids if own_id in json.dumps(value)]
    assert (set(REVIEWERS), set(TASK_READERS)) == (given.pop(REVIEW), given["Task"])
    given["Task"] |= REVIEWERS
    found = given.keys() - DIRECTORY
    assert {name: set(READERS[name]) for name in sorted(found)} == {
        name: given[name] for name in sorted(found)
    }
    whole = set(desk.tools["patient.everything"].roles)
    assert {name: set(READERS[name]) for name in sorted(WHOLE_RECORD)} == dict.fromkeys(
        sorted(WHOLE_RECORD), whole
    )
    assert READERS.keys() == found | WHOLE_RECORD | DIRECTORY
    patients = given["Patient"]
    assert all(READERS[name] == patients for name in DIRECTORY)


@pytest.mark.parametrize(
    ("who", "kinds"),
    [
        (NURSE, {"order"}),
        (DOCTOR, {"order"}),
        (ADMIN, {"order", "review"}),
        (AUDITOR, {"review"}),
        (Principal(id="both", roles=frozenset({"nurse", "auditor"})), {"order", "review"}),
    ],
    ids=lambda given: given.id if isinstance(given, Principal) else "",
)
async def test_a_review_is_there_for_who_reviews(own: Asker, who: Principal, kinds: set[str]) -> None:
    """By id, in each version, in searches and in totals; for others it is as if there were none."""
    review, order = await reviewed_and_ordered(own)
    references = {"review": review, "order": order}
    for kind, reference in references.items():
        for address in (reference, f"{reference}/_history", f"{reference}/_history/1"):
            told = await own.get(address, who=who)
            if kind in kinds:
                assert told.status == 200, address
                continue
            absent = address.replace(reference, "Task/none")
            unknown = await own.get(absent, who=who)
            assert told.issue == (
                unknown.issue[0],
                unknown.issue[1],
                unknown.issue[2].replace("Task/none", reference),
            )
            assert told.headers == unknown.headers
            assert (await own.get(address, who=who, headers={"if-none-match": "*"})).status == 404
    there = {references[kind].partition("/")[2] for kind in kinds}
    for query in (
        f"patient={NICHOLAS}",
        f"subject={NICHOLAS}&status=requested",
        f"_id={','.join(r[5:] for r in references.values())}",
    ):
        told = await own.get(f"Task?{query}", who=who)
        assert (set(told.ids), told.body["total"]) == (there, len(there)), query
        assert (await own.get(f"Task?{query}&_count=0", who=who)).body["total"] == len(there)
        assert (await own.get("Task/_search", who=who, method="POST", form=query)).body["total"] == len(there)
    reviews = await own.get("Task?code=urn:condor:task|breakglass-review", who=who)
    assert reviews.body["total"] == int("review" in kinds)


async def test_no_version_of_a_review_is_seen_whatever_the_others_are(own: Asker) -> None:
    """A review that lost its code keeps its earlier versions to itself; the total counts what is seen."""
    review, _ = await reviewed_and_ordered(own)
    resource, version = await changed(own.store, review, code={"text": "Something else"})
    await own.store.transact(bundle(put(resource, version)))
    for who, seen in ((NURSE, ["2"]), (AUDITOR, ["1"]), (ADMIN, ["2", "1"])):
        told = await own.get(f"{review}/_history", who=who)
        assert [entry["resource"]["meta"]["versionId"] for entry in told.body["entry"]] == seen
        assert told.body["total"] == len(seen)
        for number in ("1", "2"):
            status = (await own.get(f"{review}/_history/{number}", who=who)).status
            assert status == (200 if number in seen else 404)
