"""The facade on Condor's own server: sign-in, roles, the server's refusals, and software of others."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from condor.core.errors import CondorError, OurBug, StoreUnavailable
from condor.ports.clock import SystemClock
from condor.server.app import create_app
from condor.server.console import PAGES
from condor.server.routes.mounts import mount_routes
from condor_hms.facade import READERS, RecordFacade
from condor_hms.fhir.search_table import params_of
from condor_hms.fhir.structure import structure_issues
from condor_hms.pack import PACK
from tests.hms.fhir.support import MELISSA
from tests.hms.fhir_server.process import what_is_missing
from tests.needs import needs
from tests.server.support import House, open_house

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from condor import Condor
    from condor.ports.mounts import MountAnswer
    from condor.server.auth import AuthSettings

pytestmark = pytest.mark.slow

CLIENT = Path(__file__).parents[1] / "fhir_server" / "client.mjs"


@pytest.fixture
async def hospital(tmp_path: Path) -> AsyncIterator[House]:
    """The demonstration hospital on a socket."""
    async with open_house(tmp_path, mode="demo", pack=PACK) as house:
        yield house


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Status and issue type of an OperationOutcome."""
    assert answer.headers["content-type"] == "application/fhir+json", answer.text
    body = answer.json()
    assert structure_issues(body) == []
    return answer.status_code, body["issue"][0]["code"]


async def test_who_asks_is_found_by_the_server(hospital: House) -> None:
    """A session or a token with the scope; each refusal is FHIR; nothing is sent that a browser may keep."""
    nobody = await hospital.client()
    assert refusal(await nobody.get("/fhir/metadata")) == (401, "login")
    assert (await nobody.get("/fhir/Patient/x")).headers["www-authenticate"] == "Bearer"
    wrong = await hospital.client(authorization="Bearer cnd_wrong")
    assert refusal(await wrong.get(f"/fhir/{MELISSA}")) == (401, "login")
    narrow = await hospital.program("narrow", roles=("doctor",))
    assert refusal(await narrow.get(f"/fhir/{MELISSA}")) == (403, "forbidden")
    feed = await hospital.program("feed", scopes=("record:read",), roles=("doctor",))
    doctor = await hospital.signed_in("dr-okafor")
    for client in (feed, doctor):
        told = await client.get(f"/fhir/{MELISSA}")
        assert (told.status_code, told.json()["id"]) == (200, MELISSA.partition("/")[2])
        assert (told.headers["cache-control"], told.headers["etag"]) == ("no-store", 'W/"1"')
    # A token for the record starts no run.
    assert (await feed.post("/api/runs", json={"request": "x"})).status_code == 403
    both = await hospital.client(authorization=feed.headers["authorization"], cookie="condor_session_1=x")
    assert (await both.get(f"/fhir/{MELISSA}")).status_code == 200
    desk = await hospital.signed_in("front-tanaka")
    assert refusal(await desk.get("/fhir/Observation")) == (403, "forbidden")
    assert (await desk.get("/fhir/Patient?name=smith")).json()["total"] == 1


