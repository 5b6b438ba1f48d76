"""What the doctor looks at inside a home: the checks of docs/troubleshooting.md that need no argument.

Law: each check is the answer to one command that a person could type, named with it; a test holds the two
together. Reading only, and never more than the newest thousand of anything.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from condor.cli.check import Check, note, ok, problem, warning
from condor.cli.coroutines import run_to_end
from condor.cli.owner import GOES_ON
from condor.cli.session import looking_at_packs, reading
from condor.cli.values import count
from condor.core.errors import CondorError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from condor.bootstrap import Condor
    from condor.cli.home import Place
    from condor.core.audit import ChainVerdict
    from condor.core.ids import Json
    from condor.ports.jobs import Backlog
    from condor.runtime.delivering import SinkPosition
    from condor.tools import ToolDescriptor
    from condor.tools.replay_files import RecordedCall

#: Cards, runs and rows looked at; the doctor says "or more" beyond.
LOOKED_AT_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one look into a home found."""

    #: Open cards as ``condor pending`` lists them.
    cards: Sequence[Mapping[str, object]]
    #: Parked runs that no open card holds.
    uncarded: Sequence[str]
    #: Runs at work by their status.
    at_work: Sequence[str]
    verdicts: Sequence[ChainVerdict]
    #: What an ended run left approved and never ran.
    unused: Sequence[str]
    #: Decision or rule → how many rows of the audit.
    rows: Mapping[str, int]
    calls: Sequence[RecordedCall]
    #: None: the packs cannot be opened here.
    tools: Sequence[ToolDescriptor] | None
    #: What is laid on tools.
    kernels: Sequence[Mapping[str, Json]]
    is_owned: bool
    #: What waits for workers.
    backlog: Backlog
    #: Outside sinks by name, and how far each is.
    sinks: Mapping[str, SinkPosition]
    #: Number of the last seal.
    seals: int


def look_into(place: Place, *, is_owned: bool) -> Iterator[Check]:
    """Every check of a home, in the order of the table below."""
    try:
        found = run_to_end(_found(place, is_owned=is_owned))
    except CondorError as error:
        yield problem("database", str(error))
        return
    for look in dict.fromkeys((*LOOKS.values(), _approvals, _workers, _sinks)):
        yield from look(found)


async def _found(place: Place, *, is_owned: bool) -> Found:
    async with reading(place) as condor:
        store = condor.store
        return Found(
            cards=await condor.pending(limit=LOOKED_AT_MAX),
            uncarded=[str(run) for run in await store.idle(_now(condor), limit=LOOKED_AT_MAX)],
            at_work=[str(run) for run in await store.unfinished()],
            verdicts=[verdict async for verdict in condor.verify()],
            unused=await _unused(condor),
            rows={word: await _rows(condor, word) for word in _COUNTED},
            calls=await _calls(condor),
            tools=await _tools(place),
            kernels=await condor.kernels.all(),
            is_owned=is_owned,
            backlog=await store.backlog(),
            sinks=_positions(place),
            seals=(await store.unsealed(1)).last_seq,
        )


def _now(condor: Condor) -> str:
    from condor.ports.clock import timestamp

    return timestamp(condor.clock.now())


async def _unused(condor: Condor) -> list[str]:
    from condor.core.run import TERMINAL
    from condor.core.suspend import Origin
    from condor.ports.store import CardFilter

    wanted = CardFilter(status="approved", origin=Origin.TOOL_POLICY)
    approved = await condor.store.suspensions(wanted, order="newest", limit=LOOKED_AT_MAX)
    found = []
    for card in approved:
        if not card.consumed:
            run = await condor.store.run(card.run_id)
            if run is not None and run.status in TERMINAL:
                found.append(f"{card.run_id}/{card.step_id}")
    return found


async def _rows(condor: Condor, word: str) -> int:
    from condor.ports.store import AuditFilter

    wanted = AuditFilter(rule_id=word) if "." in word else AuditFilter(decision=word)
    return len(await condor.audit(wanted, limit=LOOKED_AT_MAX))


async def _calls(condor: Condor) -> list[RecordedCall]:
    from condor.runtime.recorded import recorded_calls

    calls: list[RecordedCall] = []
    async for call in recorded_calls(condor.store):
        calls.append(call)
        if len(calls) == LOOKED_AT_MAX:
            break
    return calls


def _positions(place: Place) -> Mapping[str, SinkPosition]:
    from condor.config import read_settings
    from condor.runtime.delivering import position_file, read_position
    from condor.sinks import sinks_of

    try:
        sinks = sinks_of(read_settings())
    except CondorError:
        return {}  # what is wrong with the settings has its own line
    return {sink.name: read_position(position_file(place.path, sink.name)) for sink in sinks}


async def _tools(place: Place) -> Sequence[ToolDescriptor] | None:
    if not place.packs:
        return None
    try:
        async with looking_at_packs(place) as looked_at:
            return list(looked_at.tools)
    except CondorError:
        return None  # what is wrong with the packs has its own line


# -- the looks -------------------------------------------------------------------------------


def _cards(found: Found) -> Iterator[Check]:
    """No parked run without a card, no step with two."""
    of_step = Counter((card["runId"], card["stepId"]) for card in found.cards)
    doubled = [f"{run}/{step}" for (run, step), cards in of_step.items() if cards > 1]
    for at in doubled:
        yield problem("cards", f"step {at} has more than one open card; please report it with the run id")
    for run in found.uncarded:
        yield problem("cards", f"{run} is parked and has no card to answer; `condor sweep` ends it")
    if not doubled and not found.uncarded:
        yield ok("cards", f"{_many(len(found.cards))} open, one a step; every parked run has one")


