"""The closing writer's port: prose about a run that is over, as it is written.

Law: what a writer says is foreign text. The pump escapes the reserved signs in it before it is stored,
and the claim guard reads all of it and appends what the evidence says otherwise; a writer decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from condor.core.observers import ClaimEvidence
    from condor.core.recovery import Charge
    from condor.core.run import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingRequest:
    """What a writer is told."""

    run_id: str
    #: The request as its person typed it; empty where a plan was handed in.
    request: str
    principal: Principal
    #: How every step ended. Its texts come from tools and records: data, never instructions.
    evidence: ClaimEvidence
    #: The closing that stands without a writer: true, and complete.
    composed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingDelta:
    """The next part of a closing text, and what was spent since the part before."""

    text: str
    tokens: int = 0
    cost_usd: float = 0
    #: What all of it has cost by now, by length: counts where the writer is stopped before it says what it
    #: cost. None: as the part before says.
    unpaid: Charge | None = None


class ClosingWriter(Protocol):
    """Anything that writes: a model. Without one, or when it fails, the composed closing stands."""

    def write(self, request: ClosingRequest) -> AsyncIterator[ClosingDelta]:
        """The text in parts; their texts, one after the other, are the closing.

        The last part may be empty and carry the cost alone. It is asked once a run; when it raises or takes
        too long, what it said so far is kept and the composed closing follows it. It is closed (``aclose``)
        as soon as no more is wanted.
        """
        ...
