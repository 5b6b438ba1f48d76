"""A real server on a real socket, people and programs who talk to it, and runs to talk about."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from condor import ArgSpec, Condor, HitlTier, PolicyClass, Principal, ToolContext, ToolDescriptor, tool
from condor.config import Settings
from condor.ports.faults import Faults, no_faults
from condor.server.auth import make_token
from condor.server.run import Served, bound, serve
from condor.testing import Ledger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from condor.server.auth import AuthMode
    from condor.server.live import StreamCaps

Json = dict[str, Any]

#: Longest that anything here may take, in seconds; only a bug waits for it.
PATIENCE_S = 20.0

PEOPLE = (
    Principal(id="ann", roles=frozenset({"clerk"}), display="Ann"),
    Principal(id="ben", roles=frozenset({"clerk"}), display="Ben"),
    Principal(id="cleo", roles=frozenset({"manager"}), display="Cleo, manager"),
    Principal(id="dora", roles=frozenset({"driver"}), display="Dora"),
    Principal(id="audit", roles=frozenset({"auditor"}), display="The auditor"),
    Principal(id="admin", roles=frozenset({"admin"}), display="The admin"),
)


class Shop:
    """Tools of a small shop: what really happened stands in its ledger."""

    def __init__(self, path: Path) -> None:
        """Nothing was sold yet."""
        self.ledger = Ledger(path)
        #: A call of ``shop.wait`` returns when this is set.
        self.open = asyncio.Event()

    def tools(self) -> list[ToolDescriptor]:
        """A read, a slow read, and writes that wait for the manager."""
        ledger = self.ledger

        @tool("shop.find", policy_class=PolicyClass.READ, title="Find the order")
        async def find(ctx: ToolContext, order: str) -> Json:
            return {"order": order, "cents": 1200, "note": f"written by hand: {order}"}

        @tool("shop.wait", policy_class=PolicyClass.READ, title="Wait for the post")
        async def wait(ctx: ToolContext) -> str:
            await self.open.wait()
            return "it came"

        @tool("shop.pause", policy_class=PolicyClass.READ, title="Wait a moment")
        async def pause(ctx: ToolContext, seconds: float) -> None:
            await asyncio.sleep(seconds)

        @tool(
            "shop.refund",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.HIGH,
            title="Refund an order",
            ops={"create"},
            approver_roles={"manager"},
            editable={"cents"},
            args=(
                ArgSpec(name="order", label="Order", required=True),
                ArgSpec(name="cents", label="Cents", type="integer", required=True),
            ),
        )
        async def refund(ctx: ToolContext, order: str, cents: int) -> Json:
            return {"refund": ledger.write(order, str(cents), key=ctx.idempotency_key)}

        @tool(
            "shop.note",
            policy_class=PolicyClass.MUTATE,
            hitl_tier=HitlTier.LOW,
            title="Write a note",
            approver_roles={"clerk", "manager"},
        )
        async def note(ctx: ToolContext, text: str) -> Json:
            return {"note": ledger.write("note", text, key=ctx.idempotency_key)}

        return [find, wait, pause, refund, note]


class ShopPack:
    """The shop as a pack, so that its people can sign in."""

    name = "shop"
    has_demo = False

    def __init__(self, shop: Shop) -> None:
        """Of an open shop."""
        self._shop = shop

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[Any]:
        """Bring tools, people and a planner of one sentence."""
        from condor import OpenedPack

        yield OpenedPack(tools=self._shop.tools(), principals=PEOPLE, planner=Sentence(), views=[Decisions()])


class Decisions:
    """A form of a run: what was decided, line by line."""

    form = "decisions"
    media_type = "text/plain; charset=utf-8"

    async def render(self, run: Any) -> bytes:
        """One word a line."""
        return "\n".join(row["decision"] for row in run.audit).encode()


class Sentence:
    """A planner that understands ``refund <order>`` and ``find <order>``."""

    async def plan(self, request: Any) -> object:
        """The plan of a sentence."""
        from condor import RequestNotUnderstood

        verb, _, order = request.text.partition(" ")
        if verb == "refund":
            return refund(order)
        if verb == "find":
            return {"steps": [step("f", "shop.find", order=order)]}
        raise RequestNotUnderstood("ask to refund or to find an order")


def step(step_id: str, name: str, /, *after: str, **args: Any) -> Json:
    """A tool step."""
    return {"id": step_id, "tool": name, "after": list(after), "args": args}


def refund(order: str = "A-1", **more: Any) -> Json:
    """A plan whose one write waits for the manager."""
    return {
        "steps": [
            step("f", "shop.find", order=order),
            step("r", "shop.refund", "f", order=order, cents=1200) | more,
        ]
    }


@dataclass(slots=True, kw_only=True)
class House:
    """A running server with its shop."""

    condor: Condor
    shop: Shop
    served: Served
    home: Path
    _stack: AsyncExitStack
    _clients: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.served.file.url

    async def client(self, **headers: str) -> httpx.AsyncClient:
        """A client that is nobody."""
        client = httpx.AsyncClient(base_url=self.url, headers=headers, timeout=PATIENCE_S)
        return await self._stack.enter_async_context(client)

    async def signed_in(self, principal: str) -> httpx.AsyncClient:
        """A client of a person; the same one for the same name."""
        if principal not in self._clients:
            client = await self.client(origin=self.served.site.url)
            body = {"principal": principal, "code": self.served.file.token}
            signed = await client.post("/api/session", json=body)
            assert signed.status_code == 204, signed.text
            self._clients[principal] = client
        return self._clients[principal]

    async def program(
        self, name: str = "nightly", *, scopes: Sequence[str] = (), **more: Any
    ) -> httpx.AsyncClient:
        """A client with a program's token."""
        wanted = scopes or ("runs:read", "runs:start", "runs:stop", "policy:read")
        made = await make_token(self.condor.store, self.condor.clock, name=name, scopes=wanted, **more)
        return await self.client(authorization=f"Bearer {made.secret}")

    async def parked(self, principal: str = "ann", plan: Json | None = None, **body: Any) -> Json:
        """A run of this person that waits; its snapshot."""
        client = await self.signed_in(principal)
        begun = await client.post("/api/runs", json={"plan": plan or refund(), **body})
        assert begun.status_code == 201, begun.text
        await asyncio.wait_for(self.condor.wait(begun.json()["runId"]), PATIENCE_S)
        shown: Json = (await client.get(f"/api/runs/{begun.json()['runId']}")).json()
        return shown

    async def rest(self, run_id: str) -> Json:
        """A run at its next rest."""
        return dict(await asyncio.wait_for(self.condor.wait(run_id), PATIENCE_S))