def _kinds(found: Found) -> Iterator[Check]:
    kinds = Counter(str(card["reasonCode"]) for card in found.cards)
    if kinds["reconcile"]:
        waits = count(kinds["reconcile"], "outcome")
        yield warning("unknown", f"{waits} that nobody knows; see `condor pending --kind reconcile`")
    if kinds["clarification"]:
        forms = count(kinds["clarification"], "form")
        yield note("forms", f"{forms} to fill in; see `condor pending --kind clarification`")
    edits = sum(card["origin"] == "plan_mutation" for card in found.cards)
    if edits:
        yield note("edits", f"{edits} of plans wait; see `condor pending --origin plan_mutation`")


def _interrupted(found: Found) -> Iterator[Check]:
    if not found.is_owned:
        yield from (warning("run", f"{run} was interrupted; {GOES_ON}") for run in found.at_work)


def _approvals(found: Found) -> Iterator[Check]:
    for at in islice(found.unused, 5):
        yield note("approval", f"{at} was approved and its run ended before it ran; see its closing")


def _workers(found: Found) -> Iterator[Check]:
    """Runs that were handed over have somebody to take them."""
    backlog = found.backlog
    waits = f"{count(backlog.waiting, 'run')} {'waits' if backlog.waiting == 1 else 'wait'}"
    if backlog.waiting and not backlog.workers:
        longest = f"the first for {backlog.oldest_s:.0f} s"
        yield problem("workers", f"{waits} for a worker, {longest}, and none is there; start `condor worker`")
    elif backlog.workers:
        yield ok("workers", f"{count(backlog.workers, 'worker')}; {waits} for one")


def _sinks(found: Found) -> Iterator[Check]:
    """Whether outside sinks take the audit, and how far they are behind it."""
    for name, position in found.sinks.items():
        behind = found.seals - position.seal
        said = f"{name} has all up to seal {position.seal} of {found.seals}"
        if position.away:
            yield warning("sinks", f"{said}; it is away ({position.away}) and gets the rest when it is back")
        elif behind > 0:
            yield note("sinks", f"{said}; a server, or any longer command, sends the rest")
        else:
            yield ok("sinks", said)


def _chains(found: Found) -> Iterator[Check]:
    bad = [verdict for verdict in found.verdicts if not verdict.kept]
    for verdict in bad:
        yield problem("audit", verdict.message)
    if not bad:
        rows = count(sum(verdict.rows for verdict in found.verdicts), "row")
        yield ok("audit", f"{count(len(found.verdicts), 'chain')}, {rows}, unbroken")


def _fail_closed(found: Found) -> Iterator[Check]:
    rows = found.rows["unknown.fail-closed"]
    if rows:
        yield warning("policy", f"{_many(rows)} calls of no known class were asked about; mend their tools")


def _ends(found: Found) -> Iterator[Check]:
    for word, what in (("expired", "cards expired"), ("stopped", "stops"), ("corrected", "corrections")):
        if found.rows[word]:
            yield note(word, f"{_many(found.rows[word])} {what}; see `condor audit --decision {word}`")


def _declared(found: Found) -> Iterator[Check]:
    from condor.tools.lint import lint_tools

    if found.tools is None:
        return
    errors = [finding for finding in lint_tools(found.tools) if finding.level == "error"]
    said = f"{count(len(found.tools), 'tool')}, {count(len(errors), 'error')} in their descriptors"
    yield warning("tools", f"{said}; see `condor tools check`") if errors else ok("tools", said)


def _laid(found: Found) -> Iterator[Check]:
    """No kernel is lost, and none is laid on a tool that is not there."""
    from condor.tools.lint import lint_kernels

    names = None if found.tools is None else [tool.name for tool in found.tools]
    findings = lint_kernels(names, found.kernels)
    for finding in findings:
        tell = problem if finding.level == "error" else warning
        yield tell("kernels", f"{finding.tool}: {finding.message}")
    if found.kernels and not findings:
        yield ok("kernels", f"{count(len(found.kernels), 'tool')} with one; see `condor tools kernel list`")


def _replayed(found: Found) -> Iterator[Check]:
    from condor.tools.replay import replay_calls

    if found.tools is None:
        return
    replay = replay_calls(found.calls, found.tools)
    looser = replay.marked("looser") + replay.marked("gone")
    said = f"{_many(replay.calls)} recorded calls judged by the tools of now"
    if looser:
        yield warning("replay", f"{said}: {looser} looser or gone; see `condor replay`")
    else:
        yield ok("replay", f"{said}, none looser")


def _many(number: int) -> str:
    return f"{number}{' or more' if number >= LOOKED_AT_MAX else ''}"


#: The command whose answer a look is → the look, in the order in which a person would look.
LOOKS: Final[Mapping[str, Callable[[Found], Iterator[Check]]]] = {
    "condor pending": _cards,
    "condor pending --kind clarification": _kinds,
    "condor pending --kind reconcile": _kinds,
    "condor pending --origin plan_mutation": _kinds,
    "condor runs": _interrupted,
    "condor audit --decision expired": _ends,
    "condor audit --decision stopped": _ends,
    "condor audit --decision corrected": _ends,
    "condor audit --rule unknown.fail-closed": _fail_closed,
    "condor audit verify": _chains,
    "condor tools check": _declared,
    "condor tools list": _declared,
    "condor tools kernel list": _laid,
    "condor replay": _replayed,
}
_COUNTED: Final = ("expired", "stopped", "corrected", "unknown.fail-closed")

__all__ = ["LOOKED_AT_MAX", "LOOKS", "Found", "look_into"]
