"""Files and standard input, read strictly: what is wrong is said before anything is opened."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condor.core.errors import RefusedInput, show

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

#: Stands for standard input.
STDIN = "-"


def read_json_source(source: str, what: str) -> Any:
    """JSON from a file, or from standard input for ``-``.

    Raises:
        RefusedInput: missing, unreadable, too large, not UTF-8, or not strict JSON.
    """
    return _parse(*_read(source, what))


def read_text_file(source: str, what: str) -> str:
    """A file of text, or standard input for ``-``.

    Raises:
        RefusedInput: missing, unreadable, too large or not UTF-8.
    """
    return _decoded(*_read(source, what))


def lines_of(source: str, what: str) -> Iterator[bytes]:
    """The lines of a file, or of standard input for ``-``; one is never longer than a body may be.

    Raises:
        RefusedInput: missing or unreadable.
    """
    from condor.ports.encoding import BODY_BYTES_MAX

    # One byte more tells that a line is too long; whoever reads it as JSON says so.
    if source == STDIN:
        while line := sys.stdin.buffer.readline(BODY_BYTES_MAX + 1):
            yield line
        return
    with _opened(source, f"{what} {show(source)}") as file:
        while line := file.readline(BODY_BYTES_MAX + 1):
            yield line


@contextmanager
def _opened(source: str, named: str) -> Iterator[BinaryIO]:
    try:
        with Path(source).open("rb") as file:
            yield file
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RefusedInput(f"{named} cannot be read: {why.lower()}", code="unreadable") from None


def _read(source: str, what: str) -> tuple[bytes, str]:
    """The bytes, and what messages call where they are from."""
    if source == STDIN:
        return _bounded(sys.stdin.buffer, what), what
    named = f"{what} {show(source)}"
    with _opened(source, named) as file:
        return _bounded(file, named), named


def read_json_text(given: str, what: str) -> Any:
    """JSON from the command line itself, or from standard input for ``-``."""
    if given == STDIN:
        return _parse(_bounded(sys.stdin.buffer, what), what)
    return _parse(given.encode("utf-8", "surrogateescape"), what)


def _bounded(file: BinaryIO, what: str) -> bytes:
    """All of it, but never more than may be taken (and one byte that tells)."""
    from condor.ports.encoding import BODY_BYTES_MAX

    body = file.read(BODY_BYTES_MAX + 1)
    if len(body) > BODY_BYTES_MAX:
        raise RefusedInput(f"{what} has more than {BODY_BYTES_MAX} bytes", code="too_large")
    return body


def _parse(body: bytes, what: str) -> Any:
    from condor.ports.encoding import read_strict_json

    text = _decoded(body, what)
    if not text.strip():
        raise RefusedInput(f"{what} is empty", code="malformed_json")
    return read_strict_json(text, what)


def _decoded(body: bytes, what: str) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedInput(f"{what} is not UTF-8 (byte {error.start})", code="not_utf8") from None


__all__ = ["STDIN", "lines_of", "read_json_source", "read_json_text", "read_text_file"]
