"""The composition root: the only module that picks implementations.

``Condor`` is the public face of a process: it opens a store and packs, wires the pump, and offers the
four verbs and what can be read.
"""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

from condor.core.errors import HomeUnusable
from condor.core.recovery import limits_from
from condor.core.recovery.limits import BY_NAME
from condor.core.run import LOCAL_PERSON, Principal, RunEvent
from condor.dispatch import LocalDispatcher
from condor.ports.clock import SystemClock, timestamp
from condor.ports.faults import Faults, no_faults
from condor.ports.messages import no_processors
from condor.ports.packs import OpenedPack, Pack, PackSetup
from condor.pump.phases.admit import StartRun
from condor.pump.ports import PumpPorts
from condor.runtime import Run, Runtime, edge, run_snapshot
from condor.runtime.answering import Answering
from condor.runtime.brought import Brought
from condor.runtime.delivering import Delivery, deliver
from condor.runtime.duties import RuntimeDuties, times_of
from condor.runtime.hub import EventHub
from condor.runtime.kernel_desk import KernelDesk
from condor.runtime.sealing import seal_heads
from condor.runtime.sweeping import Swept
from condor.runtime.tending import attend, cancelled, tend
from condor.runtime.tool_shelf import ToolShelf
from condor.sinks import sinks_of
from condor.store.opening import open_store
from condor.tools.invocation import LocalToolbox
from condor.tools.registry import ToolRegistry

if TYPE_CHECKING:
    import datetime
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence

    from condor.config import Settings
    from condor.core.ids import Json
    from condor.ports.clock import Clock
    from condor.ports.closing_writer import ClosingWriter
    from condor.ports.messages import OutputProcessor
    from condor.ports.model import Confirmer, Planner
    from condor.ports.store import Store

_log = logging.getLogger(__name__)

#: Where segments of runs are worked on.
Driven = Literal["here", "workers", "jobs"]

#: Seconds that a closing process gives to work in flight; what is left goes on at the next start.
_GRACE_S = 10.0


