"""The processes of a crash case: who runs the job and dies, and who comes after.

Each runs in a process of its own, forked by ``tests.simulation.zygote``; what it has to say it writes to the
case's ``told`` file at once, since it may not live to the next line.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from condor import Condor, Principal
from condor.config import Settings
from condor.ports.store import AuditFilter
from condor.testing import KillAt, Ledger, kill_self
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.pack import PACK
from tests.pump.desk import ANN, BOB, call, read_tool, write_tool
from tests.simulation import planted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from condor import ToolDescriptor
    from tests.simulation.cases import Case, Kill

#: R03: a medicine at a high tier, signed.
REQUEST = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI."
_MELISSA = "Patient/pt-0612cf63eb84"
#: Cards that one case can show at most: an approval, two reconciliations and what follows from them.
_CARDS_MAX = 6


class Scribe:
    """Writes what happened, line by line, past any death."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "told.jsonl"

    def say(self, what: str, **facts: Any) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, **facts}) + "\n")

    def lines(self) -> list[dict[str, Any]]:
        if not self._file.exists():
            return []
        return [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]


def faults_of(kill: Kill | None, *, armed: bool) -> KillAt | None:
    return KillAt(kill.point, kill.nth, armed=armed) if kill is not None else None


@asynccontextmanager
async def opened(case: Case, folder: Path, faults: KillAt | None) -> AsyncIterator[Condor]:
    """Condor on the case's home, with its tools."""
    home = folder / "home"
    settings = Settings(home=home)
    options: dict[str, Any] = {"faults": faults} if faults is not None else {}
    if case.kind == "hospital":
        options |= {"packs": [PACK], "demo": True}
    else:
        ledger = Ledger(folder / "ledger.db")
        options["tools"] = [read_tool(ledger), _write(case, ledger)]
    async with Condor(home=home, settings=settings, tend=False, **options) as condor:
        yield condor


def _write(case: Case, ledger: Ledger) -> ToolDescriptor:
    match case.kind:
        case "idempotent":
            return write_tool(ledger, idempotent=True)
        case "reconcilable":
            return write_tool(ledger, reconciles=True)
        case "timeout":
            return _late(write_tool(ledger, idempotent=True, timeout_s=0.1), ledger)
        case _:
            return write_tool(ledger)


def _late(tool: ToolDescriptor, ledger: Ledger) -> ToolDescriptor:
    """Its first answer in each process comes too late, after the effect."""
    body, entered = tool.function, []
    assert body is not None

    async def late(*args: Any, **kwargs: Any) -> object:
        entered.append(1)
        answer = await body(*args, **kwargs)
        if len(entered) == 1:
            await asyncio.sleep(60)
        return answer

    object.__setattr__(tool, "function", late)
    return tool


# -- the first process -----------------------------------------------------------------------


async def run_job(case: Case, folder: Path) -> None:
    """Start, park, be answered, execute, close: until the point where it dies."""
    planted.plant(case.planted)
    scribe, killer = Scribe(folder), faults_of(case.kill, armed=case.early)
    async with opened(case, folder, killer) as condor:
        run_id = await _start(case, condor)
        scribe.say("run", runId=run_id)
        shown: Any = await condor.wait(run_id)
        (card,) = [card for card in shown["suspensions"] if card["status"] == "pending"]
        scribe.say("card", suspendId=card["suspendId"])
        if case.kill is None:
            kill_self()
        assert killer is not None
        killer.arm()
        await _answer(case, condor, card, {"approved": case.answer == "approve"}, scribe)
        await condor.wait(run_id)
        await asyncio.sleep(0)


async def _start(case: Case, condor: Condor) -> str:
    if case.kind == "hospital":
        return (await condor.start(REQUEST, principal=_person(case, condor), autonomy="autonomous")).id
    steps = [
        call("r", "book.read"),
        call("w", "book.write", record="a", value="x", after=["r"]),
        call("s", "book.read", after=["w"]),
    ]
    return (await condor.start(plan={"steps": steps}, principal=ANN)).id


def _person(case: Case, condor: Condor) -> Principal:
    if case.kind != "hospital":
        return BOB
    assert condor.default_principal is not None
    return condor.default_principal


async def _answer(case: Case, condor: Condor, card: Any, data: Any, scribe: Scribe) -> None:
    said = {"suspendId": card["suspendId"], "reasonCode": card["reasonCode"], "data": data}
    scribe.say("answering", **said)
    await condor.resume(card["runId"], card["suspendId"], data, principal=_person(case, condor))
    scribe.say("answered", **said)


# -- the processes after it ------------------------------------------------------------------


async def come_after(case: Case, folder: Path, kill: Kill | None) -> None:
    """Reopen the home, answer what is still asked, and report what there is."""
    planted.plant(case.planted)
    scribe, begun = Scribe(folder), time.monotonic()
    async with opened(case, folder, faults_of(kill, armed=True)) as condor:
        run_id = await _the_run(case, condor, scribe)
        shown: Any = await condor.wait(run_id)
        scribe.say("rest", status=shown["status"], seconds=time.monotonic() - begun)
        for _ in range(_CARDS_MAX):
            cards = [card for card in shown["suspensions"] if card["status"] == "pending"]
            if not cards:
                break
            data = await _what_a_person_says(case, folder, cards[0])
            await _answer(case, condor, cards[0], data, scribe)
            shown = await condor.wait(run_id)
        scribe.say("report", **await _report(case, folder, condor, run_id))


async def _the_run(case: Case, condor: Condor, scribe: Scribe) -> str:
    """The run that was started; who was not told of it looks whether it is there, and starts it if not."""
    told = [line["runId"] for line in scribe.lines() if line["what"] == "run"]
    there = [row.run_id for row in await condor._stored().runs()]
    assert told in ([], there), f"told of {told}, and there are {there}"
    return there[0] if there else await _start(case, condor)


async def _what_a_person_says(case: Case, folder: Path, card: Any) -> dict[str, Any]:
    """Asked for approval, the same as before; asked what happened, what the record says."""
    if card["reasonCode"] == "reconcile":
        return {"happened": await _effects(case, folder) > 0, "reason": "looked at the record"}
    return {"approved": case.answer == "approve"}


async def _effects(case: Case, folder: Path) -> int:
    if case.kind != "hospital":
        return Ledger(folder / "ledger.db").count()
    async with EmbeddedFhirStore(folder / "home" / "hms" / "fhir.db") as record:
        orders = await record.search("MedicationRequest", {"patient": _MELISSA})
    return sum("itrofurantoin" in json.dumps(order) for order in orders)


async def _report(case: Case, folder: Path, condor: Condor, run_id: str) -> dict[str, Any]:
    shown: Any = await condor.show(run_id)
    store = condor._stored()
    rows = await condor.audit(AuditFilter(run_id=run_id))
    return {
        "status": shown["status"],
        "closing": shown["closing"],
        "cards": [
            {key: card[key] for key in ("suspendId", "reasonCode", "status", "generation")}
            for card in shown["suspensions"]
        ],
        "decisions": [json.loads(row.body)["decision"] for row in rows],
        "chainsKept": all([verdict.kept async for verdict in condor.verify()]),
        "seqs": [event.seq for event in await store.events(run_id, limit=10_000)],
        "effects": await _effects(case, folder),
    }
