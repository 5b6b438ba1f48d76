"""Invocation: one call of a tool, within its time, whatever it does.

Law: what ended a call comes back as a value. An exception of a tool author, a timeout and rubbish are
all outcomes; only cancellation passes through. A call that does not end when its time is over is abandoned,
and nothing that it may still do is taken for undone.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from condor.core.compiler import CardTools
from condor.core.errors import ToolError
from condor.core.ids import own_copy
from condor.core.observers.processors.cards import card_tools, pin_tools
from condor.core.outcome import InputField, TimedOut, is_json, words_of
from condor.core.policy import PolicyClass, ToolDescriptor
from condor.core.suspend import CardEvidence
from condor.ports.deadline import EscapedExit, OutOfTime, Stragglers, called
from condor.ports.faults import Faults, no_faults
from condor.ports.tools import Invocation, ReconcileAnswer
from condor.tools.context import Reconciled, ToolContext
from condor.tools.kernels import ToolKernel, tighten

if TYPE_CHECKING:
    import datetime
    from collections.abc import Awaitable, Callable, Sequence

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
        self._stragglers = Stragglers()
        self._known = {
            tool.name: frozenset(tool.args_by_name) if tool.args_closed else None for tool in registry
        }
        #: Every tool by name, with its kernel on it.
        self._tools = {tool.name: tool for tool in registry}
        self._cards = CardTools(draw=card_tools(registry), pin=pin_tools(registry))
        self._effectful = {tool.name: registry.policy_class(tool) != PolicyClass.READ for tool in registry}

    @property
    def today(self) -> datetime.date:
        """The day of the record."""
        return self._today()

    def find(self, name: str) -> ToolDescriptor | None:
        """The tool of this name, with its kernel on it."""
        return self._tools.get(name)

    def declared(self, name: str) -> ToolDescriptor | None:
        """The tool of this name as its author declared it."""
        return self._registry.find(name)

    def lay(self, kernels: Mapping[str, ToolKernel]) -> None:
        """Lay kernels on the tools, in place of those before; a kernel of no tool of ours waits for it."""
        self._tools = {
            tool.name: tighten(tool, kernels[tool.name]) if tool.name in kernels else tool
            for tool in self._registry
        }

    def known(self) -> Mapping[str, frozenset[str] | None]:
        """Tool name → the closed set of its arguments."""
        return self._known

    def cards(self) -> CardTools:
        """Which tools draw cards, and which pin them."""
        return self._cards

    def all(self) -> Sequence[ToolDescriptor]:
        """Every tool, with its kernel on it."""
        return tuple(self._tools.values())

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
        if call.key and _about(call) in self._stragglers:
            # The same effect twice at once is more than an idempotent tool promises to take.
            _log.warning("%s was abandoned and still runs: it is not entered again", _about(call))
            return TimedOut(seconds=call.seconds)
        returned = await self._guarded(call, function, **own_copy(call.args))
        if isinstance(returned, TimedOut):
            _log.warning("tool %s gave no answer within %g s", call.tool.name, call.seconds)
        elif isinstance(returned, BaseException) and not isinstance(returned, ToolError):
            _log.warning("tool %s raised %s", call.tool.name, type(returned).__name__)
        return returned

    async def _guarded(
        self, call: Invocation, function: Callable[..., Awaitable[object]], *given: object, **named: object
    ) -> object:
        """What a function of a tool author returned, or what ended it, as a value.

        It gets its own copy of the arguments: what it does to them changes nothing of what was approved.
        """
        try:
            work = called(function, self._context(call), *given, **named)
            return await self._stragglers.within(work, call.seconds, _about(call))
        except OutOfTime:
            return TimedOut(seconds=call.seconds)
        except EscapedExit as escaped:
            return escaped.raised
        except Exception as error:  # noqa: BLE001 - every way it can fail is an outcome
            return error

    async def preview(self, call: Invocation) -> CardEvidence:
        """Read what its card must show."""
        hook = call.tool.preview
        if hook is None:
            return CardEvidence()
        evidence = await self._guarded(call, hook, **own_copy(call.args))
        match evidence:
            case ToolError():
                raise evidence
            case TimedOut(seconds=seconds):
                why = f"no answer within {seconds:g} s"
            case BaseException():
                why = words_of(evidence)
            case CardEvidence() if _can_be_shown(evidence):
                return evidence
            case _:
                why = f"the preview of {call.tool.name} returned no CardEvidence that can be shown"
        raise ToolError(f"the record could not be read for the card: {why}", effect="none")

    async def subject(self, call: Invocation) -> CardEvidence:
        """Whom a call is about: a card that cannot say it is shown all the same."""
        hook = call.tool.subject_of
        if hook is None:
            return CardEvidence()
        said = await self._guarded(call, hook, own_copy(call.args))
        if isinstance(said, CardEvidence) and _can_be_shown(said):
            return said
        # A reference that the record does not know is a fault of the call, told by the step itself.
        if not isinstance(said, ToolError):
            _log.warning("the subject_of hook of %s said nothing: %s", call.tool.name, type(said).__name__)
        return CardEvidence()

    async def reconcile(self, call: Invocation) -> ReconcileAnswer:
        """Ask the outside system what came of a call."""
        hook = call.tool.reconcile
        if hook is None:
            return ReconcileAnswer(happened=None)
        said = await self._guarded(call, hook, **own_copy(call.args))
        match said:
            case Reconciled(happened=False) if _about(call) in self._stragglers:
                # It has not happened yet; the call that was abandoned may still do it.
                _log.warning("%s was abandoned and still runs: that it did nothing is no proof", _about(call))
            case Reconciled(happened=True | False | None) if is_json(said.value):
                return ReconcileAnswer(happened=said.happened, value=said.value)
            case BaseException() | TimedOut():
                _log.warning("the reconcile hook of %s failed: %s", call.tool.name, type(said).__name__)
            case _:
                _log.warning("the reconcile hook of %s returned no Reconciled", call.tool.name)
        # A hook that fails knows nothing; a person is asked.
        return ReconcileAnswer(happened=None)

    def _context(self, call: Invocation) -> ToolContext:
        return ToolContext(
            run_id=call.run_id,
            step_id=call.step_id,
            attempt=call.attempt,
            principal=call.principal,
            approved_by=call.approved_by,
            idempotency_key=call.key,
            record_versions=dict(call.versions),
            answers=own_copy(call.answers),
            deadline=self._clock.monotonic() + call.seconds,
            now=self._clock.now(),
            today=self.today,
            faults=self._faults,
        )


def _about(call: Invocation) -> str:
    return f"tool {call.tool.name} of {call.run_id}/{call.step_id}"


def _can_be_shown(evidence: CardEvidence) -> bool:
    """Whether a card can be drawn, compared and bound to what a hook of a tool author says."""
    try:
        lists = [*evidence.alerts, *evidence.context]
        needed = [item.name if isinstance(item, InputField) else item for item in evidence.requires]
        words = [evidence.summary, *needed, *evidence.versions, *evidence.versions.values()]
        return (
            is_json(evidence.to_json())
            and all(isinstance(item, Mapping) for item in [evidence.subject, *lists])
            and all(isinstance(word, str) for word in words)
        )
    except (TypeError, AttributeError):
        return False
