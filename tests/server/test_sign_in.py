"""Who asks: sessions, tokens, tickets, and whose pages may ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor.core.errors import RefusedInput
from condor.core.run import LOCAL_PERSON
from condor.server.auth import AuthSettings, check_binding, make_token
from condor.server.guard import CSP
from condor.server.server_file import ServerFile
from condor.server.site import site_of
from tests.server.support import PEOPLE, open_house, problem_of, refund

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.support import House


async def test_a_session_is_a_cookie_that_no_script_reads(house: House) -> None:
    """HttpOnly, SameSite=Strict, and the person's until they sign out; then it is nobody's."""
    client = await house.client()
    signed = await client.post("/api/session", json={"principal": "ann", "code": house.served.file.token})
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    me = (await client.get("/api/session")).json()
    assert (me["principal"], me["roles"], me["mode"]) == ("ann", ["clerk"], "development")
    stolen = await house.client(cookie=cookie.partition(";")[0])
    assert (await stolen.get("/api/session")).json()["principal"] == "ann"
    assert (await client.delete("/api/session")).status_code == 204
    assert problem_of(await stolen.get("/api/session")) == (401, "not_signed_in")


async def test_a_page_of_somebody_else_is_refused(house: House) -> None:
    """A request made in one person's name is never answered as another's, whose session it now carries."""
    client = await house.signed_in("ann")
    for claimed, status in (("ann", 200), ("a%6en", 200), ("ben", 401), ("", 401)):
        answer = await client.get("/api/runs", headers={"condor-principal": claimed})
        assert answer.status_code == status, claimed
    begun = await client.post("/api/runs", json={"plan": refund()}, headers={"condor-principal": "ben"})
    assert problem_of(begun) == (401, "not_signed_in")
    assert (await client.get("/api/runs")).json() == []


async def test_a_code_counts_once_and_for_one_person(house: House) -> None:
    """A sign-in link that was used, or that is another person's, signs nobody in."""
    link = dict(house.served.links)["ann"]
    code = link.partition("code=")[2]
    assert "#" in link and "?" not in link
    client = await house.client()
    for principal, status in (("ann", 204), ("ann", 401)):
        signed = await client.post("/api/session", json={"principal": principal, "code": code})
        assert signed.status_code == status
    other = dict(house.served.links)["ben"].partition("code=")[2]
    answer = await client.post("/api/session", json={"principal": "cleo", "code": other})
    assert problem_of(answer) == (401, "not_signed_in")


async def test_wrong_codes_are_slowed_down(house: House) -> None:
    """Nobody tries codes by the thousand; an unknown name reads as a wrong code does."""
    client = await house.client()
    told = set()
    for number in range(30):
        who = "ann" if number % 2 else "nobody"
        told.add(problem_of(await client.post("/api/session", json={"principal": who, "code": f"{number}"})))
    assert told == {(401, "not_signed_in"), (429, "too_many_requests")}


async def test_the_operator_signs_in_with_the_home_s_secret_alone(house: House) -> None:
    """No link is the local operator's."""
    edge_link = dict(house.served.links).get(LOCAL_PERSON.id)
    assert edge_link is None
    client = await house.client()
    body = {"principal": LOCAL_PERSON.id, "code": house.served.file.token}
    assert (await client.post("/api/session", json=body)).status_code == 204


async def test_a_program_s_token_is_scoped_expires_and_answers_nothing(house: House) -> None:
    """At most guarded, whatever it asks; no card is its own to answer; without the scope: 403."""
    program = await house.program(roles=("manager", "clerk"))
    begun = await program.post("/api/runs", json={"plan": refund(), "autonomy": "autonomous"})
    assert begun.status_code == 201
    run = await house.rest(begun.json()["runId"])
    assert (run["autonomy"], run["status"]) == ("guarded", "suspended")
    assert run["requester"] == {"id": "program:nightly", "display": "nightly"}
    card = run["suspensions"][0]["suspendId"]
    answer = await program.post(
        f"/api/runs/{run['runId']}/approve", json={"suspendId": card, "approved": True}
    )
    assert problem_of(answer) == (403, "not_an_approver")
    reader = await house.program("reader", scopes=("runs:read",))
    assert problem_of(await reader.post("/api/runs", json={"plan": refund()})) == (403, "missing_scope")
    assert problem_of(await reader.get(f"/api/runs/{run['runId']}")) == (404, "not_found")


