"""The closing writer at work: its prose, part by part, into the log as it comes.

Law 1: prose is stored as it is told; what was told is never taken back, and nothing of it is ours: the signs
of our notices are escaped before it is stored.
Law 2: whatever becomes of the writer (it raises, takes too long, writes too much, its run is stopped or its
process dies), the run gets its closing. A text that was cut off is never begun again.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING

from condor.core.observers import ForeignText, compose_closing
from condor.core.recovery import Charge
from condor.core.run import EventKind, RunStatus
from condor.core.values import dataclass
from condor.ports.closing_writer import ClosingDelta, ClosingRequest
from condor.ports.deadline import UNWIND_S, EscapedExit, OutOfTime, Stragglers, called
from condor.ports.messages import TextCut
from condor.pump.breaker import charged
from condor.pump.taking_up import ended_its_process
from condor.pump.time_left import is_time_left, left_s

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from condor.core.observers import ClaimEvidence
    from condor.ports.closing_writer import ClosingWriter
    from condor.pump.segment import Segment

_log = logging.getLogger(__name__)
_STRAGGLERS = Stragglers()

#: Seconds that a writer may take; who waits for the end of a run waits no longer than for a tool.
WRITING_S_MAX = 60.0
#: Characters of a closing text: a long page.
PROSE_CHARS_MAX = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """What a writer wrote."""

    text: str = ""
    #: The writer ended it itself.
    whole: bool = True


_NOTHING = Prose()


async def write_prose(segment: Segment, evidence: ClaimEvidence) -> Prose:
    """Let the writer write, once a run; without one, or for a run without a plan, nothing.

    Raises:
        RunLost, StoreUnavailable: as a commit.
    """
    writer, state = segment.ports.writer, segment.state
    told = told_before(segment)
    if told.text:
        return told
    if writer is None or state.graph is None or state.status is not RunStatus.EXECUTING:
        return _NOTHING
    if not is_time_left(segment) or ended_its_process(state):
        return _NOTHING
    asked = state.payload("request") or {}
    request = ClosingRequest(
        run_id=state.run_id,
        request=str(asked.get("text", "")),
        principal=state.requester,
        evidence=evidence,
        composed=compose_closing(evidence).text,
    )
    return await _Telling(segment).tell(writer, request)


def told_before(segment: Segment) -> Prose:
    """What was told before: by this segment, or by one that was interrupted."""
    parts: list[str] = []
    while (stored := segment.state.payload(_name(len(parts)))) is not None:
        parts.append(str(stored["text"]))
    if not parts:
        return _NOTHING
    whole = bool((segment.state.payload("prose") or {}).get("whole"))
    return Prose(text="".join(parts), whole=whole)


def _name(number: int) -> str:
    return f"prose:{number}"


class _Telling:
    """One text on its way into the log."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._about = f"the closing writer of {segment.state.run_id}"
        self._clock = segment.ports.clock
        self._processors = segment.ports.output_processors()
        self._foreign = ForeignText()
        self._parts: list[str] = []
        self._length = 0
        self._time_s = WRITING_S_MAX
        #: Spent, by length, and not said yet.
        self._unpaid = Charge()

    async def tell(self, writer: ClosingWriter, request: ClosingRequest) -> Prose:
        """Everything the writer says, stored as it comes; then the prose as a whole."""
        self._time_s = min(WRITING_S_MAX, left_s(self._segment))
        until = self._clock.monotonic() + self._time_s
        written, whole = self._begun(writer, request), False
        try:
            while written is not None and not await self._is_unwanted():
                delta = await self._next(written, until)
                if delta is None:
                    whole = True
                if not isinstance(delta, ClosingDelta) or not self._charge(delta):
                    break
                parts, goes_on = self._processed(delta.text)
                await self._put(parts)
                if not goes_on:
                    break
        finally:
            close = getattr(written, "aclose", None)
            if close is not None:
                with contextlib.suppress(Exception):  # what it does on its way out is its own
                    await _STRAGGLERS.within(called(close), UNWIND_S, self._about)
        if self._unpaid.tokens or self._unpaid.cost_usd:
            self._charge(ClosingDelta(text="", tokens=self._unpaid.tokens, cost_usd=self._unpaid.cost_usd))
        rest, goes_on = self._processed(None)
        await self._put(rest, ends=True)
        whole = whole and goes_on
        self._segment.payload("prose", {"whole": whole})
        return Prose(text="".join(self._parts), whole=whole)

    def _begun(self, writer: ClosingWriter, request: ClosingRequest) -> AsyncIterator[ClosingDelta] | None:
        try:
            return writer.write(request)
        except BaseException as fault:  # noqa: BLE001 - a writer costs the run nothing but its prose
            _log.warning("the closing writer raised %s; the composed closing follows", type(fault).__name__)
            return None

    async def _is_unwanted(self) -> bool:
        """Whether the run was stopped meanwhile, or the text is as long as one may be."""
        if self._segment.wake.is_set():
            await self._segment.look_again()
        return self._length >= PROSE_CHARS_MAX or (self._segment.state.halt is not None and bool(self._parts))

    async def _next(self, written: AsyncIterator[ClosingDelta], until: float) -> ClosingDelta | str | None:
        """The next part; None at the writer's own end, a word where something else ended it."""
        time_left = max(0.0, until - self._clock.monotonic())
        try:
            return await _STRAGGLERS.within(called(anext, written), time_left, self._about)
        except StopAsyncIteration:
            return None
        except OutOfTime:
            why = f"took longer than {self._time_s:.3g} s"
        except EscapedExit as fault:
            why = f"raised {type(fault.raised).__name__}"
        except Exception as fault:  # noqa: BLE001 - a writer costs the run nothing but its prose
            why = f"raised {type(fault).__name__}"
        _log.warning("the closing writer %s; the composed closing follows", why)
        return why

    def _charge(self, delta: ClosingDelta) -> bool:
        if delta.unpaid is not None:
            self._unpaid = delta.unpaid
        if not delta.tokens and not delta.cost_usd:
            return True
        self._unpaid = Charge()
        spent = charged(self._segment, Charge(tokens=delta.tokens, cost_usd=delta.cost_usd))
        if spent is None:
            _log.warning("the run has no tokens left for its closing text; the composed closing follows")
            return False
        self._segment.facts.absorb(spent)
        return True

    def _processed(self, text: str | None) -> tuple[list[str], bool]:
        """What comes out of the processors, and whether the text goes on; None: what they held back."""
        if self._processors is None:
            return [text or ""], True
        try:
            try:
                if text is None:
                    return _texts(self._processors.end()), True
                return _texts(self._processors.feed(text, now_s=self._clock.monotonic())), True
            except TextCut as cut:
                _log.warning("a closing text was cut: %s", cut)
                return _texts(cut.parts), False
        except BaseException as fault:  # noqa: BLE001 - what could not be looked at is not told
            _log.warning("an output processor raised %s; the composed closing follows", type(fault).__name__)
            self._segment.ports.count("output_processor")
            self._processors = None
            return [], False

    async def _put(self, parts: Iterable[str], *, ends: bool = False) -> None:
        """Store parts, each with its event, in one unit; how a line begins is held until it is known."""
        escaped = [self._foreign.feed(part) for part in parts]
        if ends:
            escaped.append(self._foreign.end())
        for part in filter(None, escaped):
            fits = part[: PROSE_CHARS_MAX - self._length]
            if fits:
                name = _name(len(self._parts))
                self._segment.payload(name, {"text": fits})
                self._segment.event(EventKind.TEXT_DELTA, id="closing", text=name)
                self._parts.append(fits)
                self._length += len(fits)
        if self._segment.facts:
            await self._segment.commit()


def _texts(parts: object) -> list[str]:
    """What a processor gave, if it is texts."""
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise TypeError("an output processor gave no texts")
    return list(parts)
