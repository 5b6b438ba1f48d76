"""Outside sinks: who elsewhere keeps the rows of the audit, or is told of them.

Law 1: best effort. The chain in the home is the truth and waits for no sink; a run never does.
Law 2: at least once. A batch that was not taken is sent again, whole; ``runId`` and ``seq`` tell a row that
came twice. The rows of one run come in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.ids import Json


class SinkAway(Exception):
    """A sink did not take a batch; it is offered again later."""


class AuditSink(Protocol):
    """Takes audit rows: ids, digests and words of closed sets, no record data."""

    @property
    def name(self) -> str:
        """A word of a closed set: it names the sink in metrics and its position in the home."""
        ...

    async def send(self, rows: Sequence[Mapping[str, Json]]) -> None:
        """Keep these rows; they are kept when it returns.

        Raises:
            SinkAway: they may not be; it says why, without a secret.
        """
        ...


__all__ = ["AuditSink", "SinkAway"]
