"""Tool kernels as the store keeps them: one row a revision, never changed, chained by hash."""

from __future__ import annotations

from dataclasses import dataclass

from condor.core.ids import DEFAULT_TENANT, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRow:
    """One revision of what an administrator laid on a tool."""

    tenant_id: TenantId = DEFAULT_TENANT
    tool: str
    #: 1, 2, 3 … within the tool.
    rev: int
    #: Canonical JSON: what is laid on it, who did so, when and why.
    body: bytes
    #: Of the revision before; empty for the first.
    prev_hash: str
    #: Covers ``prev_hash``, ``rev`` and ``body``.
    hash: str


__all__ = ["KernelRow"]
