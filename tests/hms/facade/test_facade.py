"""What other software is answered: resources, versions, pages, and refusals in FHIR's own form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import condor_hms.facade
from condor import Principal
from condor_hms.fhir.errors import Gone, RequestRefused, Unavailable
from condor_hms.fhir.structure import structure_issues
from tests.hms.facade.conftest import BASE, DOCTOR
from tests.hms.fhir.support import CELECOXIB, MELISSA, bundle, changed, flag, post, put

if TYPE_CHECKING:
    from tests.hms.facade.conftest import Asker

STRICT = {"prefer": "handling=strict"}
MELISSA_ID = MELISSA.partition("/")[2]


async def test_a_resource_and_its_versions(own: Asker) -> None:
    """read, vread and history are what the store holds; ETag and Last-Modified say which version it is."""
    for status in ("on-hold", "active"):
        resource, version = await changed(own.store, CELECOXIB, status=status)
        await own.store.transact(bundle(put(resource, version)))
    now = await own.get(CELECOXIB)
    assert (now.status, now.body) == (200, await own.store.read(CELECOXIB))
    assert now.headers["etag"] == 'W/"3"'
    assert now.headers["last-modified"].endswith(" GMT")
    before = await own.get(f"{CELECOXIB}/_history/2")
    assert (before.body["status"], before.headers["etag"]) == ("on-hold", 'W/"2"')
    history = (await own.get(f"{CELECOXIB}/_history")).body
    assert structure_issues(history) == []
    assert [entry["resource"]["meta"]["versionId"] for entry in history["entry"]] == ["3", "2", "1"]
    assert [entry["request"] for entry in history["entry"]] == [
        {"method": "PUT", "url": CELECOXIB},
        {"method": "PUT", "url": CELECOXIB},
        {"method": "POST", "url": "MedicationRequest"},
    ]
    since = history["entry"][1]["response"]["lastModified"]
    assert (await own.get(f"{CELECOXIB}/_history?_since={since}")).body["total"] == 2
    page = await own.get(f"{CELECOXIB}/_history?_count=2")
    rest = await own.get(str(page.link("next")))
    assert [entry["response"]["status"] for entry in rest.body["entry"]] == ["201"]
    assert rest.link("next") is None


async def test_who_has_it_already_is_sent_nothing(shared: Asker) -> None:
    """If-None-Match and If-Modified-Since, and neither where the version is another one."""
    first = await shared.get(MELISSA)
    tag, moment = first.headers["etag"], first.headers["last-modified"]
    marks = (tag, f'W/"x", {tag}', "*", " * ")
    for name, known in (*(("none-match", mark) for mark in marks), ("modified-since", moment)):
        again = await shared.get(MELISSA, headers={f"if-{name}": known})
        assert (again.status, again.body, again.headers["etag"]) == (304, None, tag)
    other = (
        ("none-match", 'W/"7"'),
        # An asterisk inside a mark is a part of it.
        ("none-match", 'W/"7*"'),
        ("none-match", '"*"'),
        ("none-match", 'W/"7", *'),
        ("modified-since", "Mon, 01 Jan 2001 00:00:00 GMT"),
        # What is no date asks for nothing.
        ("modified-since", "yesterday"),
    )
    for name, unknown in other:
        assert (await shared.get(MELISSA, headers={f"if-{name}": unknown})).status == 200


async def test_a_search_gives_what_the_store_finds(shared: Asker) -> None:
    """In its order, all of it over the pages, each entry once, and the links say what was asked."""
    wanted = await shared.store.search("Observation", {"patient": MELISSA, "_sort": "-date"})
    told = await shared.get(f"Observation?patient={MELISSA}&_sort=-date&_count=20")
    assert told.body["total"] == len(wanted) > 60
    assert structure_issues(told.body) == []
    assert told.link("self") == f"{BASE}/Observation?patient={MELISSA}&_sort=-date&_count=20"
    assert told.body["entry"][0]["fullUrl"] == f"{BASE}/Observation/{told.ids[0]}"
    ids, pages = list(told.ids), 1
    while following := told.link("next"):
        told = await shared.get(following)
        ids += told.ids
        pages += 1
    assert ids == [row["id"] for row in wanted]
    assert pages == -(-len(wanted) // 20)


async def test_the_last_page_has_no_next_link_however_the_pages_fit(shared: Asker) -> None:
    """One entry less, exactly, one more than a page; and a count alone."""
    total = (await shared.get("Patient?_count=0")).body
    assert (total["total"], "entry" in total, [link["relation"] for link in total["link"]]) == (
        12,
        False,
        ["self"],
    )
    for size, following in ((11, True), (12, False), (13, False), (500, False)):
        assert ((await shared.get(f"Patient?_count={size}")).link("next") is not None) == following
    # More than a page holds is cut to a page.
    most = await shared.get("Observation?_count=9999")
    assert (len(most.ids), "_count=500" in str(most.link("self"))) == (500, True)


async def test_what_is_written_between_two_pages_makes_no_entry_come_twice(own: Asker) -> None:
    """A newer one in front moves nothing; a page whose last entry matches no more is gone, and says so."""
    pages = await own.get("Flag?_sort=-date&_count=1")
    for number in range(3):
        await own.store.transact(bundle(post(flag(period={"start": f"2026-11-2{number}"}), f"k{number}")))
    pages = await own.get("Flag?_sort=-date&_count=2")
    newer = flag(period={"start": "2026-11-29"})
    await own.store.transact(bundle(post(newer, "newer")))
    rest = await own.get(str(pages.link("next")))
    assert not set(pages.ids) & set(rest.ids)
    assert len(set(pages.ids) | set(rest.ids)) == 4
    cut = await own.get("Flag?status=active&_count=1")
    resource, version = await changed(own.store, f"Flag/{cut.ids[0]}", status="inactive")
    await own.store.transact(bundle(put(resource, version)))
    assert (await own.get(str(cut.link("next")))).issue[:2] == (410, "deleted")


@pytest.mark.parametrize(
    "asked",
    [
        f"patient={MELISSA}",
        f"patient={MELISSA_ID}",
        f"patient={BASE}/{MELISSA}",
        f"subject={MELISSA}",
    ],
)
async def test_a_reference_in_each_form_of_r4(shared: Asker, asked: str) -> None:
    """Bare where the type is certain, relative, absolute on this server: one question."""
    told = await shared.get(f"MedicationRequest?{asked}&_count=0")
    wanted = await shared.store.search("MedicationRequest", {"patient": MELISSA})
    assert told.body["total"] == len(wanted) > 0


async def test_a_bare_id_that_could_be_of_any_type_is_refused(shared: Asker) -> None:
    """Nothing is guessed."""
    status, code, said = (await shared.get("MedicationRequest?subject=" + MELISSA_ID)).issue
    assert (status, code) == (400, "invalid")
    assert "give Type/id" in said


async def test_what_is_not_known_is_left_out_and_told_or_refused(shared: Asker) -> None:
    """Lenient: the self link and an outcome tell it. Strict: 400 that names it and what there is."""
    address = "Patient?name=smith&favourite-colour=blue&_include=Patient:link"
    told = await shared.get(address)
    assert told.link("self") == f"{BASE}/Patient?name=smith&_count=50"
    assert (told.body["total"], len(told.ids)) == (1, 1)
    warning = told.body["entry"][-1]
    assert warning["search"] == {"mode": "outcome"}
    assert "'favourite-colour', '_include'" in warning["resource"]["issue"][0]["diagnostics"]
    assert structure_issues(told.body) == []
    for prefer in ("handling=strict", 'return=minimal, handling="strict"', "HANDLING=strict; x=1"):
        status, code, said = (await shared.get(address, headers={"prefer": prefer})).issue
        assert (status, code) == (400, "not-supported")
        assert "'favourite-colour', '_include'" in said
        assert "birthdate" in said
    assert (await shared.get(address, headers={"prefer": "handling=lenient"})).status == 200
    # Without a value a parameter asks nothing.
    assert (await shared.get("Patient?name=")).body["total"] == 12
    assert (await shared.get("Patient?name=", headers=STRICT)).status == 400


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("name:exact=Smith", "takes no modifier"),
        ("_has:Observation:patient:code=1234-5", "is a modifier that is not served"),
        ("nickname:exact=Mel", "is a modifier that is not served"),
        ("_include:iterate=Patient:link", "is a modifier that is not served"),
        ("link.other.name=Smith", "is a chain that is not served"),
        ("code:not=x", ""),
        ("birthdate=tomorrow", "is not a date"),
        ("birthdate=sa2020-01-01", "is not a date"),
        ("_sort=name", "cannot sort by"),
        ("_sort=birthdate,name", "cannot sort by"),
        ("_count=many", "_count is a whole number"),
        ("_count=-1", "_count is a whole number"),
        ("_page=1", "follow the link as it is"),
        ("_page=1.a/b", "follow the link as it is"),
        ("_id=a/b", "is not an id"),
        ("&".join(["name=a"] * 201), "more than 200 parameters"),
        ("name=" + ",".join("a" * 60), ""),
    ],
)
async def test_a_search_that_cannot_be_understood_is_refused(shared: Asker, query: str, said: str) -> None:
    """Strict or not: read in another way it would ask something else."""
    told = await shared.get(f"Patient?{query}")
    if said:
        assert told.issue[0] == 400
        assert said in told.issue[2]
    assert told.status in (200, 400)


async def test_a_posted_search_is_the_same_search(shared: Asker) -> None:
    """By POST names and numbers stand in no log of addresses; any other body is refused, never left out."""
    by_get = await shared.get("Patient?name=smith&birthdate=1979")
    by_post = await shared.get("Patient/_search", method="POST", form="name=smith&birthdate=1979")
    both = await shared.get("Patient/_search?name=smith", method="POST", form="birthdate=1979")
    assert by_get.body == by_post.body == both.body
    assert by_get.body["total"] == 1
    for kind in ("application/json", ""):
        told = await shared.get(
            "Patient/_search", method="POST", form="name=smith", headers={"content-type": kind}
        )
        assert told.issue[:2] == (415, "not-supported")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get"])
@pytest.mark.parametrize(
    "address", ["", "Patient", MELISSA, f"{MELISSA}/_history/1", "metadata", "nothing/x"]
)
async def test_nothing_is_written(shared: Asker, method: str, address: str) -> None:
    """405, with what is allowed, whatever the address."""
    told = await shared.get(address, method=method)
    assert told.issue[:2] == (405, "not-supported")
    assert told.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("Patient/nobody", 404, "not-found"),
        ("Patient/nobody/_history", 404, "not-found"),
        (f"{MELISSA}/_history/99", 404, "not-found"),
        (f"{MELISSA}/_history/x", 404, "not-found"),
        (f"{MELISSA}/_history/1/2", 404, "not-supported"),
        (f"{MELISSA}/$everything", 404, "not-supported"),
        ("Patient/_history", 404, "not-supported"),
        ("Patient/a b", 404, "not-supported"),
        ("Basic", 404, "not-supported"),
        ("Basic/x", 404, "not-supported"),
        ("patient", 404, "not-supported"),
        ("", 404, "not-supported"),
        ("_search", 404, "not-supported"),
        ("metadata/x", 404, "not-supported"),
        ("Patient//x", 404, "not-supported"),
        ("../Patient", 404, "not-supported"),
        ("\ud800", 404, "not-supported"),
    ],
)
async def test_what_is_not_there(shared: Asker, address: str, status: int, code: str) -> None:
    """Each as an OperationOutcome of R4."""
    told = await shared.get(address)
    assert told.issue[:2] == (status, code)
    assert structure_issues(told.body) == []


@pytest.mark.parametrize(
    ("accept", "given_format", "status"),
    [
        ("", "", 200),
        ("*/*", "", 200),
        ("application/fhir+json", "", 200),
        ("application/fhir+json; fhirVersion=4.0", "", 200),
        ("text/html, application/xml;q=0.9, */*;q=0.8", "", 200),
        ("application/json;q=x", "", 200),
        ("application/fhir+json; fhirVersion=3.0", "", 406),
        ("application/fhir+xml", "", 406),
        ("application/fhir+json;q=0", "", 406),
        ("text/turtle", "json", 200),
        ("text/turtle", "application/fhir%2Bjson", 200),
        ("text/turtle", "application/fhir+json", 200),
        ("application/fhir+json", "xml", 406),
        ("", "application/fhir+xml", 406),
    ],
)
async def test_json_alone(shared: Asker, accept: str, given_format: str, status: int) -> None:
    """By header or by ``_format``, which counts more."""
    for address in (MELISSA, "Patient?name=smith", "metadata"):
        mark = "&" if "?" in address else "?"
        asked = f"{address}{mark}_format={given_format}" if given_format else address
        assert (await shared.get(asked, headers={"accept": accept})).status == status


async def test_for_people_to_look_at(shared: Asker) -> None:
    """`_pretty` breaks lines, and asks nothing."""
    assert (await shared.get("Patient?name=smith&_pretty=true", headers=STRICT)).body["total"] == 1


async def test_a_slash_at_the_end(shared: Asker) -> None:
    """Is none."""
    assert (await shared.get("Patient/?name=smith")).body["total"] == 1


class Broken:
    """A store that cannot answer."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def read(self, *_: Any) -> Any:
        """Raise."""
        raise self.error

    vread = search = history = read


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Unavailable("/srv/secret/fhir.db: disk I/O error"), 503, "transient"),
        (Gone(MELISSA), 410, "deleted"),
        (RequestRefused("Patient?", "more than 10000 matches: narrow the search"), 400, "too-costly"),
    ],
)
async def test_a_store_that_does_not_answer(shared: Asker, error: Exception, status: int, code: str) -> None:
    """It is said, and not why: a reason may hold a path."""
    broken = type(shared)(Broken(error))  # type: ignore[arg-type]
    for address in (MELISSA, f"{MELISSA}/_history/1", f"{MELISSA}/_history", "Patient?name=x"):
        told = await broken.get(address)
        assert told.issue[:2] == (status, code)
        assert "secret" not in told.issue[2]