async def test_what_the_server_adds(hospital: House) -> None:
    """HEAD, the links by the name it was reached by, `code` as a parameter, and what stays refused."""
    feed = await hospital.program("feed", scopes=("record:read",), roles=("doctor", "admin"))
    whole, head = await feed.get(f"/fhir/{MELISSA}"), await feed.head(f"/fhir/{MELISSA}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(whole.content))
    page = await feed.get("/fhir/Observation", params={"code": "http://loinc.org|4548-4", "_count": "1"})
    assert page.status_code == 200
    links = {link["relation"]: link["url"] for link in page.json()["link"]}
    assert links["next"].startswith(f"{hospital.url}/fhir/Observation?code=http://loinc.org|4548-4&")
    assert (await feed.get(links["next"])).status_code == 200
    # Elsewhere `code` stays a secret, and other secrets stay one here.
    for address in ("/api/runs?code=1", "/fhir/Observation?token=1", "/fhirx?code=1"):
        assert (await feed.get(address)).json()["code"] == "secret_in_url"
    port = hospital.url.rpartition(":")[2]
    by_name = await feed.get("/fhir/Patient?_count=1", headers={"host": f"localhost:{port}"})
    assert by_name.json()["link"][0]["url"].startswith(f"http://localhost:{port}/fhir/Patient?")
    other = await feed.get("/fhir/Patient", headers={"host": "evil.example"})
    assert other.json()["code"] == "unknown_host"
    posted = await feed.post("/fhir/Patient/_search", data={"name": "smith"})
    assert posted.json()["total"] == 1
    large = await feed.post("/fhir/Patient/_search", data={"name": "s" * 300_000})
    assert refusal(large) == (413, "too-long")
    foreign = await feed.post("/fhir/Patient/_search", data={"name": "x"}, headers={"origin": "https://evil"})
    assert foreign.json()["code"] == "foreign_origin"
    for method in ("POST", "PUT", "PATCH", "DELETE", "PROPFIND"):
        assert refusal(await feed.request(method, f"/fhir/{MELISSA}", json={})) == (405, "not-supported")
    assert refusal(await feed.get("/fhir")) == (404, "not-supported")
    assert refusal(await feed.get("/fhir/")) == (404, "not-supported")
    metrics = (await feed.get("/metrics")).text
    assert '"/fhir/{rest:rest}"' in metrics
    assert "pt-0612cf63eb84" not in metrics


async def test_a_read_is_logged_by_who_and_what(hospital: House, caplog: pytest.LogCaptureFixture) -> None:
    """Never by a value: what was looked for may be a name."""
    feed = await hospital.program("feed", scopes=("record:read",), roles=("doctor",))
    with caplog.at_level(logging.INFO, logger="condor.record"):
        await feed.get(f"/fhir/{MELISSA}")
        await feed.get("/fhir/Patient?name=smith&birthdate=1979-04-01")
        await feed.get("/fhir/Provenance")
    said = [record.facts for record in caplog.records if record.name == "condor.record"]  # type: ignore[attr-defined]
    assert said == [
        {"who": "program:feed", "interaction": "read", "what": MELISSA, "count": 1},
        {
            "who": "program:feed",
            "interaction": "search-type",
            "what": "Patient",
            "count": 1,
            "names": ["birthdate", "name"],
        },
    ]


async def test_a_fault_of_ours_is_told_in_its_form(hospital: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a word of it."""

    async def breaks(*_: object) -> MountAnswer:
        raise RuntimeError("SECRET-9")

    monkeypatch.setattr(RecordFacade, "answer", breaks)
    doctor = await hospital.signed_in("dr-okafor")
    told = await doctor.get(f"/fhir/{MELISSA}")
    assert refusal(told) == (500, "exception")
    assert "SECRET" not in told.text


@pytest.mark.parametrize(
    ("fault", "status"), [(OurBug("SECRET-9"), 500), (StoreUnavailable("no /srv/SECRET-9"), 503)], ids=repr
)
async def test_the_environment_s_own_words_stay_inside(
    hospital: House,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: CondorError,
    status: int,
) -> None:
    """As in the API: what names files of the server is logged and told in a word of a closed set."""

    async def breaks(*_: object) -> MountAnswer:
        raise fault

    monkeypatch.setattr(RecordFacade, "answer", breaks)
    doctor = await hospital.signed_in("dr-okafor")
    told = await doctor.get(f"/fhir/{MELISSA}")
    assert told.status_code == status
    assert "SECRET" not in told.text
    assert any(record.exc_info for record in caplog.records if record.name == "condor.server")


@pytest.mark.parametrize("path", ["fhir", "/fhir/r4", "/", "", "/FHIR"])
def test_a_pack_s_path_is_one_segment(path: str) -> None:
    """Nor one that another pack has."""
    mount = RecordFacade(None)  # type: ignore[arg-type]
    mount.path = path
    with pytest.raises(ValueError, match="no free path"):
        mount_routes([mount])
    twice = RecordFacade(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no free path"):
        mount_routes([twice, twice])


@pytest.mark.parametrize("path", sorted({f"/{page.split('/')[1]}" for page in PAGES} - {"/"} | {"/metrics"}))
def test_a_pack_takes_no_address_of_the_server(path: str) -> None:
    """Every page of the console is one, and whatever the server has routes for."""
    mount = RecordFacade(None)  # type: ignore[arg-type]
    mount.path = path
    opened = SimpleNamespace(mounts=[mount], clock=SystemClock())
    with pytest.raises(ValueError, match="no free path"):
        create_app(cast("Condor", opened), cast("AuthSettings", None))


async def test_software_that_nobody_here_wrote(hospital: House) -> None:
    """Medplum's client reads, pages and is refused, and finds every answer valid R4."""
    needs(what_is_missing())
    feed = await hospital.program("feed", scopes=("record:read",), roles=("doctor",))
    secret = feed.headers["authorization"].removeprefix("Bearer ")
    command = ["node", str(CLIENT), f"{hospital.url}/fhir", secret, MELISSA.partition("/")[2]]
    run = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, errors = await run.communicate()
    assert run.returncode == 0, errors.decode()[-2000:]
    told = json.loads(out)
    assert (told["name"], told["version"], told["history"]) == ("Smith", "1", 1)
    assert told["total"] == told["paged"] > 60
    assert told["coded"] > 1
    assert told["outcomes"] == 1
    assert told["refused"] == {
        "missing": "not-found",
        "role": "forbidden",
        "type": "not-supported",
        "value": "invalid",
        **dict.fromkeys(("create", "update", "patch", "delete"), "not-supported"),
    }
    assert told["checked"] > 80


#: What requests that nobody thought of are made of.
_WORDS = st.one_of(
    st.sampled_from(["metadata", "_search", "_history", "$everything", "", "1", "pt-0612cf63eb84", *READERS]),
    st.text(max_size=12),
)
_VALUES = st.one_of(
    st.sampled_from([MELISSA, "ge2026", "x|y", "|", ",", "-date", "50.pt-1", "json", "0", "1000"]),
    st.text(max_size=16),
)
_NAMES = st.one_of(
    st.sampled_from(
        ["_count", "_sort", "_page", "_format", "_since", "_pretty", "_id", "name:exact", "code.x"]
    ),
    st.sampled_from(sorted({name for kind in READERS for name in params_of(kind)})),
    st.text(max_size=8),
)
_ASKED = st.tuples(
    st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE"]),
    st.one_of(
        st.lists(_WORDS, max_size=5),
        st.tuples(st.sampled_from(list(READERS))),
        st.tuples(st.sampled_from(list(READERS)), _WORDS),
    ),
    st.lists(st.tuples(_NAMES, _VALUES), max_size=5),
    st.dictionaries(
        st.sampled_from(["accept", "prefer", "if-none-match", "if-modified-since", "content-type"]),
        st.one_of(
            st.sampled_from(["*/*", "handling=strict", "application/fhir+json", "x;q=", ",;=", 'W/"1"']),
            st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12),
        ),
        max_size=3,
    ),
)
#: Requests of one role; `make load` asks for more.
EXAMPLES, EXAMPLES_LOAD = 100, 3_000


async def fuzz(hospital: House, count: int) -> dict[int, int]:
    """Ask anything as everybody; what was answered, by status."""
    asked: list[Any] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(one=_ASKED)
    def make(one: Any) -> None:
        asked.append(one)

    make()
    told: dict[int, int] = {}
    feed = await hospital.program("feed", scopes=("record:read",), roles=("doctor", "auditor"))
    people = [await hospital.signed_in(who) for who in ("dr-okafor", "front-tanaka", "audit-reyes", "admin")]
    for client in (await hospital.client(), feed, *people):
        for method, words, pairs, headers in asked:
            path = "/".join(quote(word, safe="") for word in words)
            query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in pairs)
            try:
                answer = await client.request(method, f"/fhir/{path}?{query}", headers=headers)
            except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeEncodeError):
                continue
            told[answer.status_code] = told.get(answer.status_code, 0) + 1
            assert answer.status_code < 500, (method, path, query, headers, answer.text)
            if method != "HEAD" and answer.content:
                kind = answer.headers["content-type"]
                assert kind in ("application/fhir+json", "application/problem+json"), (path, kind)
                assert kind == "application/fhir+json" or answer.json()["code"] == "secret_in_url"
    return told


