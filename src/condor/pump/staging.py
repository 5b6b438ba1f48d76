"""The parts of a unit of work while they are gathered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from condor.ports.encoding import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.ids import SuspendId
    from condor.core.run import EventKind
    from condor.ports.store import Decide, StepRow, SuspensionRow

_Row = TypeVar("_Row")

#: Name of the payload with what recovery has spent.
LEDGER = "ledger"


def decision_payload(step_id: str, attempt: int) -> str:
    """Name of the payload with what recovery decided about one attempt of a step."""
    return f"decision:{step_id}:{attempt}"


@dataclass(slots=True)
class Staging:
    """Rows to be written together; order of events and audit entries is kept.

    A run stages some fifteen times and mostly a part or two of a unit, so a part is made with its first row.
    """

    #: By step id; None: no row.
    steps: dict[str, StepRow] | None = None
    park: Sequence[SuspensionRow] = ()
    decide: Sequence[Decide] = ()
    consume: Sequence[SuspendId] = ()
    events: Sequence[tuple[EventKind, bytes]] = ()
    audit: Sequence[bytes] = ()
    payloads: Sequence[tuple[str, bytes]] = ()

    def step(self, row: StepRow) -> None:
        """Add a step row; a later one of the same step replaces it."""
        if self.steps is None:
            self.steps = {row.step_id: row}
        else:
            self.steps[row.step_id] = row

    def step_rows(self) -> Sequence[StepRow]:
        """The step rows, in the order of their steps' first ones."""
        return () if self.steps is None else tuple(self.steps.values())

    def open_card(self, row: SuspensionRow) -> None:
        """Add a card that is opened."""
        self.park = _with(self.park, row)

    def close_card(self, decision: Decide) -> None:
        """Add what closes a card."""
        self.decide = _with(self.decide, decision)

    def use_up(self, approval: SuspendId) -> None:
        """Add an approval that is used up."""
        self.consume = _with(self.consume, approval)

    def event(self, kind: EventKind, facts: Mapping[str, object]) -> None:
        """Add an event; ``None`` facts are left out."""
        told = encode({key: value for key, value in facts.items() if value is not None})
        self.events = _with(self.events, (kind, told))

    def audit_row(self, entry: bytes) -> None:
        """Add an audit entry."""
        self.audit = _with(self.audit, entry)

    def payload(self, key: str, body: bytes) -> None:
        """Add a payload."""
        self.payloads = _with(self.payloads, (key, body))

    def absorb(self, later: Staging) -> None:
        """Append everything of ``later``."""
        if later.steps is not None:
            self.steps = {**(self.steps or {}), **later.steps}
        if later.park:
            self.park = _extended(self.park, later.park)
        if later.decide:
            self.decide = _extended(self.decide, later.decide)
        if later.consume:
            self.consume = _extended(self.consume, later.consume)
        if later.events:
            self.events = _extended(self.events, later.events)
        if later.audit:
            self.audit = _extended(self.audit, later.audit)
        if later.payloads:
            self.payloads = _extended(self.payloads, later.payloads)

    def joined(self, later: Staging) -> Staging:
        """Everything of both, in this order."""
        if not self:
            return later
        both = Staging()
        both.absorb(self)
        both.absorb(later)
        return both

    def __bool__(self) -> bool:
        rows = self.steps or self.events or self.audit or self.payloads
        return bool(rows or self.park or self.decide or self.consume)


def _with(rows: Sequence[_Row], row: _Row) -> list[_Row]:
    """The rows and one more, in their own list if they have one."""
    if isinstance(rows, list):
        rows.append(row)
        return rows
    return [*rows, row]


def _extended(rows: Sequence[_Row], later: Sequence[_Row]) -> Sequence[_Row]:
    """The rows and what comes later, in their own list; never in that of ``later``, which may still grow."""
    if isinstance(rows, list):
        rows += later
        return rows
    return [*rows, *later]