class Condor(Answering, Brought, ToolShelf):
    """One process of Condor: ``async with Condor(tools=[…]) as condor: …``."""

    def __init__(
        self,
        *,
        tools: Iterable[Any] = (),
        packs: Sequence[Pack] = (),
        planner: Planner | None = None,
        confirmer: Confirmer | None = None,
        writer: ClosingWriter | None = None,
        database_url: str | None = None,
        home: Path | str | None = None,
        demo: bool = False,
        settings: Settings | None = None,
        clock: Clock | None = None,
        today: Callable[[], datetime.date] | None = None,
        faults: Faults = no_faults,
        static_classes: Mapping[str, Any] | None = None,
        read_only: bool = False,
        tend: bool = True,
        driven: Driven = "here",
    ) -> None:
        """Nothing is opened before ``async with``.

        Args:
            tools: functions decorated with ``@tool``.
            packs: tool packs to open with it.
            planner: turns requests in words into plans; a pack may bring one.
            confirmer: looks a second time at edits of a plan that a rule alone does not settle.
            writer: writes closing texts; what it claims is compared with the evidence.
            database_url: ``sqlite:///file.db`` or ``postgresql://user:password@host/database``; empty:
                ``condor.db`` in the home; default: as configured.
            home: directory for state; default: ``CONDOR_HOME`` or ``.condor``.
            demo: open packs with their demonstration data.
            today: the day of the record; default: a pack's, else the clock's.
            static_classes: effect classes of tools whose descriptors do not say.
            read_only: read beside a living owner; nothing is started or swept.
            tend: look after expired cards, orphaned runs and seals in the background.
            driven: where segments of runs are worked on: ``here``; by ``workers``, on PostgreSQL; or here
                because this is a worker, which does what ``jobs`` say (``work``).
        """
        self._settings = settings
        self._tools = tuple(tools)
        self._packs = tuple(packs)
        self._planner = planner
        self._confirmer, self._writer = confirmer, writer
        self._home = Path(home) if home is not None else self._configured().home
        self._url = database_url if database_url is not None else self._configured().database_url
        self._demo = demo
        self._clock: Clock = clock or SystemClock()
        self._today = today
        self._faults = faults
        self._static_classes = static_classes
        self._read_only = read_only
        self._tend = tend
        self._driven = driven
        #: Runs that were interrupted, and that the opening took up again.
        self.taken_up: Sequence[str] = ()
        #: Runs that the opening ended, because their cards had expired.
        self.swept = Swept()
        self._hub = EventHub()
        self._stack = AsyncExitStack()
        self._opened: list[OpenedPack] = []
        self._store: Store | None = None
        self._runtime: Runtime | None = None
        self._toolbox: LocalToolbox | None = None

    # -- life --------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the store, then the packs; take up what was interrupted."""
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Give work in flight its grace, then close."""
        await self._stack.aclose()

    async def _open(self) -> None:
        store = await open_store(
            self._url,
            self._home,
            faults=self._faults,
            read_only=self._read_only,
            heard=self._heard,
            shared=self.hands_over,
            works=self._driven == "jobs",
        )
        self._stack.push_async_callback(store.close)
        self._store = store
        for pack in self._packs:
            setup = PackSetup(
                home=self._home,
                demo=self._demo,
                read_only=self._read_only,
                faults=self._faults,
                database_url=self._url,
            )
            self._opened.append(await self._stack.enter_async_context(pack.open(setup)))
        registry = ToolRegistry(
            [*self._tools, *(tool for pack in self._opened for tool in pack.tools)],
            static_classes=self._static_classes,
        )
        if not self._read_only or any(f"CONDOR_{name.upper()}" in os.environ for name in BY_NAME):
            self._limits = limits_from(self._configured().model_dump(exclude_none=True))
        self._toolbox = LocalToolbox(registry, clock=self._clock, today=self._day, faults=self._faults)
        self._kernels = KernelDesk(store, self._toolbox, self._clock, self._home, writes=not self._read_only)
        await self._kernels.load()
        from condor.models import models_of  # slow to load

        models = models_of(None if self._read_only else self._configured())
        self._stack.push_async_callback(models.aclose)
        ports = PumpPorts(
            store=store,
            toolbox=self._toolbox,
            planner=self._first_planner(models.planner),
            clock=self._clock,
            faults=self._faults,
            announce=self._hub.announce,
            hands_over=self.hands_over,
            # Who only reads opens no card.
            suspend_ttl_s=0.0 if self._read_only else self._configured().suspend_ttl_s,
            limits=self._limits,
            confirmer=self._confirmer or models.confirmer,
            regenerator=models.regenerator,
            writer=self._writer or models.writer,
            count=self.counts,
            output_processors=self._open_processors(models.instructions),
        )
        dispatcher = LocalDispatcher()
        self._runtime = Runtime(ports, dispatcher, self._hub)
        if self._read_only:
            return
        self._stack.push_async_callback(dispatcher.drain, _GRACE_S)
        if sinks := sinks_of(self._configured()):
            self._look_after(deliver(Delivery(sinks, self._home, store, self.counts), self.seal))
        if self.hands_over:
            backlog = store.backlog if self._driven == "workers" else None
            self._look_after(attend(refresh=self._kernels.load, backlog=backlog))
            return
        self.swept = Swept(expired=await self._runtime.sweep())
        self.taken_up = tuple(await self._runtime.recover())
        if self._tend:
            idle_s, refresh = self._configured().idle_s, self._kernels.load
            self._look_after(tend(self._runtime, self._clock, idle_s=idle_s, refresh=refresh, seal=self.seal))

    def _look_after(self, looks: Coroutine[Any, Any, NoReturn]) -> None:
        """Go on looking until this is closed."""
        self._stack.push_async_callback(cancelled, asyncio.create_task(looks, name="condor-tend"))

    async def work(
        self, stop: asyncio.Event, *, concurrency: int | None = None, ready: Callable[[], None] = lambda: None
    ) -> None:
        """Be a worker until told to stop; then hand over what is under way. Needs ``driven="jobs"``.

        Args:
            concurrency: runs worked on at once; default: as configured.
            ready: called when jobs are taken.

        Raises:
            HomeUnusable: the library of workers is not installed.
        """
        try:
            from condor.dispatch.workers import run_worker
        except ImportError as error:
            raise HomeUnusable(f"a worker needs {error.name}: install condor-runtime[workers]") from error
        from condor.store.postgres_connect import address_of

        settings, address = self._configured(), address_of(self._url)
        duties = RuntimeDuties(self._running(), self.seal, idle_s=settings.idle_s)
        at_once, server = concurrency or settings.worker_concurrency, (address.dsn, address.schema)
        times = times_of(settings)
        await run_worker(duties, *server, concurrency=at_once, times=times, stop=stop, ready=ready)

    def _open_processors(self, instructions: Sequence[str]) -> Callable[[], OutputProcessor | None]:
        if self._read_only:
            return no_processors
        from condor.processors import build_input_processors, build_output_processors

        wanted = self._configured().processors
        self._incoming = build_input_processors(wanted)
        return build_output_processors(wanted, instructions=instructions)

    def _configured(self) -> Settings:
        """The settings, read when something of them is first needed: their library is slow to load."""
        if self._settings is None:
            from condor.config import read_settings

            self._settings = read_settings()
        return self._settings

    def _heard(self, run_ids: Sequence[str] | None) -> None:
        """What other processes committed."""
        if self._runtime is not None:
            self._runtime.heard(run_ids)

    def _day(self) -> datetime.date:
        if self._today is not None:
            return self._today()
        fixed = [pack.today for pack in self._opened if pack.today is not None]
        return fixed[0] if fixed else self._clock.now().date()

    # -- the four verbs ----------------------------------------------------------------------

    async def start(
        self,
        request: str | None = None,
        *,
        plan: Mapping[str, Any] | None = None,
        autonomy: str = "guarded",
        principal: Principal = LOCAL_PERSON,
        session_id: str | None = None,
        key: str | None = None,
        quoted: Mapping[str, str] | None = None,
    ) -> Run:
        """Start a run from a request in words or from a plan; it goes on in the background.

        Args:
            autonomy: ``autonomous``, ``guarded`` or ``ambient``. Only a person's own request can be
                autonomous; a program's is guarded.
            key: the same request of the same principal under the same key is one run, however often it is
                sent.
            quoted: texts from elsewhere (letters, notes of a record) that the request or the plan is about,
                by where they are from: data, never an order. What is planned beside them asks before every
                effect.

        Raises:
            RefusedInput: with what is wrong; nothing is stored. Code ``idempotency_key_reused``: the key was
                used for another request.
        """
        edge.check_request(request, plan)
        running = self._running()
        words, findings, texts = edge.let_in(self._incoming, request, quoted)
        wanted = StartRun(
            request=words,
            findings=findings,
            plan=plan,
            principal=principal,
            autonomy=edge.allowed_autonomy(autonomy, principal),
            session_id=edge.session_of(session_id),
            quoted=texts,
        )
        return await running.start(edge.claiming(key, wanted))

    async def sweep(self) -> Swept:
        """End the runs whose cards have expired, and parked runs that nobody can wake any more.

        It also happens by itself, every few seconds, for as long as this is open (``tend``).
        """
        runtime, expired = self._running(), 0
        while more := await runtime.sweep():
            expired += more
        return Swept(expired=expired, idle=await runtime.sweep_idle(self._configured().idle_s))

    def watch(self, run_id: str, *, after: int = 0, follow: bool = False) -> AsyncIterator[RunEvent]:
        """The run's events: replayed from ``after``, then live until its next rest (``follow``: its end)."""
        return self._running().watch(run_id, after=after, follow=follow)

    # -- what can be read --------------------------------------------------------------------

    def stands_still(self, run_id: str) -> bool:
        """Whether a run cannot go on because the store takes nothing (a full disk)."""
        return self._running().stands_still(run_id)

    async def wait(self, run_id: str) -> dict[str, Json]:
        """The snapshot of a run at its next rest: parked or ended."""
        return run_snapshot(await self._running().wait(run_id), self._limits)

    @property
    def hands_over(self) -> bool:
        """Whether segments are jobs, so that nothing is worked on without a worker."""
        return self._driven != "here"

    @property
    def store(self) -> Store:
        """The store, for an edge that reads it its own way; runs are written by the verbs alone."""
        return self._stored()

    @property
    def hub(self) -> EventHub:
        """Who is told after every commit of this process."""
        return self._hub

    @property
    def kernels(self) -> KernelDesk:
        """What administrators laid on tools; it only tightens."""
        return self._kernels

    @property
    def processors_setting(self) -> str:
        """What ``CONDOR_PROCESSORS`` said when this was opened; empty: the default."""
        return self._configured().processors

    @property
    def clock(self) -> Clock:
        """Time and ids."""
        return self._clock

    def _running(self) -> Runtime:
        if self._runtime is None or self._read_only:
            raise RuntimeError("use `async with Condor(…) as condor:` before calling it")
        return self._runtime

    def _stored(self) -> Store:
        if self._store is None:
            raise RuntimeError("use `async with Condor(…) as condor:` before calling it")
        return self._store


async def seal_stored(database_url: str, home: Path) -> int:
    """Seal what is stored, with no tool and no run touched; how many heads.

    Raises:
        HomeUnusable: the store cannot be opened, or another process owns its file.
    """
    store = await open_store(database_url, home, faults=no_faults, read_only=False, heard=lambda _: None)
    try:
        return await seal_heads(store, lambda: timestamp(SystemClock().now()))
    finally:
        await store.close()


async def look_at_model(settings: Settings, *, asks: bool) -> str:
    """The configured model in one line; asked for one word, if it is to be.

    Raises:
        RefusedInput: none is configured, its library is not installed, or it cannot be asked.
    """
    from condor.models import check_models

    return await check_models(settings, asks=asks)