async def test_nothing_breaks_it(hospital: House) -> None:
    """No 5xx, and every answer is FHIR, but for what the server's own guard refuses before any route."""
    told = await fuzz(hospital, EXAMPLES)
    assert {200, 400, 401, 403, 404, 405, 406} <= told.keys(), told


@pytest.mark.load
async def test_nothing_breaks_it_for_long(hospital: House, capsys: pytest.CaptureFixture[str]) -> None:
    """Many of each."""
    told = await fuzz(hospital, EXAMPLES_LOAD)
    with capsys.disabled():
        print(f"\n{dict(sorted(told.items()))}")  # noqa: T201


async def test_it_stands_in_no_description_of_the_api(hospital: House) -> None:
    """FHIR has its own: the CapabilityStatement."""
    doctor = await hospital.signed_in("dr-okafor")
    assert not re.search(r'"/fhir', (await doctor.get("/openapi.json")).text)


async def test_what_a_read_takes(hospital: House) -> None:
    """Over the socket, with sign-in: a resource and a page of fifty, well under what a person notices."""
    feed = await hospital.program("feed", scopes=("record:read",), roles=("doctor",))
    for address, limit_s in ((f"/fhir/{MELISSA}", 0.1), (f"/fhir/Observation?patient={MELISSA}", 0.2)):
        taken = []
        for _ in range(9):
            begun = time.perf_counter()
            assert (await feed.get(address)).status_code == 200
            taken.append(time.perf_counter() - begun)
        assert sorted(taken)[4] < limit_s
