"""Tool kernels: what an administrator lays on a tool, in the database. A kernel only tightens.

Law 1: it can raise a tier to high, narrow who may approve, and shut the requester out; it cannot lower, widen
or let in. What it would loosen is refused, and what is stored and does not fit any more fails closed.
Law 2: it changes the descriptor that the policy sees, so an approval given before does not hold after.
Law 3: a revision is never changed; each is chained to the one before by hash, with who laid it and why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from condor.core.audit import chain_hash
from condor.core.errors import RefusedInput, show
from condor.core.ids import canonical_json
from condor.core.policy import HitlTier, PolicyClass, resolve_policy_class
from condor.core.policy.descriptor import approvers_of, who_may_answer
from condor.core.run import DECIDES_NOTHING, NOBODY
from condor.ports.encoding import decode
from condor.ports.kernels import KernelRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from condor.core.ids import Json
    from condor.core.policy import ToolDescriptor
    from condor.core.run import Principal

_REASON_CHARS_MAX = 2_000
_ROLES_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolKernel:
    """What is laid on one tool; nothing of it: the tool is as its author declared it."""

    #: The tier is high, whatever is declared.
    raises_tier: bool = False
    #: Of those who may approve, only these; None: as declared.
    approver_roles: frozenset[str] | None = None
    #: Whoever asked may not approve.
    excludes_requester: bool = False

    def to_json(self) -> dict[str, Json]:
        """As in the API."""
        roles: Json = None if self.approver_roles is None else sorted(self.approver_roles)
        return {
            "hitlTier": "high" if self.raises_tier else None,
            "approverRoles": roles,
            "requesterExcluded": self.excludes_requester,
        }


NO_KERNEL = ToolKernel()


def read_kernel(given: Mapping[str, Any]) -> ToolKernel:
    """A kernel as the API takes it; what is not said is not laid.

    Raises:
        RefusedInput: not its shape; code ``kernel_loosens`` where it would loosen.
    """
    unknown = sorted(set(given) - {"hitlTier", "approverRoles", "requesterExcluded"})
    if unknown:
        raise RefusedInput(
            f"a kernel has no {show(unknown[0])}; it has hitlTier, approverRoles and requesterExcluded"
        )
    tier, roles = given.get("hitlTier"), given.get("approverRoles")
    excluded = given.get("requesterExcluded", False)
    if tier == "low":
        raise RefusedInput("a kernel cannot lower a tier; take high, or leave it out", code="kernel_loosens")
    if tier not in (None, "high"):
        raise RefusedInput(f"hitlTier is {show(tier)}; take high, or leave it out")
    if not isinstance(excluded, bool):
        raise RefusedInput(f"requesterExcluded is {show(excluded)}; take true or false")
    return ToolKernel(raises_tier=tier == "high", approver_roles=_roles(roles), excludes_requester=excluded)


def _roles(given: Any) -> frozenset[str] | None:
    if given is None:
        return None
    words = isinstance(given, list | tuple) and 0 < len(given) <= _ROLES_MAX
    if not words or not all(isinstance(role, str) and role.strip() for role in given):
        raise RefusedInput(f"approverRoles is {show(given)}; list 1 to {_ROLES_MAX} roles, or leave it out")
    return frozenset(given)


def check_tightens(tool: ToolDescriptor, kernel: ToolKernel) -> None:
    """Whether a kernel fits a tool.

    Raises:
        RefusedInput: it would loosen (``kernel_loosens``), change nothing, or leave nobody to approve.
    """
    reads = resolve_policy_class(tool.policy_class, None, tool.metadata) == PolicyClass.READ
    if reads and kernel != NO_KERNEL:
        raise RefusedInput(f"{tool.name} is a read: nothing asks for an approval of it")
    roles = kernel.approver_roles
    if roles is None:
        return
    may = who_may_answer(tool)
    if may and (wider := roles - may):
        raise RefusedInput(
            f"a kernel cannot widen who may approve: {', '.join(sorted(wider))} may not; "
            f"of {tool.name} {', '.join(sorted(may))} may",
            code="kernel_loosens",
        )
    if roles <= DECIDES_NOTHING:
        raise RefusedInput(f"nobody could approve: {', '.join(sorted(roles))} decides nothing")


def nameable_roles(tool: ToolDescriptor, tools: Iterable[ToolDescriptor]) -> frozenset[str]:
    """Roles that a kernel may let approve a tool: those that do, or, where anybody does, all that are known.

    Args:
        tool: as declared.
        tools: all there are; a role is known that one of them names.
    """
    if not approvers_of(tool).anybody:
        return approvers_of(tool).roles
    return frozenset().union(*(approvers_of(each).roles | each.roles for each in tools)) - DECIDES_NOTHING


def check_kept(
    tool: str, held: ToolKernel, kernel: ToolKernel, given: Mapping[str, Any], *, reason: str, removes: bool
) -> None:
    """Whether what is laid in place of a kernel takes something off by an oversight.

    Args:
        held: what holds now.
        kernel: what is laid in its place.
        given: as the API took it; a field that says null or false takes off on purpose.
        removes: it was said that all of it is taken off.

    Raises:
        RefusedInput: it takes off what is not named, or does not say why (``kernel_loosens``).
    """
    if removes and kernel != NO_KERNEL:
        raise RefusedInput("remove takes a kernel off whole; lay one, or remove it")
    roles = held.approver_roles
    wider = roles is not None and (kernel.approver_roles is None or not kernel.approver_roles <= roles)
    off = {
        "hitlTier": held.raises_tier and not kernel.raises_tier,
        "approverRoles": wider,
        "requesterExcluded": held.excludes_requester and not kernel.excludes_requester,
    }
    if held == SHUT and kernel != NO_KERNEL:
        return  # laid anew: what held is not known
    unsaid = [name for name in off if off[name] and name not in given and not removes]
    if unsaid:
        raise RefusedInput(
            f"{' and '.join(unsaid)} of the kernel on {tool} would be taken off, and the new one does not "
            'name it: say it as it is, say null or false, or take all off with "remove": true',
            code="kernel_loosens",
        )
    if any(off.values()) and not reason.strip():
        named = " and ".join(name for name in off if off[name])
        raise RefusedInput(
            f"{named} of the kernel on {tool} would be taken off or widened; say why (reason)",
            code="kernel_loosens",
        )


def tighten(tool: ToolDescriptor, kernel: ToolKernel) -> ToolDescriptor:
    """The tool with a kernel on it. Total: never looser than the tool, whatever the kernel says."""
    if kernel == NO_KERNEL:
        return tool
    approvers = tool.approver_roles
    if kernel.approver_roles is not None:
        may = who_may_answer(tool)
        approvers = (kernel.approver_roles & may if may else kernel.approver_roles) or NOBODY
    reads = resolve_policy_class(tool.policy_class, None, tool.metadata) == PolicyClass.READ
    return replace(
        tool,
        hitl_tier=HitlTier.HIGH if kernel.raises_tier and not reads else tool.hitl_tier,
        approver_roles=approvers,
        requester_excluded=tool.requester_excluded or kernel.excludes_requester,
    )


# -- revisions -------------------------------------------------------------------------------


def next_revision(
    rows: Sequence[KernelRow], tool: str, kernel: ToolKernel, *, by: Principal, at: str, reason: str
) -> KernelRow:
    """The revision that follows the last one of a tool.

    Args:
        rows: every revision there is.
    """
    if len(reason) > _REASON_CHARS_MAX:
        raise RefusedInput(f"the reason has {len(reason)} characters; at most {_REASON_CHARS_MAX}")
    before = [row for row in rows if row.tool == tool]
    rev = 1 + len(before)
    prev = before[-1].hash if before else ""
    body = canonical_json(
        {"tool": tool, "rev": rev, "at": at, "by": by.id, "reason": reason, "kernel": kernel.to_json()}
    )
    return KernelRow(tool=tool, rev=rev, body=body, prev_hash=prev, hash=chain_hash(prev, rev, body))


def in_force(rows: Iterable[KernelRow]) -> dict[str, ToolKernel]:
    """The last revision of each tool; one that cannot be read, or is not chained, shuts the tool."""
    found: dict[str, ToolKernel] = {}
    heads: dict[str, str] = {}
    for row in rows:
        whole = row.prev_hash == heads.get(row.tool, "") and row.hash == chain_hash(
            row.prev_hash, row.rev, row.body
        )
        heads[row.tool] = row.hash
        broken = row.tool in found and found[row.tool].approver_roles == NOBODY
        found[row.tool] = _read_stored(row) if whole and not broken else SHUT
    return found


#: What stands where a stored kernel was tampered with, or is gone.
SHUT = ToolKernel(raises_tier=True, approver_roles=NOBODY, excludes_requester=True)


def _read_stored(row: KernelRow) -> ToolKernel:
    try:
        return read_kernel(decode(row.body)["kernel"])
    except (RefusedInput, ValueError, KeyError, TypeError):
        return SHUT


def revision_json(row: KernelRow) -> dict[str, Json]:
    """A revision as the API tells it."""
    said: dict[str, Json] = dict(decode(row.body))
    return {**said, "prevHash": row.prev_hash, "hash": row.hash}
