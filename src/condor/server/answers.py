"""Answers: JSON by the one encoder, and what OpenAPI says of every status that a route may answer with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.responses import Response

from condor.ports.encoding import encode
from condor.runtime.snapshot import WIRE_VERSION
from condor.server.problems import MEDIA_TYPE, PROBLEMS
from condor.server.shapes import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

#: Answers of every route that asks who it is.
_ALWAYS: Final = (400, 401, 403, 422, 500, 503)
#: Further answers of a route that reads a body.
_BODY: Final = (408, 413, 415)

Responses = dict[int | str, dict[str, Any]]


def json_answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON."""
    named = dict(headers) if headers else None
    return Response(encode(value), status_code=status, media_type="application/json", headers=named)


def accepted(**members: object) -> Response:
    """202: taken; the run goes on in the background."""
    return json_answer({"v": WIRE_VERSION, **members}, 202)


def answers(
    status: int,
    what: str,
    model: Any = None,
    *more: int,
    media_type: str = "application/json",
    reads_body: bool = False,
) -> Responses:
    """Every status of one route.

    Args:
        status: where it went well, described by ``what``.
        model: the answer's shape; None where there is no JSON.
        more: statuses of problems beside those that every route has.
    """
    good: dict[str, Any] = {"description": what}
    if model is not None:
        good["model"] = model
    elif media_type != "application/json":
        good["content"] = {media_type: {"schema": {"type": "string"}}}
    statuses = sorted({*_ALWAYS, *(_BODY if reads_body else ()), *more})
    return {status: good, **{code: _problem(code) for code in statuses}}


def _problem(status: int) -> dict[str, Any]:
    codes = sorted(code for code, kind in PROBLEMS.items() if kind.status == status)
    reference = {"$ref": "#/components/schemas/Problem"}
    return {"description": ", ".join(codes), "content": {MEDIA_TYPE: {"schema": reference}}}


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """What OpenAPI says of a body that our own reader reads."""
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": reference}}}}


__all__ = ["Problem", "Responses", "accepted", "answers", "body_of", "json_answer"]