def card_of(run: Json) -> str:
    """The one open card of a run."""
    (card,) = [card for card in run["suspensions"] if card["status"] == "pending"]
    return str(card["suspendId"])


def approve(run: Json, *, approved: bool = True, **more: Any) -> Json:
    """The body that answers a run's one open card."""
    return {"suspendId": card_of(run), "approved": approved, **more}


@asynccontextmanager
async def open_house(
    home: Path,
    *,
    mode: AuthMode = "development",
    caps: StreamCaps | None = None,
    pack: Any = None,
    shop: Shop | None = None,
    faults: Faults = no_faults,
    **settings: Any,
) -> AsyncIterator[House]:
    """A server on a free port of this machine, in this event loop.

    Args:
        pack: instead of the shop's.
        shop: of another house, to be shared.
    """
    home.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - a test's own directory
    shop = shop or Shop(home / "ledger.db")
    async with AsyncExitStack() as stack:
        packs, given = [pack or ShopPack(shop)], Settings(home=home, **settings)
        condor = await stack.enter_async_context(
            Condor(home=home, packs=packs, settings=given, demo=mode == "demo", faults=faults)
        )
        ready: asyncio.Future[Served] = asyncio.get_running_loop().create_future()
        serving = asyncio.ensure_future(
            serve(condor, home, bound("127.0.0.1", 0), mode=mode, caps=caps, ready=ready.set_result)
        )
        serving.add_done_callback(lambda _: ready.done() or ready.cancel())
        try:
            served = await asyncio.wait_for(ready, PATIENCE_S)
        except asyncio.CancelledError:
            await serving
            raise
        house = House(condor=condor, shop=shop, served=served, home=home, _stack=stack)
        try:
            yield house
        finally:
            shop.open.set()
            served.stop()
            await asyncio.wait_for(serving, PATIENCE_S)


async def lose_kernel(house: House, tool: str) -> None:
    """Somebody takes what an admin laid on a tool out of the database."""
    admin = Principal(id="admin", roles=frozenset({"admin"}))
    await house.condor.kernels.put(tool, {"requesterExcluded": True}, principal=admin)
    with closing(sqlite3.connect(house.home / "condor.db")) as database, database:
        database.execute("DELETE FROM tool_kernel WHERE tool = ?", (tool,))
    await house.condor.kernels.load()


def chunks_of(text: str) -> list[Any]:
    """What the data lines of a stream say."""
    lines = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in lines]


def problem_of(answer: httpx.Response) -> tuple[int, str]:
    """Status and code of a problem, whose form is checked."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body = answer.json()
    assert body["status"] == answer.status_code
    assert {"type", "title", "detail", "code"} <= body.keys()
    return answer.status_code, str(body["code"])
