"""The parts of a unit of work while they are gathered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor.ports.encoding import encode

if TYPE_CHECKING:
    from condor.core.ids import SuspendId
    from condor.core.run import EventKind
    from condor.ports.store import Decide, StepRow, SuspensionRow

#: Name of the payload with what recovery has spent.
LEDGER = "ledger"


def decision_payload(step_id: str, attempt: int) -> str:
    """Name of the payload with what recovery decided about one attempt of a step."""
    return f"decision:{step_id}:{attempt}"


@dataclass(slots=True)
class Staging:
    """Rows to be written together; order of events and audit entries is kept."""

    steps: dict[str, StepRow] = field(default_factory=dict)
    park: list[SuspensionRow] = field(default_factory=list)
    decide: list[Decide] = field(default_factory=list)
    consume: list[SuspendId] = field(default_factory=list)
    events: list[tuple[EventKind, bytes]] = field(default_factory=list)
    audit: list[bytes] = field(default_factory=list)
    payloads: list[tuple[str, bytes]] = field(default_factory=list)

    def event(self, kind: EventKind, facts: dict[str, object]) -> None:
        """Add an event; ``None`` facts are left out."""
        self.events.append((kind, encode({key: value for key, value in facts.items() if value is not None})))

    def step(self, row: StepRow) -> None:
        """Add a step row; a later one of the same step replaces it."""
        self.steps[row.step_id] = row

    def absorb(self, later: Staging) -> None:
        """Append everything of ``later``."""
        self.steps.update(later.steps)
        self.park += later.park
        self.decide += later.decide
        self.consume += later.consume
        self.events += later.events
        self.audit += later.audit
        self.payloads += later.payloads

    def joined(self, later: Staging) -> Staging:
        """Everything of both, in this order."""
        if not self:
            return later
        return Staging(
            steps={**self.steps, **later.steps},
            park=self.park + later.park,
            decide=self.decide + later.decide,
            consume=self.consume + later.consume,
            events=self.events + later.events,
            audit=self.audit + later.audit,
            payloads=self.payloads + later.payloads,
        )

    def __bool__(self) -> bool:
        return bool(self.steps or self.events or self.audit or self.payloads or self.park or self.decide)
