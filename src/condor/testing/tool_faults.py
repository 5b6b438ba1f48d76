"""Tools that go wrong on purpose: a real tool, and what stands between it and its caller.

Law: only the call is disturbed. Descriptor, gates and record are the real ones, so a run under faults shows
what a run shows when the world is like that.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from condor.core.errors import RefusedInput, ToolError, show
from condor.core.outcome import ToolResult
from condor.ports.deadline import OutOfTime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from condor.ports.model import Confirmation, PlanMutationQuestion
    from condor.ports.packs import OpenedPack, Pack, PackSetup
    from condor.tools import ToolDescriptor
    from condor.tools.context import ToolContext

FaultKind = Literal["fail", "break", "timeout-before", "timeout-after", "hang", "rubbish", "replan"]
#: ``fail``: nothing was done, and the same call may work later (503). ``break``: the same, and it will
#: not work later either. ``timeout-before`` and ``timeout-after`` the effect: no answer. ``hang``: no answer
#: until the tool's time is over. ``rubbish``: an answer that is no JSON. ``replan``: done, and the tool asks
#: for another way.
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)

#: For ever, as far as one test can tell.
ALWAYS = 1_000_000_000
#: Most times that can be written in a word: more is ever.
_TIMES = re.compile(r"[1-9][0-9]{0,5}")


def _often(times: int) -> str:
    return "always" if times == ALWAYS else "once" if times == 1 else f"{times} times"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFault:
    """What goes wrong with a tool, and how often."""

    kind: FaultKind
    #: The first so many calls go wrong; the ones after them work.
    times: int = ALWAYS
    #: Calls that work before.
    after: int = 0
    #: What the tool says about it.
    said: str = "it did not answer (503, injected)"

    @property
    def told(self) -> str:
        """In words: ``fail, 2 times``."""
        return f"{self.kind}, {_often(self.times)}"


class _Counted:
    """How often a tool was called, over all its runs."""

    def __init__(self) -> None:
        self.calls = 0


def faulty(
    tool: ToolDescriptor, fault: ToolFault | FaultKind, *, timeout_s: float | None = None
) -> ToolDescriptor:
    """The same tool, going wrong.

    Args:
        timeout_s: its time, where a test cannot wait for the tool's own (``hang``).
    """
    wanted = fault if isinstance(fault, ToolFault) else ToolFault(kind=fault)
    function, counted = tool.function, _Counted()
    # INVARIANT: registered tools have a function.
    assert function is not None, "a tool without a function"

    async def disturbed(ctx: ToolContext, **args: Any) -> object:
        counted.calls += 1
        if not wanted.after < counted.calls <= wanted.after + wanted.times:
            return await function(ctx, **args)
        match wanted.kind:
            case "fail" | "break":
                raise ToolError(
                    wanted.said, retryable=wanted.kind == "fail", effect="none", code="unavailable"
                )
            case "timeout-before":
                raise OutOfTime
            case "timeout-after":
                await function(ctx, **args)
                raise OutOfTime
            case "hang":
                await asyncio.Event().wait()
                return None
            case "rubbish":
                return object()
            case "replan":
                done = await function(ctx, **args)
                value = done.value if isinstance(done, ToolResult) else done
                return ToolResult(value=cast("Any", value), needs_replan=True)

    return replace(tool, function=disturbed, timeout_s=timeout_s or tool.timeout_s)


def replan_storm(tool: ToolDescriptor) -> ToolDescriptor:
    """A tool that works and always asks for another way (mission: replan-storm.spec.ts)."""
    return faulty(tool, "replan")


def read_fault(text: str) -> tuple[str, ToolFault]:
    """``TOOL=KIND`` or ``TOOL=KIND:TIMES`` as a tool's name and its fault.

    Raises:
        RefusedInput: it is none.
    """
    tool, is_given, what = text.partition("=")
    kind, is_counted, times = what.partition(":")
    tool, kind, times = tool.strip(), kind.strip(), times.strip()
    if not is_given or not tool:
        raise RefusedInput(f"{show(text)} is no fault; write TOOL=KIND or TOOL=KIND:TIMES")
    if kind not in FAULT_KINDS:
        raise RefusedInput(f"{show(text)}: {show(kind)} is no kind of fault; take {', '.join(FAULT_KINDS)}")
    if is_counted and not _TIMES.fullmatch(times):
        raise RefusedInput(f"{show(text)}: {show(times)} is no number of times; write 1 to 999999, or none")
    return tool, ToolFault(kind=kind, times=int(times) if is_counted else ALWAYS)


class FaultyPack:
    """A pack some of whose tools go wrong."""

    def __init__(self, pack: Pack, faults: Mapping[str, ToolFault]) -> None:
        """Disturb ``pack``.

        Args:
            faults: tool name → what goes wrong with it; a name that the pack does not have is left alone.
        """
        self._pack, self._faults = pack, dict(faults)
        self.name, self.has_demo = pack.name, pack.has_demo

    def open(self, setup: PackSetup) -> AbstractAsyncContextManager[OpenedPack]:
        """Open the pack, its tools disturbed."""
        return self._opened(setup)

    @asynccontextmanager
    async def _opened(self, setup: PackSetup) -> AsyncIterator[OpenedPack]:
        async with self._pack.open(setup) as opened:
            yield replace(opened, tools=disturb(opened.tools, self._faults))


def disturb(tools: Iterable[ToolDescriptor], faults: Mapping[str, ToolFault]) -> Sequence[ToolDescriptor]:
    """The tools, those with a fault going wrong."""
    return [faulty(tool, faults[tool.name]) if tool.name in faults else tool for tool in tools]


class ScriptedConfirmer:
    """A confirmer that says what it was told to, in order, and keeps what it was asked."""

    def __init__(self, *answers: Confirmation | Exception) -> None:
        """Say ``answers`` in order, the last one for ever."""
        self._answers = list(answers)
        #: Every question, in order.
        self.asked: list[PlanMutationQuestion] = []

    async def confirm(self, question: PlanMutationQuestion) -> Confirmation:
        """The next answer."""
        self.asked.append(question)
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


__all__ = [
    "ALWAYS",
    "FAULT_KINDS",
    "FaultKind",
    "FaultyPack",
    "ScriptedConfirmer",
    "ToolFault",
    "disturb",
    "faulty",
    "read_fault",
    "replan_storm",
]
