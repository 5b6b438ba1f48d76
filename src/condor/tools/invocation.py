"""Invocation: one call of a tool, within its time, whatever it does.

Law: what ended a call comes back as a value. An exception of a tool author, a timeout and rubbish are
all outcomes; only cancellation passes through.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from condor.core.errors import ToolError
from condor.core.outcome import TimedOut
from condor.core.policy import PolicyClass, ToolDescriptor
from condor.core.suspend import CardEvidence
from condor.ports.faults import Faults, no_faults
from condor.ports.tools import Invocation, ReconcileAnswer
from condor.tools.context import Reconciled, ToolContext

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Mapping, Sequence

    from condor.ports.clock import Clock
    from condor.tools.registry import ToolRegistry

_log = logging.getLogger(__name__)


class LocalToolbox:
    """The tools of this process, run in its event loop."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        clock: Clock,
        today: Callable[[], datetime.date],
        faults: Faults = no_faults,
    ) -> None:
        """Wrap a registry.

        Args:
            today: the day of the record.
        """
        self._registry = registry
        self._clock = clock
        self._today = today
        self._faults = faults
        self._known = {
            tool.name: frozenset(tool.args_by_name) if tool.args_closed else None for tool in registry
        }
        self._effectful = {tool.name: registry.policy_class(tool) != PolicyClass.READ for tool in registry}

    @property
    def today(self) -> datetime.date:
        """The day of the record."""
        return self._today()

    def find(self, name: str) -> ToolDescriptor | None:
        """The tool of this name."""
        return self._registry.find(name)

    def known(self) -> Mapping[str, frozenset[str] | None]:
        """Tool name → the closed set of its arguments."""
        return self._known

    def all(self) -> Sequence[ToolDescriptor]:
        """Every tool."""
        return tuple(self._registry)

    def registered_class(self, name: str) -> object:
        """What the static registry says of a tool's effect class."""
        return self._registry.registered_class(name)

    def is_effectful(self, tool: ToolDescriptor) -> bool:
        """Whether the tool's class is anything but read."""
        return self._effectful.get(tool.name, True)

    async def invoke(self, call: Invocation) -> object:
        """Run it; what ended it comes back as a value."""
        self._faults("tool.entered")
        function = call.tool.function
        assert function is not None, "registered tools have a function"
        limit = call.tool.timeout_s
        try:
            async with asyncio.timeout(limit):
                return await function(self._context(call), **call.args)
        except TimeoutError as error:
            # A tool's own TimeoutError means the same: it does not know what came of its call.
            _log.warning("tool %s gave no answer within %g s", call.tool.name, limit, exc_info=error)
            return TimedOut(seconds=limit)
        except Exception as error:  # noqa: BLE001 - every way a tool can fail is an outcome
            if not isinstance(error, ToolError):
                _log.warning("tool %s raised %s", call.tool.name, type(error).__name__)
            return error

    async def preview(self, call: Invocation) -> CardEvidence:
        """Read what its card must show."""
        hook = call.tool.preview
        if hook is None:
            return CardEvidence()
        try:
            async with asyncio.timeout(call.tool.timeout_s):
                evidence = await hook(self._context(call), **call.args)
        except ToolError:
            raise
        except Exception as error:
            raise ToolError(
                f"the record could not be read for the card: {type(error).__name__}: {error}", effect="none"
            ) from error
        if not isinstance(evidence, CardEvidence):
            raise ToolError(f"the preview of {call.tool.name} returned no CardEvidence", effect="none")
        return evidence

    async def reconcile(self, call: Invocation) -> ReconcileAnswer:
        """Ask the outside system what came of a call."""
        hook = call.tool.reconcile
        if hook is None:
            return ReconcileAnswer(happened=None)
        try:
            async with asyncio.timeout(call.tool.timeout_s):
                said = await hook(self._context(call), **call.args)
        except Exception:  # noqa: BLE001 - a hook that fails knows nothing; a person is asked
            _log.warning("the reconcile hook of %s failed", call.tool.name, exc_info=True)
            return ReconcileAnswer(happened=None)
        if isinstance(said, Reconciled) and said.happened in (True, False, None):
            return ReconcileAnswer(happened=said.happened, value=said.value)
        return ReconcileAnswer(happened=None)

    def _context(self, call: Invocation) -> ToolContext:
        return ToolContext(
            run_id=call.run_id,
            step_id=call.step_id,
            attempt=call.attempt,
            principal=call.principal,
            approved_by=call.approved_by,
            idempotency_key=call.key,
            record_versions=call.versions,
            answers=call.answers,
            deadline=self._clock.monotonic() + call.tool.timeout_s,
            now=self._clock.now(),
            today=self.today,
            faults=self._faults,
        )
