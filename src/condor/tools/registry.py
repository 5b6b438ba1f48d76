"""The tools of one process, by name. Registration is where carelessness is refused.

Law: a tool that declares no class, neither itself nor through the static registry nor through
``metadata.mutating``, cannot be registered (decision 16); names are unique after folding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import RegistrationRefused, UnknownId, show
from condor.core.policy import PolicyClass, ToolDescriptor, resolve_policy_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class ToolRegistry:
    """Immutable after construction; a changed descriptor needs a new process."""

    def __init__(
        self,
        tools: Iterable[ToolDescriptor],
        *,
        static_classes: Mapping[str, PolicyClass] | None = None,
    ) -> None:
        """Register ``tools``.

        Args:
            static_classes: effect classes of tools whose descriptors do not say (the static registry).

        Raises:
            RegistrationRefused: a tool that declares nothing, or two of one name.
        """
        self._static = dict(static_classes or {})
        self._tools: dict[str, ToolDescriptor] = {}
        for tool in tools:
            self._register(tool)

    def _register(self, tool: ToolDescriptor) -> None:
        if not isinstance(tool, ToolDescriptor):
            raise RegistrationRefused(f"{show(tool)} is not a tool; decorate the function with @tool(…)")
        if tool.name in self._tools:
            raise RegistrationRefused(f"a second tool is called {tool.name}; rename one")
        declared = self._static.get(tool.name)
        if tool.policy_class is PolicyClass.READ and declared not in (None, PolicyClass.READ):
            raise RegistrationRefused(
                f"tool {tool.name}: declared read, but the static registry says {declared}; one is wrong"
            )
        if declared is PolicyClass.READ and tool.metadata.get("mutating"):
            raise RegistrationRefused(
                f"tool {tool.name}: the static registry says read, but metadata.mutating is set; one is wrong"
            )
        if declared is PolicyClass.READ and tool.effect_of is not None:
            raise RegistrationRefused(
                f"tool {tool.name}: the static registry says read, but it has effect_of; a read has no effect"
            )
        if tool.policy_class is None and declared is None and not tool.metadata.get("mutating"):
            raise RegistrationRefused(
                f"tool {tool.name} declares nothing: give it a policy_class (READ, MUTATE, EXEC or COMMS)"
            )
        if tool.function is None:
            raise RegistrationRefused(f"tool {tool.name} has no function; decorate one with @tool(…)")
        self._tools[tool.name] = tool

    def get(self, name: str) -> ToolDescriptor:
        """The tool of this name.

        Raises:
            UnknownId: with the nearest names.
        """
        found = self._tools.get(name)
        if found is None:
            raise UnknownId("tool", name, f"there are {', '.join(sorted(self._tools)) or 'none'}")
        return found

    def find(self, name: str) -> ToolDescriptor | None:
        """The tool of this name, or None."""
        return self._tools.get(name)

    def registered_class(self, name: str) -> PolicyClass | None:
        """What the static registry says of a tool."""
        return self._static.get(name)

    def policy_class(self, tool: ToolDescriptor) -> object:
        """The resolved effect class of a registered tool."""
        return resolve_policy_class(tool.policy_class, self._static.get(tool.name), tool.metadata)

    def __iter__(self) -> Iterator[ToolDescriptor]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools
