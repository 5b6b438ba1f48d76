"""B16: requests to inner hosts. One origin is asked, whatever a setting, an argument or an answer says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from condor_hms.fhir.errors import FhirError, Unavailable
from condor_hms.fhir.http import HttpFhirStore
from condor_hms.fhir.http_address import FhirAddress
from tests.hms.fhir.support import MELISSA, bundle, flag, post
from tests.hms.fhir.test_http import patient, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

OWN = FhirAddress("https://fhir.hospital.example/R4/")


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/",
        "http://2852039166/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://[::ffff:169.254.169.254]/",
        "http://[fe80::1]/",
        "http://0.0.0.0:8080/fhir",
        "http://224.0.0.1/",
        "http://fhir.hospital.example@evil.tld/",
        "http://evil.tld\x00.fhir.hospital.example/",
        "http://evil.tld\\.fhir.hospital.example/",
        "http://evil.tld\n/",
        "http://a b/",
        "http://host:0/",
        "http://host:99999/",
        "http://[::1/",
        "https://fhir.hospital.example/R4?x=1",
        "https://fhir.hospital.example/R4#x",
        "file:///etc/passwd",
        "gopher://fhir.hospital.example/",
        "//fhir.hospital.example/R4",
        "https:///R4",
        "",
    ],
)
@pytest.mark.parametrize("token", [None, "t"])
def test_an_address_that_is_none(url: str, token: str | None) -> None:
    """Refused when it is configured, before anything is sent."""
    with pytest.raises(Unavailable):
        HttpFhirStore(url, token=token)


@pytest.mark.parametrize(
    "url", ["http://10.1.2.3:8080/fhir", "http://[::ffff:127.0.0.1]/", "http://fhir.internal/R4"]
)
def test_a_token_never_goes_in_the_clear(url: str) -> None:
    """A hospital's server may be inside the house; its token goes there over TLS alone."""
    HttpFhirStore(url)
    with pytest.raises(Unavailable, match="over https only"):
        HttpFhirStore(url, token="t")
    HttpFhirStore(url.replace("http:", "https:"), token="t")


@pytest.mark.parametrize(
    "link",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:5432/",
        "http://fhir.hospital.example/R4/Patient",
        "https://fhir.hospital.example:8443/R4/Patient",
        "https://fhir.hospital.example.attacker.tld/R4/Patient",
        "https://fhir.hospital.example@evil.tld/R4/Patient",
        "https://user@fhir.hospital.example/R4/Patient",
        "https://fhir.hospital.example\\@evil.tld/R4/Patient",
        "https://evil.tld\x00.fhir.hospital.example/R4/Patient",
        "https://evil.tld\t/R4",
        "//evil.tld/R4/Patient",
        "https://fhir.hospital.example/R4admin",
        "https://fhir.hospital.example/admin?x=/R4/",
        "../admin",
        "/admin",
        "javascript:1",
        "file:///etc/passwd",
        "https://[",
    ],
)
def test_a_link_that_leads_elsewhere(link: str) -> None:
    """Compared after parsing, in full: scheme, host, port, and below the address."""
    with pytest.raises(Unavailable, match="next page"):
        OWN.below(link)


@pytest.mark.parametrize(
    ("link", "read"),
    [
        ("Patient?page=2", "https://fhir.hospital.example/R4/Patient?page=2"),
        ("?page=2", "https://fhir.hospital.example/R4/?page=2"),
        (
            "https://fhir.hospital.example/R4?_getpages=a|b c",
            "https://fhir.hospital.example/R4?_getpages=a|b c",
        ),
        ("https://FHIR.hospital.example:443/R4/Patient", "https://FHIR.hospital.example:443/R4/Patient"),
        ("/R4/Patient?page=2", "https://fhir.hospital.example/R4/Patient?page=2"),
    ],
)
def test_a_link_of_its_own(link: str, read: str) -> None:
    """Relative or absolute, as servers give them."""
    assert OWN.below(link) == read


@pytest.fixture
async def elsewhere() -> AsyncIterator[tuple[str, list[str]]]:
    """Another server of this machine, and what was asked there."""
    asked: list[str] = []

    def answer(method: str, path: str, headers: dict[str, str], body: str) -> Any:
        asked.append(f"{method} {path} {headers.get('authorization', '')}")
        return 200, patient(), {}

    async with serving(answer) as url:
        yield url, asked


async def test_nothing_that_a_server_answers_leads_to_another(elsewhere: tuple[str, list[str]]) -> None:
    """A redirect of each kind, a next page, a location: the other server is never asked, token or not."""
    other, asked = elsewhere
    answers: list[tuple[int, dict[str, Any], dict[str, str]]] = [
        *((status, {}, {"location": f"{other}/Patient"}) for status in (301, 302, 303, 307, 308)),
        (200, {"resourceType": "Bundle", "link": [{"relation": "next", "url": f"{other}/Patient"}]}, {}),
        (200, {"resourceType": "Bundle", "entry": [{"response": {"status": "302"}}]}, {"location": other}),
        (201, {"resourceType": "Bundle"}, {"location": f"{other}/Patient/x", "refresh": f"0; url={other}"}),
    ]
    for told in answers:
        async with serving(lambda *_, told=told: told) as url, HttpFhirStore(url, token="t") as store:
            calls = (
                store.read(MELISSA),
                store.vread(MELISSA, "1"),
                store.history(MELISSA),
                store.search("Patient", {}),
                store.transact(bundle(post(flag()))),
            )
            for call in calls:
                try:
                    await call
                except FhirError:
                    continue
    await asyncio.sleep(0)
    assert asked == []


async def test_a_proxy_of_the_environment_sees_no_token(
    elsewhere: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the clear a request goes to its server itself."""
    other, asked = elsewhere
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, other.removesuffix("/fhir"))
    async with serving(lambda *_: (200, patient(), {})) as url, HttpFhirStore(url, token="t") as store:
        assert (await store.read(MELISSA))["resourceType"] == "Patient"
    assert asked == []


async def test_nothing_that_a_call_says_leads_to_another(elsewhere: tuple[str, list[str]]) -> None:
    """A reference, version, type or search value that is an address: refused, or a value like any other."""
    other, asked = elsewhere
    own: list[str] = []

    def answer(method: str, path: str, *_: Any) -> Any:
        own.append(path)
        return 200, {"resourceType": "Bundle"}, {}

    async with serving(answer) as url, HttpFhirStore(url, token="t") as store:
        for text in (
            other,
            f"{other}/Patient/x",
            "//evil.tld/x",
            "../../admin",
            "Patient/../../admin",
            "@evil",
        ):
            for call in (
                store.read(text),
                store.history(text),
                store.versions([text]),
                store.vread(MELISSA, text),
                store.search(text, {}),
                store.search("Patient", {"name": text}),
                store.search("Patient", {"identifier": text}),
                store.search("Observation", {"patient": text}),
            ):
                try:
                    await call
                except FhirError:
                    continue
    assert asked == []
    # Below the address, and no step up: what was given is a value, its slashes escaped.
    assert {path.partition("?")[0] for path in own} >= {"/fhir/Patient"}
    assert all(path.startswith("/fhir/") and "/../" not in path for path in own), own
