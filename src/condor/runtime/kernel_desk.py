"""Tool kernels of a process: read from the store, laid on its tools, and changed by an administrator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import NotAllowed, RefusedInput, UnknownId
from condor.core.run import LOCAL_PERSON
from condor.ports.clock import timestamp
from condor.tools.explain import explain_change, tool_json
from condor.tools.kernel_heads import KERNEL_HEADS_FILE, KernelHeads
from condor.tools.kernels import (
    NO_KERNEL,
    SHUT,
    check_kept,
    check_tightens,
    in_force,
    nameable_roles,
    next_revision,
    read_kernel,
    revision_json,
    tighten,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from condor.core.ids import Json
    from condor.core.run import Principal
    from condor.ports.clock import Clock
    from condor.ports.store import KernelRow, Store
    from condor.tools.invocation import LocalToolbox
    from condor.tools.kernels import ToolKernel


class KernelDesk:
    """Every kernel, and the one way to lay another."""

    def __init__(
        self, store: Store, toolbox: LocalToolbox, clock: Clock, home: Path, *, writes: bool = True
    ) -> None:
        """Nothing is laid before ``load``.

        Args:
            home: where it is kept which revisions were seen.
            writes: False: that is only read.
        """
        self._store = store
        self._heads = KernelHeads(home / KERNEL_HEADS_FILE, writes=writes)
        self._toolbox = toolbox
        self._clock = clock

    async def load(self) -> None:
        """Lay what the store has; another process may have changed it. One that is gone shuts its tool."""
        rows = await self._store.kernels()
        self._toolbox.lay(self._in_force(rows))
        self._heads.keep(rows)

    def _in_force(self, rows: Sequence[KernelRow]) -> dict[str, ToolKernel]:
        return in_force(rows) | dict.fromkeys(self._heads.missing(rows), SHUT)

    async def all(self) -> list[dict[str, Json]]:
        """Every tool with a kernel, by name, as ``one`` tells it."""
        rows = await self._store.kernels()
        tools = {row.tool for row in rows} | self._heads.missing(rows)
        return [self._told(tool, rows) for tool in sorted(tools)]

    async def one(self, tool: str) -> dict[str, Json]:
        """What is laid on a tool, its revisions, the tool as declared, and the roles that narrow it.

        Raises:
            UnknownId: no such tool.
        """
        self._declared(tool)
        return self._told(tool, await self._store.kernels())

    async def put(
        self,
        tool: str,
        given: Mapping[str, Any],
        *,
        principal: Principal,
        reason: str = "",
        rev: int | None = None,
        remove: bool = False,
    ) -> dict[str, Json]:
        """Lay a kernel on a tool, in place of the one before; it holds at once in this process.

        Args:
            given: ``hitlTier`` (``high``), ``approverRoles``, ``requesterExcluded``. What holds and is not
                named is not taken off by that: it is refused.
            reason: why; needed where something is taken off or widened.
            rev: the revision that it replaces; None: whatever is there.
            remove: take all off; the tool is as its author declared it.

        Raises:
            UnknownId, NotAllowed: nothing was changed.
            RefusedInput: it would loosen (``kernel_loosens``), or another revision came first
                (``kernel_moved``); nothing was changed.
        """
        if principal.kind != "person" or not ("admin" in principal.roles or principal.id == LOCAL_PERSON.id):
            raise NotAllowed(f"{principal.name} is no admin; an admin lays kernels on tools")
        declared = self._declared(tool)
        kernel = read_kernel(given)
        check_tightens(declared, kernel)
        rows = await self._store.kernels()
        last = sum(row.tool == tool for row in rows)
        if rev is not None and rev != last:
            raise _moved(tool, last)
        held = self._in_force(rows).get(tool, NO_KERNEL)
        check_kept(tool, held, kernel, given, reason=reason, removes=remove)
        row = next_revision(rows, tool, kernel, by=principal, at=timestamp(self._clock.now()), reason=reason)
        if not await self._store.add_kernel(row):
            raise _moved(tool, row.rev - 1)
        self._heads.forget(tool)
        await self.load()
        return await self.one(tool)

    async def tried(self, tool: str, given: Mapping[str, Any]) -> dict[str, Json]:
        """What a kernel would change, laid in place of the one that holds; nothing is stored.

        Returns:
            ``effects``: for each op and autonomy, the verdict on a call ``now`` and ``then``; nothing of a
            call's own arguments is looked at.

        Raises:
            UnknownId, RefusedInput: as ``put`` would.
        """
        declared, kernel = self._declared(tool), read_kernel(given)
        check_tightens(declared, kernel)
        effects = explain_change(
            self._toolbox.find(tool) or declared,
            tighten(declared, kernel),
            registered=self._toolbox.registered_class(tool),
        )
        return {"tool": tool, "effects": list(effects)}

    def _declared(self, tool: str) -> Any:
        found = self._toolbox.declared(tool)
        if found is None:
            raise UnknownId("tool", tool, "see `condor tools list`")
        return found

    def _told(self, tool: str, rows: Sequence[KernelRow]) -> dict[str, Json]:
        own = [row for row in rows if row.tool == tool]
        kernel, declared = self._in_force(rows).get(tool, NO_KERNEL), self._toolbox.declared(tool)
        return {
            "tool": tool,
            "rev": len(own),
            "kernel": kernel.to_json(),
            "isShut": kernel == SHUT,
            "isRegistered": declared is not None,
            "declared": None if declared is None else tool_json(declared),
            "mayName": [] if declared is None else sorted(nameable_roles(declared, self._toolbox.all())),
            "revisions": [revision_json(row) for row in own],
        }


def _moved(tool: str, last: int) -> RefusedInput:
    return RefusedInput(
        f"the kernel of {tool} has moved on: revision {last} is the last one", code="kernel_moved"
    )


__all__ = ["KernelDesk"]
