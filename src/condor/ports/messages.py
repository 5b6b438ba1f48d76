"""Message processors: what a request passes before it is stored, and a written text before it is.

Law: a processor changes words on their way, never a record and never a run's state. An input processor may
refuse a message; an output processor may hold parts back, cut the text or take things out of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from condor.core.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.ids import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request on its way in."""

    text: str
    #: What processors found, by the name of each; words of closed sets and numbers, never the text.
    findings: Mapping[str, Json]


class InputProcessor(Protocol):
    """One stage of a request's way in."""

    @property
    def name(self) -> str:
        """Its id in the processor catalog."""
        ...

    def process(self, message: Message) -> Message:
        """The message as it goes on.

        Raises:
            RefusedInput: it may not go on; the message says why, without quoting it.
        """
        ...


class OutputProcessor(Protocol):
    """One stage of one text's way out; made anew for each text."""

    @property
    def name(self) -> str:
        """Its id in the processor catalog."""
        ...

    def feed(self, part: str, *, now_s: float) -> Sequence[str]:
        """What can go on now, part by part.

        Args:
            now_s: monotonic seconds.

        Raises:
            TextCut: the rest of the text is not wanted; what goes on before the cut is in it.
        """
        ...

    def end(self) -> Sequence[str]:
        """What was held back."""
        ...


class TextCut(Exception):
    """A processor ends a text before its writer does."""

    def __init__(self, why: str, parts: Sequence[str] = ()) -> None:
        super().__init__(why)
        #: What still goes on.
        self.parts = tuple(parts)


def no_processors() -> OutputProcessor | None:
    """No text is processed on its way out."""
    return None
