"""Cases of the crash suite: which tool, where the process dies, what a person says, and what is right.

A case is data. Three processes act on it: one runs the main job and dies at a named point, one (or two, if
it dies again) reopens the home, plays the person who is still there, and reports; ``complaints`` judges.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from condor.ports.faults import FAULT_POINTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: How the effect can be found out about after a crash.
Kind = Literal["idempotent", "reconcilable", "plain", "timeout", "hospital"]

LEDGER_KINDS: tuple[Kind, ...] = ("plain", "reconcilable", "idempotent")

#: Points that a run passes more than once between the answer and its end.
OFTEN = ("writer.before-commit", "writer.after-commit", "unit.acknowledged")
#: Passings of those: the answer, the intent, the outcome with what follows.
PASSINGS = 3
#: Seconds from a restart to the next rest.
REST_S_MAX = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Where a process dies."""

    point: str
    nth: int = 1

    def __str__(self) -> str:
        return self.point if self.nth == 1 else f"{self.point}#{self.nth}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case."""

    kind: Kind
    #: Where the first process dies; None: it dies parked, before anybody has answered.
    kill: Kill | None
    #: Where the second one dies, if it comes there.
    again: Kill | None = None
    answer: Literal["approve", "deny"] = "approve"
    #: The first process dies on the way from the start to the card, before there is anything to answer.
    early: bool = False
    #: A bug of ours, planted in every process of the case; empty: none.
    planted: str = ""

    def __str__(self) -> str:
        again = f"then {self.again}" if self.again else ""
        early = "early" if self.early else ""
        parts = (self.kind, early, str(self.kill or "parked"), again, self.answer, self.planted)
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the processes of a case said."""

    #: Lines of all processes, in order: ``{"what": …}``.
    lines: Sequence[dict[str, Any]]
    #: How each process ended: ``killed`` or ``done``.
    ends: Sequence[str] = field(default_factory=tuple)

    def all(self, what: str) -> list[dict[str, Any]]:
        """Lines of one kind."""
        return [line for line in self.lines if line["what"] == what]


def complaints(case: Case, told: Told) -> Iterator[str]:
    """Everything that is not as it must be."""
    report = told.all("report")[-1]
    approved = case.answer == "approve"
    if report["status"] != ("succeeded" if approved else "aborted"):
        yield f"the run ended {report['status']}: {report['closing']}"
    if report["effects"] != (1 if approved else 0):
        yield f"{report['effects']} effects are on record"
    if not report["chainsKept"]:
        yield "the audit chain is broken"
    if report["seqs"] != list(range(1, len(report["seqs"]) + 1)):
        yield f"events are numbered {report['seqs']}"
    for rest in told.all("rest"):
        if rest["seconds"] > REST_S_MAX:
            yield f"{rest['seconds']:.1f} s until it rested"
    yield from _asked(case, told, report)
    yield from _acknowledged(case, told, report)


def _asked(case: Case, told: Told, report: dict[str, Any]) -> Iterator[str]:
    """Nobody is asked the same thing twice; a person finds out only where nothing else can."""
    approvals = [card for card in report["cards"] if card["reasonCode"] == "approval"]
    reconciles = [card for card in report["cards"] if card["reasonCode"] == "reconcile"]
    # An answer counts that was stored, although its process died before it could say so.
    stored = {card["suspendId"] for card in reconciles if card["status"] == "answered"}
    said_no = {
        line["suspendId"] for line in told.all("answering") if line["data"].get("happened") is False
    } & stored
    if len(approvals) != 1 + len(said_no):
        yield f"{len(approvals)} approvals were asked for"
    # An effect is entered three times at most; who is killed twice and late as well uses them up.
    exhausted = case.kind == "timeout" and case.again is not None
    if reconciles and case.kind != "plain" and not exhausted:
        yield "a person was asked what the tool could have told"
    if len(reconciles) > 2:
        yield f"{len(reconciles)} reconciliations were asked for"
    if report["decisions"].count("approved" if case.answer == "approve" else "denied") != len(approvals):
        yield f"the audit says {report['decisions']}"
    shown = told.all("card")
    if shown and shown[0]["suspendId"] != approvals[0]["suspendId"]:
        yield "the card that was shown is not the card that there is"


def _acknowledged(case: Case, told: Told, report: dict[str, Any]) -> Iterator[str]:
    """What a person was told is done is never asked of them again."""
    taken: set[str] = set()
    for line in told.lines:
        if line["what"] == "answered":
            taken.add(line["suspendId"])
        if line["what"] == "answering" and line["suspendId"] in taken:
            yield f"{line['suspendId']} was asked again after it was answered"


def one_of_each() -> Iterator[Case]:
    """The sixty of every test run: each point with the hospital's record, the rest with the ledger."""
    for kill in all_kills():
        yield Case(kind="hospital", kill=kill)
    for kind in LEDGER_KINDS:
        for point in ("answer.committed", "intent.committed", "tool.entered", "fhir.before-commit"):
            yield Case(kind=kind, kill=Kill(point=point))
        for point in ("fhir.after-commit", "tool.returned", "outcome.staged"):
            yield Case(kind=kind, kill=Kill(point=point))
        yield Case(kind=kind, kill=Kill(point="fhir.after-commit"), again=Kill(point="segment.begun"))
    yield from _doubles()
    yield from _denials()
    yield from _early()
    yield Case(kind="hospital", kill=None)
    yield Case(kind="plain", kill=None)
    yield Case(kind="timeout", kill=Kill(point="intent.committed"))
    yield Case(kind="timeout", kill=Kill(point="tool.returned"))


