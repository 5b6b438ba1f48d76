"""Reading a request's body: bounded in bytes, depth and time, strict, and never echoed.

Law: a body that is refused was not stored, parsed further or logged; what stood in it is in no answer.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import BaseModel, ValidationError

from condor.core.errors import RefusedInput
from condor.ports.encoding import BODY_BYTES_MAX, read_strict_json
from condor.server.problems import Refused, faults_of

if TYPE_CHECKING:
    from starlette.requests import Request

_Model = TypeVar("_Model", bound=BaseModel)

#: Seconds for a whole body: 256 KB over a poor mobile line.
BODY_S_MAX: Final = 10.0
#: Seconds of silence inside a body whose length nobody has told: browsers and clients send theirs at once.
_SILENCE_S_MAX: Final = 0.75
_SILENCE_TOLD_S_MAX: Final = 5.0


async def read_json(request: Request) -> object:
    """The body as JSON that can be kept.

    Raises:
        Refused, RefusedInput: it is no such thing; see their codes.
    """
    _check_type(request.headers.get("content-type", ""))
    return read_strict_json(await read_bytes(request))


async def read_model(request: Request, model: type[_Model]) -> _Model:
    """The body as one of our shapes.

    Raises:
        Refused, RefusedInput: it is no such thing; see their codes.
    """
    return valid(await read_json(request), model)


def valid(body: object, model: type[_Model]) -> _Model:
    """A JSON value as one of our shapes.

    Raises:
        Refused: with the places that are wrong.
    """
    try:
        return model.model_validate(body)
    except ValidationError as invalid:
        faults = faults_of(invalid)
        places = ", ".join(str(fault["at"]) or "the top" for fault in faults if isinstance(fault, dict))
        raise Refused("invalid_input", f"the body is wrong at {places}", errors=faults) from None


def _check_type(given: str) -> None:
    kind, _, parameters = given.partition(";")
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if kind.strip().lower() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise Refused("not_json")


async def read_bytes(request: Request) -> bytes:
    """The body, bounded in bytes and time.

    Raises:
        Refused: ``too_large`` or ``too_slow``.
    """
    told = request.headers.get("content-length")
    if told is not None and (not told.isdigit() or int(told) > BODY_BYTES_MAX):
        raise Refused("too_large", f"the body has more than {BODY_BYTES_MAX} bytes")
    silence_s = _SILENCE_S_MAX if told is None else _SILENCE_TOLD_S_MAX
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S_MAX):
            while True:
                async with asyncio.timeout(silence_s):
                    message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise Refused("too_slow", "the body broke off")
                body += message.get("body", b"")
                if len(body) > BODY_BYTES_MAX:
                    raise Refused("too_large", f"the body has more than {BODY_BYTES_MAX} bytes")
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        raise Refused("too_slow") from None


def whole_number(text: str, *, name: str, most: int, least: int = 1) -> int:
    """A count in a query.

    Raises:
        RefusedInput: it is none, or out of its range.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most):
        raise RefusedInput(f"{name} is a whole number from {least} to {most}")
    return int(text)


__all__ = ["BODY_S_MAX", "read_bytes", "read_json", "read_model", "valid", "whole_number"]
