"""The application: routes, their guard, their errors, and what OpenAPI says of them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException
from starlette.routing import Route

from condor.console import BUILT
from condor.server import shapes
from condor.server.answers import json_answer
from condor.server.console import console_router
from condor.server.edge import Edge, SignedIn
from condor.server.guard import Guard
from condor.server.live import StreamCaps
from condor.server.problems import PROBLEMS, problem
from condor.server.routes import (
    agui,
    answering,
    audit,
    chat,
    editing,
    exports,
    health,
    kernels,
    live,
    mounts,
    policy,
    runs,
    session,
    suspensions,
)
from condor.server.site import Site, site_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from condor.bootstrap import Condor
    from condor.server.auth import AuthSettings

_DESCRIPTION: Final = """Runs of agents whose tool calls change real records. Risky writes wait for a person.

Checks come in this order: who you are (401), whether it is there for you (404), the shape of what you sent
(422), whether you may (403), how the world stands (409). Every problem is RFC 9457 with a stable `code`. What
changes state takes JSON. `/api/x` is `/api/v1/x`."""

_ROUTES: Final = (
    *(runs, exports, answering, editing, suspensions, session, policy),
    *(kernels, audit, live, chat, agui),
)
#: Bodies that our own reader reads, and problems: FastAPI does not find them by itself.
_SHAPES: Final = (
    shapes.StartBody,
    shapes.ApproveBody,
    shapes.ResumeBody,
    shapes.EditBody,
    shapes.StopBody,
    shapes.SessionBody,
    shapes.ExplainBody,
    shapes.KernelBody,
    shapes.TokenBody,
    shapes.ChatBody,
    shapes.AgUiBody,
    shapes.Problem,
)


def create_app(
    condor: Condor, auth: AuthSettings, *, site: Site | None = None, caps: StreamCaps | None = None
) -> FastAPI:
    """The application of one opened Condor.

    Args:
        auth: who may sign in.
        site: where it is reached; default: port 8421 of this machine.
        caps: how many streams may be open.
    """
    edge = Edge(condor, auth, site or site_of(host="127.0.0.1", port=8421), caps or StreamCaps())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with edge.open():
            yield

    app = _Api(
        title="Condor",
        version=version("condor-runtime"),
        description=_DESCRIPTION,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={HTTPException: _http_problem, RequestValidationError: _query_problem},
    )
    app.state.edge = edge
    # Each on its own: a router in a router is searched anew for every request.
    for module in _ROUTES:
        app.include_router(module.router, prefix="/api/v1")
    pages = console_router(BUILT)
    # Where AG-UI clients look for it.
    app.include_router(agui.router, include_in_schema=False)
    app.include_router(health.router)
    app.include_router(pages)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi(_: SignedIn) -> Response:
        return json_answer(app.openapi())

    beside = [route for router in (agui.router, health.router, pages) for route in router.routes]
    own = ["/api", "/openapi.json", *(route.path for route in beside if isinstance(route, Route))]
    app.router.routes.extend(mounts.mount_routes(condor.mounts, own))
    app.add_middleware(Guard, site=edge.site, metrics=edge.metrics, mounts=tuple(condor.mounts))
    return app


class _Api(FastAPI):
    """FastAPI with the shapes that our own reader reads."""

    def openapi(self) -> dict[str, Any]:
        """The description of every route."""
        if not self.openapi_schema:
            described = super().openapi()
            _, definitions = models_json_schema(
                [(shape, "validation") for shape in _SHAPES], ref_template="#/components/schemas/{model}"
            )
            schemas = described.setdefault("components", {}).setdefault("schemas", {})
            schemas.update(definitions["$defs"])
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            described["components"]["schemas"] = dict(sorted(schemas.items()))
        return self.openapi_schema or {}


async def _http_problem(_: Request, fault: Exception) -> Response:
    """What the router says itself: no such path, not by that method."""
    assert isinstance(fault, HTTPException), "registered for it"
    headers: Mapping[str, str] = fault.headers or {}
    if fault.status_code == 405:
        return problem(
            "method_not_allowed", PROBLEMS["method_not_allowed"].cause, {"allow": headers.get("Allow", "")}
        )
    code = "not_found" if fault.status_code == 404 else "invalid_input"
    return problem(code, PROBLEMS[code].cause)


async def _query_problem(_: Request, fault: Exception) -> Response:
    """A query or a path that has not its shape; what stood there is not repeated."""
    assert isinstance(fault, RequestValidationError), "registered for it"
    faults = [
        {"at": "/".join(map(str, found["loc"])), "why": str(found["msg"])[:1].lower() + str(found["msg"])[1:]}
        for found in fault.errors()
    ]
    places = ", ".join(found["at"] for found in faults)
    return problem("invalid_input", f"the request is wrong at {places}", {"errors": faults})


__all__ = ["create_app"]
