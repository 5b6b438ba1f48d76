"""What a pack serves beside its tools, to read: a path of its own on the server, and a run in another form.

Law 1: who asks is found by the server, as for every route; a mount is asked for signed-in principals alone.
Law 2: a mount and a view are handed values, never a connection, a store or a verb: they have nothing to write
with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.run import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class MountRequest:
    """One request below a mount's path."""

    #: As sent: ``GET``.
    method: str
    #: Below the mount, decoded, without a slash at its beginning: ``Patient/pt-1``.
    path: str
    #: The query as sent, without the question mark.
    query: str
    #: A form that was posted, as sent; empty where none was.
    form: str = ""
    #: By lower-case name.
    headers: Mapping[str, str] = field(default_factory=dict)
    principal: Principal
    #: Address of the mount as this caller reaches it, without a slash at its end.
    base_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MountAnswer:
    """What is sent back."""

    status: int
    body: bytes = b""
    #: By lower-case name; ``content-type`` among them where there is a body.
    headers: Mapping[str, str] = field(default_factory=dict)


class Mount(Protocol):
    """A read-only interface at a path of the server, for other software."""

    #: One segment: ``/fhir``.
    path: str
    #: Names of its queries that would be taken for a secret elsewhere, and are none here: ``code``.
    query_names: frozenset[str]

    async def answer(self, request: MountRequest) -> MountAnswer:
        """Answer one request; total, whatever its path, query and method are."""
        ...

    def refusal(self, status: int, message: str) -> MountAnswer:
        """What the server itself refuses (no sign-in, no scope, an error of ours), in the mount's form."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Everything of a run that whoever may read it is shown; secrets are masked."""

    #: As ``GET /api/runs/{runId}``.
    snapshot: Mapping[str, Any]
    #: Its audit rows in order, as ``GET /api/audit?runId=``.
    audit: Sequence[Mapping[str, Any]]
    #: Idempotency key by step, of steps that were journalled.
    keys: Mapping[str, str]
    #: Roles by principal, as they were when each asked or answered.
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)


class RunView(Protocol):
    """A run in another form, made from its record: nothing is decided or kept by it."""

    #: Its name in addresses and commands: ``fhir``.
    form: str
    media_type: str

    async def render(self, run: RunRecord) -> bytes:
        """The same bytes for the same record.

        Raises:
            CondorError: what it is made from beside the run cannot be read now.
        """
        ...


__all__ = ["Mount", "MountAnswer", "MountRequest", "RunRecord", "RunView"]
