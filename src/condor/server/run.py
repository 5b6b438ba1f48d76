"""Serving one home on one socket until it is told to stop.

Law 1: nothing is listened on before it is known who may sign in and from where.
Law 2: what is printed and left (address, ``server.json``) is there once requests are answered, not before.
Law 3: to stop takes seconds: streams end, what is in flight has its grace, runs go on at the next start.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from condor.core.errors import HomeUnusable
from condor.core.run import LOCAL_PERSON
from condor.server.app import create_app
from condor.server.auth import AuthSettings, check_binding
from condor.server.auth.secret import new_secret
from condor.server.protocol import BoundedProtocol
from condor.server.server_file import ServerFile
from condor.server.site import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from condor.bootstrap import Condor
    from condor.server.auth import AuthMode
    from condor.server.edge import Edge
    from condor.server.live import StreamCaps
    from condor.server.site import Site

#: Seconds that open connections have when the server stops; an open stream would keep it alive.
_GRACE_S: Final = 2
#: What tells a server to stop: a person, and whoever looks after processes.
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
#: Connections that wait to be accepted.
_BACKLOG: Final = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that answers."""

    site: Site
    file: ServerFile
    #: Who may sign in with a code, and their links; each link counts once.
    links: tuple[tuple[str, str], ...]
    #: A further link of the first of them, for a browser that is opened here; empty where nobody has one.
    own_link: str
    #: Begin to stop, as a signal does.
    stop: Callable[[], None]


def bound(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Its connections inherit TCP_NODELAY: asyncio sets it only where the socket names its protocol, which
    ``create_server`` does not, and each answer on a kept connection would wait 40 ms for the peer's ACK.

    Raises:
        HomeUnusable: the port is taken, or not ours to take.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise HomeUnusable(
            f"cannot listen on {host}:{port}: {error.strerror}; take another --port, or 0 for a free one",
            code="port",
        ) from error
    return listening


async def serve(
    condor: Condor,
    home: Path,
    listening: socket.socket,
    *,
    mode: AuthMode,
    public_url: str = "",
    database_url: str = "",
    caps: StreamCaps | None = None,
    ready: Callable[[Served], None] = lambda _: None,
) -> None:
    """Serve an opened Condor until SIGTERM or SIGINT.

    Args:
        home: where ``server.json`` is left while it serves.
        database_url: of the database outside the home, for the commands that read beside it.
        listening: of ``bound``; closed at the end.
        ready: called when requests are answered.
    """
    host, port = listening.getsockname()[:2]
    check_binding(mode, host)
    site = site_of(host=host, port=port, public_url=public_url)
    token = new_secret("home")
    people = () if mode == "tokens" else tuple(condor.principals) or (LOCAL_PERSON,)
    auth = AuthSettings(mode=mode, people=people, home_token=token)
    app = create_app(condor, auth, site=site, caps=caps)
    own = f"http://[{host}]:{port}" if ":" in host else f"http://{_reached(host)}:{port}"
    file = ServerFile(url=own, token=token, pid=os.getpid(), database_url=database_url)

    def started() -> None:
        file.write(home)
        edge = app.state.edge
        links = tuple((who.id, sign_in_link(edge, who.id)) for who in people if who.id != LOCAL_PERSON.id)
        own_link = sign_in_link(edge, links[0][0]) if links else ""
        ready(Served(site=site, file=file, links=links, own_link=own_link, stop=server.stop))

    server = _Server(uvicorn.Config(app, **_CONFIG), app.state.edge, started)
    try:
        await server.serve(sockets=[listening])
    finally:
        file.remove(home)
        listening.close()


def sign_in_link(edge: Edge, principal_id: str) -> str:
    """An address that signs a person in, once. Its code stands in the fragment, which no request carries."""
    return f"{edge.site.url}/#principal={principal_id}&code={edge.gate.new_code(principal_id)}"


def _reached(host: str) -> str:
    return "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - it is compared, not bound


_CONFIG: Final[dict[str, Any]] = {
    "log_config": None,
    "access_log": False,
    "http": BoundedProtocol,
    "ws": "none",
    "lifespan": "on",
    "timeout_graceful_shutdown": _GRACE_S,
    "proxy_headers": False,
    "server_header": False,
}


class _Server(uvicorn.Server):
    """Uvicorn that says when it answers, and ends streams first when it goes."""

    def __init__(self, config: uvicorn.Config, edge: Edge, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._edge, self._started = edge, started

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, and go on from there: uvicorn's own way ends the process before it is closed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._edge.streams.close()
        await super().shutdown(sockets)


__all__ = ["Served", "bound", "serve", "sign_in_link"]
