"""Pages of a list: as many as asked, and a ``Link`` header (RFC 8288) to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import Query

if TYPE_CHECKING:
    from starlette.requests import Request

Limit = Annotated[str, Query(description="How many at most.", pattern=r"^[0-9]{1,4}$")]


def next_link(request: Request, **cursor: str) -> dict[str, str]:
    """The header that leads to the next page; none at the last."""
    ((name, last),) = cursor.items()
    if not last:
        return {}
    query = [(key, value) for key, value in request.query_params.multi_items() if key != name]
    address = f"{request.scope['path']}?{urlencode([*query, (name, last)])}"
    return {"link": f'<{address}>; rel="next"'}


__all__ = ["Limit", "next_link"]
