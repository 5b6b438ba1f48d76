"""Whatever a log holds, in whatever order, both wires stay whole."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from condor.core.run import EventKind
from tests.core.frames.logs import Log, only
from tests.core.strategies import json_values

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = ("s1", "s2", "s3")
REASONS = ("approval", "clarification", "reconcile")
ENDS = ("succeeded", "degraded", "failed", "skipped", "unknown")
CLOSED = ("approved", "denied", "answered", "superseded", "withdrawn", "expired")


class Story:
    """A log that is written by chance; cards get ids of their own, and are closed at most once."""

    def __init__(self, *, planned: bool) -> None:
        self.log = Log()
        self.open: dict[str, str] = {}
        if planned:
            self.log.plan(*({"id": step} for step in STEPS))

    def tell(self, step: str, what: str, detail: int, value: Any) -> None:
        """One more event."""
        tellers: dict[str, Callable[[], None]] = {
            "begin": lambda: self.log.begin(step, given=value),
            "settle": lambda: self.log.settle(step, ENDS[detail % len(ENDS)], value),
            "ask": lambda: self._ask(step, REASONS[detail % len(REASONS)]),
            "close": lambda: self._close(CLOSED[detail % len(CLOSED)], value),
            "render": lambda: self._render(step),
            "stream": lambda: self._stream(detail),
            "say": lambda: self.log.say(f"text {detail}"),
        }
        tellers[what]()

    def _ask(self, step: str, reason: str) -> None:
        card = f"sus_{len(self.log.events)}"
        self.open[card] = step
        self.log.ask(step, reason, card=card)

    def _close(self, status: str, value: Any) -> None:
        for card, step in list(self.open.items())[:1]:
            del self.open[card]
            self.log.close(step, status, {"said": value}, card=card)

    def _render(self, step: str) -> None:
        self.log.payloads.setdefault(f"result:{step}", {"value": None})
        self.log.add(EventKind.CARD_RENDERED, stepId=step, tool="t", block=f"result:{step}")

    def _stream(self, detail: int) -> None:
        self.log.payloads[f"text:{detail}"] = {"text": "text"}
        self.log.add(EventKind.TEXT_DELTA, text=f"text:{detail}")


TELLINGS = st.tuples(
    st.sampled_from(STEPS),
    st.sampled_from(["begin", "settle", "ask", "close", "render", "stream", "say"]),
    st.integers(0, 30),
    json_values,
)


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """A log, erased or not."""
    story = Story(planned=draw(st.booleans()))
    for telling in draw(st.lists(TELLINGS, max_size=25)):
        story.tell(*telling)
    if draw(st.booleans()):
        story.log.payloads.clear()
    return story


def status_of(story: Story, *, ended: bool) -> str:
    """How the run rests: parked where a card is open, unless it has ended."""
    return "failed" if ended or not story.open else "suspended"


@given(stories(), st.booleans())
def test_a_message_is_never_torn(story: Story, ended: bool) -> None:
    """Opened once, closed at most once (cards: told again), never orphaned; all closed at the end."""
    status = status_of(story, ended=ended)
    chunks = story.log.message(status)
    opened, closed = Counter[str](), Counter[str]()
    for chunk, following in zip(chunks, [*chunks[1:], {}], strict=True):
        if chunk["type"] == "tool-input-available":
            opened[chunk["toolCallId"]] += 1
            assert chunk["toolName"] != "__suspend__" or following["toolCallId"] == chunk["toolCallId"]
        elif chunk["type"].startswith("tool-output"):
            assert opened[chunk["toolCallId"]] == 1
            closed[chunk["toolCallId"]] += 1
    assert all(count <= 1 for call, count in closed.items() if call.startswith("call_"))
    assert all(count <= 2 for count in closed.values())
    if status == "failed":
        assert opened.keys() == closed.keys()
    texts = [chunk["type"] for chunk in only(chunks, "text-start", "text-end")]
    assert texts == ["text-start", "text-end"] * (len(texts) // 2)


@given(stories(), st.booleans())
def test_an_ag_ui_stream_is_never_torn(story: Story, ended: bool) -> None:
    """A call has one result, an open card none; every open card is an interrupt."""
    status = status_of(story, ended=ended)
    events = story.log.ag_ui(status)
    calls = [event["toolCallId"] for event in only(events, "TOOL_CALL_START")]
    results = Counter(event["toolCallId"] for event in only(events, "TOOL_CALL_RESULT"))
    assert len(set(calls)) == len(calls)
    assert results.keys() <= set(calls)
    assert set(results.values()) <= {1}
    if status == "suspended":
        asked = [interrupt["id"] for interrupt in events[-1]["outcome"]["interrupts"]]
        assert asked == list(story.open)
        assert not set(asked) & results.keys()
    else:
        assert results.keys() == set(calls)


@given(stories(), st.data())
def test_a_continued_stream_is_the_rest_of_the_whole(story: Story, data: st.DataObject) -> None:
    """Wherever it is cut: nothing is opened twice, and no result is lost or told twice."""
    cut = data.draw(st.integers(0, len(story.log.events)))
    status = status_of(story, ended=False)
    whole, rest = story.log.ag_ui(status), story.log.ag_ui(status, after=cut)
    kinds = ("TOOL_CALL_START", "TOOL_CALL_RESULT")
    told = only(rest, *kinds)
    assert told == only(whole, *kinds)[len(only(whole, *kinds)) - len(told) :]
