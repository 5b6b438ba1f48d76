"""The store: runs, steps, suspensions, events, payloads and audit rows.

Durability promise: ``commit`` returns only after the unit is on disk (SQLite ``synchronous=FULL``:
after the WAL was fsynced). Units that are ready together may share one disk commit; each is checked whole
before it writes, so one that loses leaves no trace; a disk error fails every unit of the group, and none
was acknowledged.

Law 1: a unit of work is *data*. It says what it expects (compare-and-set), and what it changes; a
store interprets it in one transaction. There is no transaction with an ``await`` inside.
Law 2: sequence numbers and the audit chain are given by the store inside that transaction, never
by the caller, so that two writers of one run cannot fork them.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, Protocol

from condor.core.ids import DEFAULT_TENANT, RunId, SessionId, StepId, SuspendId, TenantId
from condor.core.values import dataclass
from condor.ports.audit import AuditChain as AuditChain  # noqa: TC001 - users of the port find
from condor.ports.audit import AuditFilter as AuditFilter  # noqa: TC001 - what it is made of here
from condor.ports.audit import AuditRow as AuditRow  # noqa: TC001 - as above
from condor.ports.audit import CardMark as CardMark
from condor.ports.audit import RunHead as RunHead  # noqa: TC001 - as above
from condor.ports.audit import SealRow as SealRow  # noqa: TC001 - as above
from condor.ports.audit import Unsealed as Unsealed  # noqa: TC001 - as above
from condor.ports.cards import EVERY_CARD as EVERY_CARD
from condor.ports.cards import OPEN_CARDS as OPEN_CARDS
from condor.ports.cards import CardFilter as CardFilter
from condor.ports.cards import CardOrder as CardOrder
from condor.ports.cards import Decide as Decide
from condor.ports.cards import SuspensionRow as SuspensionRow
from condor.ports.cards import SuspensionStatus as SuspensionStatus
from condor.ports.jobs import Backlog as Backlog  # noqa: TC001 - users of the port find it here
from condor.ports.jobs import Holder as Holder  # noqa: TC001 - as above
from condor.ports.kernels import KernelRow as KernelRow  # noqa: TC001 - users of the port find it here
from condor.ports.tokens import TokenKind as TokenKind  # noqa: TC001 - users of the port find it here
from condor.ports.tokens import TokenRow as TokenRow  # noqa: TC001 - as above

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from condor.core.outcome import StepStatus
    from condor.core.run import EventKind, RunStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run as stored."""

    run_id: RunId
    tenant_id: TenantId
    session_id: SessionId
    status: RunStatus
    #: Raised by every segment; a unit of an older segment is refused.
    epoch: int
    #: Raised by every unit, and by an erasure of payloads.
    rev: int
    #: Sequence number of the last event.
    seq: int
    #: Number of answers (and stops) recorded; a segment that has not seen them all cannot rest.
    answers: int
    #: Sequence number and hash of the last audit row; ``""`` before the first.
    audit_seq: int
    audit_head: str
    #: Principal that asked, as JSON: ``{"id", "roles", "kind", "display"}``.
    requester: bytes
    autonomy: str
    #: Why the run is being stopped, as JSON, or None.
    halt: bytes | None
    created_at: str
    updated_at: str
    #: Milliseconds that segments worked on it; parked time and downtime are no work.
    worked_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClaim:
    """The name that a caller gave a request, so that the same one, sent again, makes nothing new."""

    principal_id: str
    #: The caller's own word (``Idempotency-Key``); of another principal it is another.
    key: str
    #: Of what was asked, so that another request under the same key is noticed.
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A key that a run was created under."""

    run_id: RunId
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """What a creating unit inserts."""

    session_id: SessionId
    status: RunStatus
    requester: bytes
    autonomy: str
    #: Inserted with the run; a key that is taken is a conflict, so that it makes one run.
    claim: RequestClaim | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One step as stored; its value, message and arguments are payloads."""

    step_id: StepId
    status: StepStatus
    attempt: int = 1
    #: Idempotency key, minted once; None until an effect is journalled.
    key: str | None = None
    #: Stable word for why it did not succeed.
    code: str = ""

    def moved(self, status: StepStatus, *, code: str | None = None) -> StepRow:
        """The row in another status; its own code stays unless one is given. Faster than ``replace``."""
        kept = self.code if code is None else code
        return StepRow(step_id=self.step_id, status=status, attempt=self.attempt, key=self.key, code=kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What must hold of the run, else nothing of the unit happens; None is not looked at."""

    statuses: frozenset[RunStatus] | None = None
    epoch: int | None = None
    answers: int | None = None
    rev: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One unit of work on one run."""

    run_id: RunId
    tenant_id: TenantId = DEFAULT_TENANT
    #: RFC 3339; the store uses the later of this and the latest it has ever seen for expiry.
    at: str
    #: Set exactly for the unit that creates the run.
    create: NewRun | None = None
    expect: Expect = field(default_factory=Expect)
    status: RunStatus | None = None
    #: Begin a new segment: epoch + 1.
    raise_epoch: bool = False
    #: Record an answer: answers + 1.
    count_answer: bool = False
    #: Nobody works on the run from here on: a job for it is queued in the same transaction, for whichever
    #: worker takes it. A store that one process owns has no workers, and refuses the unit as a bug of ours.
    hand_over: bool = False
    halt: bytes | None = None
    #: Milliseconds that were worked on the run so far; a smaller figure than the stored one changes nothing.
    worked_ms: int = 0
    #: Inserted or replaced by (run, step).
    steps: Sequence[StepRow] = ()
    #: Inserted; a pending one with the same id is a conflict.
    park: Sequence[SuspensionRow] = ()
    decide: Sequence[Decide] = ()
    #: Approvals used up by this unit: a compare-and-set on approved and not consumed.
    consume: Sequence[SuspendId] = ()
    #: ``(kind, facts as JSON bytes)``; numbered by the store.
    events: Sequence[tuple[EventKind, bytes]] = ()
    #: Canonical JSON bytes of each entry without seq, prevHash and hash; chained by the store.
    audit: Sequence[bytes] = ()
    #: ``(key, JSON bytes)``, inserted or replaced by (run, key).
    payloads: Sequence[tuple[str, bytes]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The unit is on disk."""

    #: First and last sequence number of its events; ``(0, 0)`` without events.
    first_seq: int
    last_seq: int
    rev: int
    epoch: int
    answers: int


ConflictKind = Literal[
    "exists", "missing", "status", "epoch", "answers", "rev", "decided", "expired", "consumed", "claimed"
]


class Conflict(Exception):
    """The expectation did not hold; nothing of the unit happened."""

    def __init__(
        self,
        kind: ConflictKind,
        *,
        run: RunRow | None,
        suspension: SuspensionRow | None = None,
        claimed: Claimed | None = None,
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        #: What the key was taken for.
        self.claimed = claimed
        #: The run as it is now; None when it is missing.
        self.run = run
        #: The suspension that was in the way, as it is now.
        self.suspension = suspension


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run with everything a segment needs."""

    run: RunRow
    steps: Sequence[StepRow]
    suspensions: Sequence[SuspensionRow]
    payloads: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """One event as stored."""

    seq: int
    kind: EventKind
    at: str
    facts: bytes


class Store(Protocol):
    """Any store; ``condor.testing.store_conformance`` is its definition."""

    async def commit(self, unit: Transition) -> Committed:
        """Make one unit durable.

        Raises:
            Conflict: an expectation did not hold; nothing happened.
            StoreUnavailable: the disk refused; nothing happened.
        """
        ...

    async def load(self, run_id: str) -> StoredRun | None:
        """Everything a segment needs, as of one moment."""
        ...

    async def run(self, run_id: str) -> RunRow | None:
        """One run row."""
        ...

    async def suspension(self, suspend_id: str) -> SuspensionRow | None:
        """One suspension."""
        ...

    async def suspensions(
        self,
        wanted: CardFilter = EVERY_CARD,
        *,
        order: CardOrder = "oldest",
        limit: int = 50,
        after: str = "",
    ) -> Sequence[SuspensionRow]:
        """Suspensions as they were opened; ``after`` is the last ``suspend_id`` of the page before.

        A page of open ones (``status="pending"``) costs the same however many are open.
        """
        ...

    async def runs(
        self, *, statuses: Iterable[RunStatus] | None = None, limit: int = 50, before: str = ""
    ) -> Sequence[RunRow]:
        """Runs, newest first; ``before`` is the last ``run_id`` of the page before."""
        ...

    async def runs_of_session(
        self, session_id: str, *, limit: int = 50, before: str = ""
    ) -> Sequence[RunRow]:
        """A session's runs, newest first; a page costs the same however many other runs there are."""
        ...

    async def last_of_session(self, session_id: str) -> RunRow | None:
        """The newest run of a session."""
        ...

    async def claimed(self, principal_id: str, key: str) -> Claimed | None:
        """The run that a key of this principal was used for."""
        ...

    async def add_token(self, row: TokenRow) -> None:
        """Keep a new token; durable when it returns. Those that expired before it was made are removed.

        Raises:
            StoreUnavailable: nothing happened.
        """
        ...

    async def token(self, token_hash: str) -> TokenRow | None:
        """The token of a hash, whether or not it still counts."""
        ...

    async def tokens(self, kind: TokenKind) -> Sequence[TokenRow]:
        """Every token of a kind that is there, oldest first."""
        ...

    async def revoke_token(self, token_id: str, at: str) -> bool:
        """End a token now; durable when it returns. False where it is unknown or revoked already."""
        ...

    async def add_kernel(self, row: KernelRow) -> bool:
        """Keep the next revision of a tool's kernel; durable when it returns.

        False where another revision of that number is there, or the one before is not; nothing happened.
        """
        ...

    async def kernels(self) -> Sequence[KernelRow]:
        """Every revision of every tool's kernel, by tool and revision."""
        ...

    async def unfinished(self) -> Sequence[RunId]:
        """Runs that were created, planning or executing, and that no other process works on."""
        ...

    async def orphaned(self) -> Sequence[RunId]:
        """Those whose process is gone while others live, and those whose job is lost; of a file, none."""
        ...

    async def offered(self, run_id: str) -> tuple[StoredRun | None, Holder]:
        """A run with everything a segment needs, and who has it, as of one moment."""
        ...

    async def backlog(self) -> Backlog:
        """What waits for workers, and how many live; of a file, nothing and none."""
        ...

    async def due(self, at: str, limit: int = 100) -> Sequence[SuspensionRow]:
        """Pending suspensions whose ``expires_at`` is not after ``at`` (or the latest time seen)."""
        ...

    async def idle(self, before: str, *, limit: int = 100) -> Sequence[RunId]:
        """Suspended runs without an open card that nothing has changed since ``before``, oldest first."""
        ...

    async def events(self, run_id: str, *, after: int = 0, limit: int = 1_000) -> Sequence[StoredEvent]:
        """Events with a sequence number above ``after``, in order."""
        ...

    async def payloads(self, run_id: str, keys: Sequence[str]) -> Mapping[str, bytes]:
        """The payloads that are there (an erased one is not)."""
        ...

    async def audit(
        self, wanted: AuditFilter, *, limit: int = 1_000, after: tuple[str, int] = ("", 0)
    ) -> Sequence[AuditRow]:
        """Audit rows by run and sequence; ``after`` is (run_id, seq) of the last row of the page before."""
        ...

    def audit_chains(self, run_id: str | None = None) -> AsyncIterator[AuditChain]:
        """Every run's chain, in run order; a run without rows too, and rows without a run."""
        ...

    async def unsealed(self, limit: int) -> Unsealed:
        """Up to ``limit`` runs with audit rows that no seal holds, and the last seal, as of one moment."""
        ...

    async def add_seal(self, row: SealRow, heads: Sequence[RunHead]) -> bool:
        """Keep the next seal, and note its heads as sealed, in one transaction; durable when it returns.

        False where another seal of that number is there, or the one before is not; nothing happened.
        """
        ...

    def seals(self, *, after: int = 0) -> AsyncIterator[SealRow]:
        """The tenant's seals with a number above ``after``, in their order."""
        ...

    async def check_writable(self) -> None:
        """Whether units can be committed now; nothing is changed.

        Raises:
            StoreUnavailable: they cannot.
        """
        ...

    async def erase_payloads(self, run_id: str) -> int:
        """Empty the payloads of a run; history, cards' digests and the chain stay. How many there were.

        Where there were any, the run is at another revision: nobody goes on from what they remember.
        """
        ...

    async def close(self) -> None:
        """Finish what was handed in, then close."""
        ...
