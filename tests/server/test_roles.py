"""Roles and endpoints: what each may, in a table that an endpoint which is not in it fails.

Every cell is the status that a caller gets with a well-formed request on Ann's parked run, in this order; the
world is made anew for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from condor.server import AuthSettings, create_app
from condor.testing import SeededClock
from tests.server.support import House, card_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

#: Nobody; Ann, who asked; Ben, of her role; Cleo, who may answer; Dora, of another role; auditor; admin; a
#: program with every scope; a program with none that helps.
WHO = ("nobody", "ann", "ben", "cleo", "dora", "audit", "admin", "program", "narrow")
#: The column of each, by method and path of the OpenAPI.
TABLE: dict[str, tuple[int, ...]] = {
    "GET /api/v1/runs": (401, 200, 200, 200, 200, 200, 200, 200, 403),
    "POST /api/v1/runs": (401, 201, 201, 201, 201, 201, 201, 201, 403),
    "GET /api/v1/runs/{run_id}": (401, 200, 404, 200, 404, 200, 200, 404, 404),
    "GET /api/v1/runs/{run_id}/stream": (401, 200, 404, 200, 404, 200, 200, 404, 404),
    "GET /api/v1/runs/{run_id}/events": (401, 200, 404, 200, 404, 200, 200, 404, 404),
    "GET /api/v1/runs/{run_id}/export/{form}": (401, 200, 404, 200, 404, 200, 200, 404, 404),
    "POST /api/v1/runs/{run_id}/stop": (401, 202, 404, 202, 404, 403, 403, 404, 404),
    "POST /api/v1/runs/{run_id}/approve": (401, 403, 404, 202, 404, 403, 403, 404, 404),
    "POST /api/v1/runs/{run_id}/resume": (401, 403, 404, 202, 404, 403, 403, 404, 404),
    "GET /api/v1/suspensions": (401, 200, 200, 200, 200, 200, 200, 200, 403),
    "GET /api/v1/suspensions/{suspend_id}": (401, 200, 404, 200, 404, 200, 200, 404, 404),
    "POST /api/v1/suspensions/{suspend_id}/edit": (401, 403, 404, 201, 404, 403, 403, 404, 404),
    "POST /api/v1/session": (204,) * 9,
    "GET /api/v1/session": (401, 200, 200, 200, 200, 200, 200, 200, 200),
    "DELETE /api/v1/session": (401, 204, 204, 204, 204, 204, 204, 204, 204),
    "GET /api/v1/principals": (401, 200, 200, 200, 200, 200, 200, 403, 403),
    "POST /api/v1/tickets": (401, 201, 201, 201, 201, 201, 201, 201, 201),
    "GET /api/v1/tokens": (401, 403, 403, 403, 403, 403, 200, 403, 403),
    "POST /api/v1/tokens": (401, 403, 403, 403, 403, 403, 201, 403, 403),
    "DELETE /api/v1/tokens/{token_id}": (401, 403, 403, 403, 403, 403, 404, 403, 403),
    "GET /api/v1/policy/rules": (401, 200, 200, 200, 200, 200, 200, 200, 403),
    "POST /api/v1/policy/explain": (401, 200, 200, 200, 200, 200, 200, 200, 403),
    "GET /api/v1/tools": (401, 200, 200, 200, 200, 200, 200, 200, 403),
    "GET /api/v1/admin/processor-kernels": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "POST /api/v1/admin/processor-kernels/check": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "GET /api/v1/admin/tool-kernels": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "GET /api/v1/admin/tool-kernels/{tool}": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "POST /api/v1/admin/tool-kernels/{tool}/check": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "PUT /api/v1/admin/tool-kernels/{tool}": (401, 403, 403, 403, 403, 403, 200, 403, 403),
    "GET /api/v1/audit": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "GET /api/v1/audit/seals": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "GET /api/v1/audit/verify": (401, 403, 403, 403, 403, 200, 200, 403, 403),
    "GET /api/v1/events": (401, 200, 200, 200, 200, 200, 200, 200, 403),
    "POST /api/v1/chat": (401, 200, 404, 404, 404, 404, 404, 404, 404),
    "GET /api/v1/chat/{chat_id}/stream": (401, 200, 204, 200, 204, 200, 200, 204, 204),
    "POST /api/v1/agui": (401, 200, 404, 404, 404, 404, 404, 404, 404),
    "GET /healthz": (200,) * 9,
    "GET /readyz": (200,) * 9,
    "GET /metrics": (200,) * 9,
}


def described() -> dict[str, Any]:
    """The OpenAPI."""
    from condor import Condor
    from condor.config import Settings

    condor = Condor(read_only=True, settings=Settings(), clock=SeededClock())
    return create_app(condor, AuthSettings(mode="tokens")).openapi()


def operations() -> dict[str, Any]:
    """Every operation that is described, by method and path."""
    paths = described()["paths"]
    return {f"{method.upper()} {path}": said for path, item in paths.items() for method, said in item.items()}


def test_every_endpoint_is_in_the_table() -> None:
    """A new endpoint says here who may use it."""
    assert operations().keys() == TABLE.keys()


@pytest.mark.parametrize("operation", TABLE)
def test_every_status_is_described(operation: str) -> None:
    """With its problem's form; nothing of the framework's own refusals is left."""
    responses = operations()[operation]["responses"]
    assert {str(status) for status in TABLE[operation]} <= responses.keys()
    for status, said in responses.items():
        assert said["description"]
        if int(status) >= 400:
            form = said["content"]["application/problem+json"]["schema"]["$ref"]
            assert form == "#/components/schemas/Problem"


async def ask(house: House, client: httpx.AsyncClient, operation: str, run: dict[str, Any]) -> int:
    """The status of one well-formed request."""
    method, _, path = operation.partition(" ")
    card = card_of(run)
    named = {
        "run_id": run["runId"],
        "suspend_id": card,
        "chat_id": "chat-1",
        "form": "decisions",
        "token_id": "tok_none",
        "tool": "shop.refund",
    }
    bodies: dict[str, Any] = {
        "/runs": {"request": "find A-1"},
        "/stop": {},
        "/approve": {"suspendId": card, "approved": True},
        "/resume": {"suspendId": card, "resumeData": {"approved": True}},
        "/session": {"principal": "ann", "code": house.served.file.token},
        "/tokens": {"name": "made"},
        "/processor-kernels/check": {"processors": {"token-limiter": {}}},
        "/tool-kernels/{tool}/check": {"requesterExcluded": True},
        "/tool-kernels/{tool}": {"requesterExcluded": True, "reason": "four eyes", "rev": 0},
        "/edit": {"args": {"cents": 900}},
        "/explain": {"tool": "shop.find", "args": {"order": "A"}},
        "/chat": {
            "id": "chat-1",
            "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "find A"}]}],
        },
        "/agui": {"threadId": "chat-1", "runId": "r", "messages": []},
    }
    body = next((value for end, value in bodies.items() if path.endswith(end)), None)
    sent = {"json": body} if method in ("POST", "PUT") and body is not None else {}
    async with client.stream(method, path.format(**named), **sent) as answer:
        return answer.status_code


@pytest.mark.parametrize("operation", TABLE)
async def test_who_may_what(house: House, operation: str) -> None:
    """One row: each caller on a run of Ann's that waits for a manager."""
    assert await row_of(house, operation) == dict(zip(WHO, TABLE[operation], strict=True))


