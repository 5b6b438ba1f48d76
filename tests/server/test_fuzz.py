"""Requests that nobody thought of, made from the OpenAPI, per role: no 5xx, no status undescribed."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.server.test_roles import described, operations

if TYPE_CHECKING:
    import httpx

    from tests.server.support import House

pytestmark = pytest.mark.slow

ROLES = ("nobody", "ann", "cleo", "audit", "admin", "program")
#: Requests of one role to one operation; `make load` asks for more.
EXAMPLES = 4
EXAMPLES_LOAD = 150
#: Streams without an end, and what would sign the fuzzer out.
LEFT_OUT = {"GET /api/v1/events", "DELETE /api/v1/session"}


async def client_of(house: House, role: str) -> httpx.AsyncClient:
    """Who asks."""
    if role == "nobody":
        return await house.client()
    return await house.program() if role == "program" else await house.signed_in(role)


def made_requests(operation: str, count: int) -> list[Any]:
    """Requests that the description allows, and near it."""
    schema = schemathesis.openapi.from_dict(described())
    method, _, path = operation.partition(" ")
    found: list[Any] = []

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(*(schema[path][method].as_strategy(generation_mode=mode) for mode in modes())))
    def make(case: Any) -> None:
        found.append(case)

    make()
    return found


def modes() -> list[Any]:
    """Well-formed and malformed."""
    mode = schemathesis.GenerationMode
    return [mode.POSITIVE, mode.NEGATIVE]


async def check(house: House, count: int) -> Counter[int]:
    """Ask everything as everybody; what was answered, by status."""
    run = await house.parked()
    told: Counter[int] = Counter()
    for operation, said in operations().items():
        if operation in LEFT_OUT:
            continue
        cases = made_requests(operation, count)
        for role in ROLES:
            client = await client_of(house, role)
            for number, case in enumerate(cases):
                status, path = await send(client, case, run if number % 2 else None)
                told[status] += 1
                assert status < 500, (role, operation, case)
                assert str(status) in said["responses"] or status in (404, 405), (
                    role,
                    operation,
                    status,
                    path,
                )
    return told


async def send(client: httpx.AsyncClient, case: Any, run: Any) -> tuple[int, str]:
    """Send one request; on the run that is there, where one is given."""
    import httpx

    if run is not None and case.path_parameters and "run_id" in case.path_parameters:
        case.path_parameters["run_id"] = run["runId"]
    sent = case.as_transport_kwargs(base_url=str(client.base_url))
    headers = {str(name): str(value) for name, value in dict(sent.pop("headers") or {}).items()}
    headers = {n: v for n, v in headers.items() if n.lower() not in ("cookie", "authorization", "user-agent")}
    sent = {
        name: value for name, value in sent.items() if name in ("method", "url", "params", "json", "data")
    }
    if "data" in sent:
        data = sent.pop("data")
        sent["content"] = data if isinstance(data, bytes | str) else str(data).encode()
    try:
        async with client.stream(**sent, headers=headers) as answer:
            await answer.aread()
            return answer.status_code, str(answer.url)
    except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeEncodeError, httpx.UnsupportedProtocol):
        # No client can send it.
        return 404, ""


async def test_nothing_breaks_the_edge(house: House) -> None:
    """A few of each; the run that was there is there, and can be answered."""
    told = await check(house, EXAMPLES)
    assert told.total() > 500
    assert {200, 201, 401, 403, 404, 422} <= told.keys(), told


@pytest.mark.load
async def test_nothing_breaks_the_edge_for_long(house: House) -> None:
    """Many of each."""
    sys.stdout.write(f"\n{dict(await check(house, EXAMPLES_LOAD))}\n")
