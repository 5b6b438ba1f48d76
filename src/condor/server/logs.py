"""Logs as one JSON object a line, without record data.

Law 1: a line is a line: control characters of whatever was logged stand as escapes (CWE-117).
Law 2: of an exception the kind and the places are logged, never its message: it may quote a record.
"""

from __future__ import annotations

import json
import logging
import traceback
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from condor.ports.clock import timestamp

if TYPE_CHECKING:
    from condor.ports.clock import Clock

#: Places of a traceback that are logged, the innermost last.
_PLACES_MAX: Final = 12
#: Longest text of one line's message, in characters.
_MESSAGE_CHARS_MAX: Final = 1_000


class JsonLines(logging.Formatter):
    """A log record as one line of JSON."""

    def __init__(self, clock: Clock) -> None:
        """Times are the clock's."""
        super().__init__()
        self._clock = clock

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, object] = {
            "at": timestamp(self._clock.now()),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage()[:_MESSAGE_CHARS_MAX],
        }
        facts = getattr(record, "facts", None)
        if isinstance(facts, dict):
            line.update(facts)
        if record.exc_info and record.exc_info[1] is not None:
            line["fault"] = type(record.exc_info[1]).__name__
            line["places"] = _places(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True, default=str)


def _places(fault: BaseException) -> list[str]:
    frames = traceback.extract_tb(fault.__traceback__)[-_PLACES_MAX:]
    return [f"{PurePath(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def log_as_json(clock: Clock, *, level: int = logging.INFO) -> None:
    """Send every log of this process to stderr as lines of JSON."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines(clock))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.access").disabled = True


__all__ = ["JsonLines", "log_as_json"]