async def test_a_token_that_is_over_is_nobody_s(house: House) -> None:
    """Revoked, expired, or made up."""
    store, clock = house.condor.store, house.condor.clock
    made = await make_token(store, clock, name="short", life_s=0.001)
    kept = await make_token(store, clock, name="kept")
    for secret, status in (
        (made.secret, 401),
        (kept.secret, 200),
        ("cnd_" + "x" * 43, 401),
        ("x" * 5_000, 401),
    ):
        client = await house.client(authorization=f"Bearer {secret}")
        assert (await client.get("/api/session")).status_code == status
    admin = await house.signed_in("admin")
    assert (await admin.delete(f"/api/tokens/{kept.row.token_id}")).status_code == 204
    assert (await admin.delete(f"/api/tokens/{kept.row.token_id}")).status_code == 404
    client = await house.client(authorization=f"Bearer {kept.secret}")
    assert (await client.get("/api/session")).status_code == 401


async def test_no_secret_is_stored(house: House) -> None:
    """The database holds hashes alone."""
    made = await make_token(house.condor.store, house.condor.clock, name="hidden")
    ann = await house.signed_in("ann")
    await house.condor.store.check_writable()
    stored = b"".join(path.read_bytes() for path in house.home.glob("condor.db*"))
    for secret in (made.secret, *ann.cookies.values()):
        assert secret.encode() not in stored


async def test_an_admin_makes_tokens_and_nobody_else(house: House) -> None:
    """Made, listed without its secret, and used."""
    admin, ann = await house.signed_in("admin"), await house.signed_in("ann")
    body = {"name": "sweeper", "scopes": ["policy:read"], "lifeS": 60}
    assert problem_of(await ann.post("/api/tokens", json=body)) == (403, "forbidden")
    made = (await admin.post("/api/tokens", json=body)).json()
    listed = (await admin.get("/api/tokens")).json()
    assert [token["tokenId"] for token in listed] == [made["tokenId"]]
    assert "secret" not in listed[0] and made["secret"] not in str(listed)
    client = await house.client(authorization=f"Bearer {made['secret']}")
    assert (await client.get("/api/policy/rules")).status_code == 200
    assert problem_of(await client.get("/api/runs")) == (403, "missing_scope")
    for wrong in ({"name": "Bad Name"}, {"name": "x", "scopes": ["all"]}, {"name": "x", "lifeS": 10**9}):
        assert problem_of(await admin.post("/api/tokens", json=wrong)) == (422, "invalid_input")


async def test_a_ticket_opens_one_stream(house: House) -> None:
    """Used once, for a stream alone; a token in an address is refused whoever sends it (B19)."""
    run = await house.parked()
    ann, nobody = await house.signed_in("ann"), await house.client()
    ticket = (await ann.post("/api/tickets")).json()["ticket"]
    path = f"/api/runs/{run['runId']}/stream?ticket={ticket}"
    assert (await nobody.get(path)).status_code == 200
    assert problem_of(await nobody.get(path)) == (401, "not_signed_in")
    ticket = (await ann.post("/api/tickets")).json()["ticket"]
    assert problem_of(await nobody.get(f"/api/runs?ticket={ticket}"))[0] == 401
    for name in ("token", "access_token", "TOKEN", "jwt"):
        for client in (nobody, ann):
            answer = await client.get(f"/api/runs/{run['runId']}/events?{name}=eyJhbGciOi")
            assert problem_of(answer) == (400, "secret_in_url")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
async def test_another_site_changes_nothing(house: House, headers: dict[str, str]) -> None:
    """A page that is not ours cannot ask in a person's name, cookie or not (B18)."""
    ann = await house.signed_in("ann")
    sent = {
        name: value
        for name, value in {**dict(ann.headers), **headers}.items()
        if name != "origin" or name in headers
    }
    client = await house.client(**sent)
    client.cookies.update(ann.cookies)
    assert problem_of(await client.post("/api/runs", json={"request": "find A"})) == (403, "foreign_origin")
    assert list(await house.condor.store.runs()) == []


async def test_no_get_changes_state(house: House) -> None:
    """What changes something has no GET."""
    run = await house.parked()
    cleo = await house.signed_in("cleo")
    for verb in ("approve", "resume", "stop"):
        assert problem_of(await cleo.get(f"/api/runs/{run['runId']}/{verb}"))[0] == 405
    assert (await cleo.get(f"/api/runs/{run['runId']}")).json() == run