async def test_who_reads_what(shared: Asker) -> None:
    """By role, before anything is looked up; a program by the roles of its token; without a role nothing."""
    billing = Principal(id="bill-novak", roles=frozenset({"billing"}))
    auditor = Principal(id="audit-reyes", roles=frozenset({"auditor"}))
    program = Principal(id="program:feed", kind="program", roles=frozenset({"nurse"}))
    for who, may, may_not in (
        (DOCTOR, "Observation", "Provenance"),
        (billing, "Invoice", "Observation"),
        (auditor, "AuditEvent", "Patient"),
        (program, "Observation", "Invoice"),
    ):
        assert (await shared.get(f"{may}?_count=1", who=who)).status == 200
        for address in (may_not, f"{may_not}/x", f"{may_not}/x/_history"):
            assert (await shared.get(address, who=who)).issue[:2] == (403, "forbidden")
    nobody = Principal(id="program:none", kind="program")
    assert (await shared.get(MELISSA, who=nobody)).issue[:2] == (403, "forbidden")


def test_it_has_no_way_to_a_write() -> None:
    """Its code knows of none: neither the store's writing verb nor a verb of a run."""
    modules = sorted(Path(condor_hms.facade.__file__).parent.glob("*.py"))
    assert len(modules) > 5
    for module in modules:
        text = module.read_text(encoding="utf-8")
        assert [word for word in ("transact", ".load(", "condor.bootstrap", "Hospital") if word in text] == []
