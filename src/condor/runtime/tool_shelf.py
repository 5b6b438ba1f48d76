"""The tools of an opened process, and the verdict that a call of one would get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import UnknownId
from condor.core.run import LOCAL_PERSON
from condor.runtime import edge
from condor.tools.explain import explain_call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.ids import Json
    from condor.tools import ToolDescriptor
    from condor.tools.invocation import LocalToolbox


class ToolShelf:
    """Read from the toolbox that is open, kernels included."""

    _toolbox: LocalToolbox | None = None

    @property
    def tools(self) -> Sequence[ToolDescriptor]:
        """Every registered tool."""
        assert self._toolbox is not None, "opened"
        return self._toolbox.all()

    def explain(self, tool: str, args: Mapping[str, Json], *, autonomy: str) -> dict[str, Json]:
        """The verdict that a call would get; nothing is run.

        Raises:
            UnknownId: no such tool.
            RefusedInput: an argument or an autonomy that does not exist.
        """
        assert self._toolbox is not None, "opened"
        found = self._toolbox.find(tool)
        if found is None:
            raise UnknownId("tool", tool, "see `condor tools list`")
        edge.allowed_autonomy(autonomy, LOCAL_PERSON)
        registered = self._toolbox.registered_class(tool)
        return explain_call(found, args, autonomy=autonomy, registered=registered)