def _doubles() -> Iterator[Case]:
    """Killed, and killed again while recovering."""
    first = Kill(point="fhir.after-commit")
    yield Case(kind="hospital", kill=first, again=Kill(point="writer.before-commit"))
    yield Case(kind="hospital", kill=Kill(point="intent.committed"), again=Kill(point="fhir.after-commit"))
    yield Case(kind="reconcilable", kill=first, again=Kill(point="writer.before-commit", nth=2))
    yield Case(kind="plain", kill=first, again=Kill(point="writer.after-commit", nth=2))
    yield Case(kind="idempotent", kill=Kill(point="tool.entered"), again=Kill(point="tool.returned"))


def _denials() -> Iterator[Case]:
    for point in ("answer.checked", "writer.before-commit", "writer.after-commit", "answer.committed"):
        yield Case(kind="hospital", kill=Kill(point=point), answer="deny")
    yield Case(kind="idempotent", kill=Kill(point="unit.acknowledged"), answer="deny")


def _early() -> Iterator[Case]:
    """Killed while the run is started, reads and parks: what was not acknowledged may be there or not."""
    for point in OFTEN:
        for nth in (1, 2):
            yield Case(kind="plain", kill=Kill(point=point, nth=nth), early=True)
    yield Case(kind="plain", kill=Kill(point="segment.begun"), early=True)
    yield Case(kind="hospital", kill=Kill(point="tool.entered", nth=2), early=True)


def all_kills() -> Iterator[Kill]:
    """Every point, and those that are passed often at each passing."""
    for point in FAULT_POINTS:
        for nth in range(1, PASSINGS + 1 if point in OFTEN else 2):
            yield Kill(point=point, nth=nth)


def by_chance(seed: int) -> Case:
    """A case that the seed decides."""
    chance = random.Random(seed)
    kills = list(all_kills())
    kinds: list[Kind] = ["idempotent", "reconcilable", "plain", "timeout", "hospital"]
    return Case(
        kind=chance.choice(kinds),
        kill=chance.choice([None, *kills * 2]),
        again=chance.choice([None, None, *kills]),
        answer="deny" if chance.random() < 0.2 else "approve",
    )