async def test_a_host_that_is_not_ours_is_not_answered(house: House) -> None:
    """A name that was made to point here reads nothing (DNS rebinding)."""
    ann = await house.signed_in("ann")
    port = house.url.rpartition(":")[2]
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", ""):
        assert problem_of(await ann.get("/api/session", headers={"host": host})) == (400, "unknown_host")
    assert (await ann.get("/api/session", headers={"host": f"LOCALHOST:{port}"})).status_code == 200


async def test_every_answer_carries_its_guard(house: House) -> None:
    """Whatever it is: not cached, not sniffed, not framed, nothing loaded from elsewhere."""
    ann = await house.signed_in("ann")
    for path in ("/api/runs", "/api/nothing", "/healthz", "/openapi.json"):
        headers = (await ann.get(path)).headers
        assert headers["content-security-policy"] == CSP
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


async def test_the_description_is_for_who_is_signed_in(house: House) -> None:
    """Neither /docs nor the description is open to strangers."""
    nobody, ann = await house.client(), await house.signed_in("ann")
    assert problem_of(await nobody.get("/openapi.json"))[0] == 401
    assert problem_of(await nobody.get("/docs"))[0] == 404
    assert (await ann.get("/openapi.json")).json()["info"]["title"] == "Condor"


async def test_two_proofs_are_none(house: House) -> None:
    """A cookie of one and a token of another are nobody's request."""
    ann, program = await house.signed_in("ann"), await house.program()
    both = await house.client(authorization=program.headers["authorization"])
    both.cookies.update(ann.cookies)
    assert problem_of(await both.get("/api/session")) == (401, "not_signed_in")


@pytest.mark.parametrize("header", ["Basic YTpi", "Bearer", "Bearer  a b", "token"])
async def test_an_authorization_that_is_none(house: House, header: str) -> None:
    """It is not taken for nobody's, and not for a cookie's."""
    ann = await house.signed_in("ann")
    assert problem_of(await ann.get("/api/session", headers={"authorization": header}))[0] == 401


async def test_with_tokens_only_the_operator_is_a_person(tmp_path: Path) -> None:
    """People of packs do not sign in where nobody said that they may."""
    async with open_house(tmp_path / "home", mode="tokens") as house:
        assert house.served.links == ()
        client, code = await house.client(), house.served.file.token
        answer = await client.post("/api/session", json={"principal": "cleo", "code": code})
        assert problem_of(answer) == (401, "not_signed_in")
        assert (
            await client.post("/api/session", json={"principal": "local", "code": code})
        ).status_code == 204


def test_nothing_is_served_without_a_setting() -> None:
    """Refuses without auth; what trusts the machine stays on it (B24)."""
    with pytest.raises(RefusedInput, match="who may sign in"):
        check_binding("", "127.0.0.1")
    for mode in ("development", "demo"):
        for host in ("0.0.0.0", "192.0.2.7", "::", "example.org"):
            with pytest.raises(RefusedInput, match=r"127\.0\.0\.1 only"):
                check_binding(mode, host)
        for host in ("127.0.0.1", "localhost", "::1"):
            assert check_binding(mode, host) == mode
    assert check_binding("tokens", "0.0.0.0") == "tokens"


def test_a_site_that_others_reach_says_its_name() -> None:
    """It needs a public address, with TLS; its cookie then is bound to its host."""
    with pytest.raises(RefusedInput, match="CONDOR_PUBLIC_URL"):
        site_of(host="0.0.0.0", port=80)
    for wrong in ("condor.example", "http://condor.example", "https://a@b", "https://a/b", "ftp://a"):
        with pytest.raises(RefusedInput):
            site_of(host="0.0.0.0", port=80, public_url=wrong)
    site = site_of(host="0.0.0.0", port=8421, public_url="https://condor.example")
    assert (site.cookie, site.is_secure) == ("__Host-condor_session", True)
    assert site.answers_to("condor.example") and not site.answers_to("evil.example")
    assert "https://condor.example" in site.origins


def test_two_servers_of_one_machine_keep_their_cookies_apart() -> None:
    """Cookies know no ports; their names do."""
    names = {site_of(host="127.0.0.1", port=port).cookie for port in (1, 2)}
    assert len(names) == 2


def test_secrets_are_not_shown_by_accident() -> None:
    """What holds one says that it does, and not which."""
    settings = AuthSettings(mode="demo", people=PEOPLE, home_token="home_ZZCANARY")
    file = ServerFile(url="http://127.0.0.1:1", token="home_ZZCANARY", pid=1)
    assert "ZZCANARY" not in f"{settings!r} {file!r}"