def planted_hole(planted: str) -> Callable[..., object]:
    """What says yes to everybody in the place of a check."""

    async def unasked(*_: object) -> None:
        pass

    return unasked if planted == "check_stop" else lambda *_: True


@pytest.mark.parametrize(
    ("planted", "operation"),
    [
        ("may_read", "GET /api/v1/runs/{run_id}"),
        ("may_read", "GET /api/v1/suspensions/{suspend_id}"),
        ("reads_all", "GET /api/v1/audit"),
        ("check_stop", "POST /api/v1/runs/{run_id}/stop"),
    ],
)
async def test_a_planted_hole_is_found(
    house: House, monkeypatch: pytest.MonkeyPatch, planted: str, operation: str
) -> None:
    """The table is not blind: where a check always says yes, a row differs."""
    for module in (
        "runtime.access",
        "runtime.answering",
        "bootstrap",
        "server.routes.runs",
        "server.routes.audit",
        "server.routes.suspensions",
    ):
        named = f"condor.{module}.{planted}"
        monkeypatch.setattr(named, planted_hole(planted), raising=False)
    assert await row_of(house, operation) != dict(zip(WHO, TABLE[operation], strict=True))


async def row_of(house: House, operation: str) -> dict[str, int]:
    """What each caller gets; those that change something get a run of their own."""
    told: dict[str, int] = {}
    narrow = "policy:read" if "policy" not in operation and "tools" not in operation else "runs:stop"
    ends_it = operation.endswith(("stop", "approve", "resume", "edit", "chat"))
    run = await house.parked("ann", sessionId="chat-1")
    for number, who in enumerate(WHO):
        if number and ends_it:
            run = await house.parked("ann", sessionId="chat-1")
        if who == "nobody":
            client = await house.client()
        elif who == "program":
            client = await house.program(f"wide-{number}")
        elif who == "narrow":
            client = await house.program(f"narrow-{number}", scopes=(narrow,))
        else:
            client = await house.signed_in(who)
        told[who] = await ask(house, client, operation, run)
        if operation == "DELETE /api/v1/session" or operation == "POST /api/v1/session":
            house._clients.clear()
    return told
