"""A home that a server owns: read beside it, changed through it.

Law 1: what a command reads it reads from the home itself; what it changes, the server changes.
Law 2: a refusal of the server is the same error that the same command meets without one.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from condor.core import errors
from condor.core.errors import HomeUnusable
from condor.core.ids import RunId, SessionId
from condor.core.run import LOCAL_PERSON, EventKind, Principal, RunEvent, RunStatus
from condor.runtime import Run
from condor.runtime.readings import Readings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from condor.bootstrap import Condor
    from condor.core.ids import Json
    from condor.ports.store import Store
    from condor.server.server_file import ServerFile

#: Seconds for one answer of a server on this machine; a stream says something every 15.
_PATIENCE_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Server:
    """The server of a home, over its loopback address; blocking, for a thread."""

    def __init__(self, file: ServerFile) -> None:
        """Nobody is signed in."""
        self._file = file
        self._cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, body: object = None, *, who: str) -> Answer:
        """One request as a person.

        Raises:
            CondorError: what the server refused, as the error it is.
            HomeUnusable: there is no server after all.
        """
        cookie = self._signed_in(who)
        answer = self._send(method, path, body, cookie)
        if answer.status >= 400:
            raise error_of(answer)
        return answer

    def lines(self, path: str, *, who: str) -> Stream:
        """A stream of events."""
        cookie = self._signed_in(who)
        connection = self._connection()
        connection.connect()
        # An answer without an end takes the socket away from its connection.
        held = connection.sock
        connection.request("GET", f"/api/v1{path}", headers={"cookie": cookie})
        response = connection.getresponse()
        stream = Stream(held, response)
        if response.status >= 400:
            refusal = error_of(_answer(response))
            stream.close()
            raise refusal
        return stream

    def _signed_in(self, who: str) -> str:
        if who not in self._cookies:
            body = {"principal": who, "code": self._file.token}
            answer = self._send("POST", "/session", body, "")
            if answer.status >= 400:
                raise error_of(answer)
            self._cookies[who] = answer.headers["set-cookie"].partition(";")[0]
        return self._cookies[who]

    def _send(self, method: str, path: str, body: object, cookie: str) -> Answer:
        headers = {"origin": self._file.url, "content-type": "application/json"}
        if cookie:
            headers["cookie"] = cookie
        connection = self._connection()
        try:
            encoded = None if body is None else json.dumps(body).encode()
            connection.request(method, f"/api/v1{path}", encoded, headers)
            return _answer(connection.getresponse())
        except OSError as error:
            raise HomeUnusable(
                f"the server of this home (process {self._file.pid}) does not answer: {error}; stop it"
            ) from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self._file.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_PATIENCE_S)


class Stream:
    """An open stream of server-sent events."""

    def __init__(self, held: socket.socket, response: http.client.HTTPResponse) -> None:
        """Of an answer that has begun."""
        self._held, self._response = held, response

    def next(self) -> Any:
        """The next event's data; None at the end."""
        while line := self._response.readline():
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def close(self) -> None:
        """Leave; a thread that waits for the next line returns."""
        with contextlib.suppress(OSError):  # the server has left first
            self._held.shutdown(socket.SHUT_RDWR)
        self._response.close()
        self._held.close()


def _answer(response: http.client.HTTPResponse) -> Answer:
    raw = response.read()
    kind = response.headers.get("content-type", "")
    body = json.loads(raw) if raw and "json" in kind else None
    return Answer(status=response.status, headers=dict(response.headers.items()), body=body)


def error_of(answer: Answer) -> errors.CondorError:
    """What a problem of the server is to a command."""
    problem = answer.body if isinstance(answer.body, dict) else {}
    code, detail = str(problem.get("code", "")), str(problem.get("detail", "the server refused"))
    match code:
        case "already_decided":
            return errors.AlreadyDecided(
                decision=str(problem.get("decision")),
                decided_by=str(problem.get("decidedBy")),
                decided_at=str(problem.get("decidedAt")),
            )
        case "stale_suspension":
            return errors.StaleSuspension(
                str(problem.get("cause", detail)), next_suspend_id=problem.get("nextSuspendId")
            )
        case "invalid_answer" | "invalid_edit":
            kind = errors.EditInvalid if code == "invalid_edit" else errors.AnswerInvalid
            return kind(detail.removesuffix("; the card stays open"))
        case "not_signed_in":
            return HomeUnusable("the server of this home does not know its own secret; start it again")
        case _:
            pass
    known = _ERRORS.get(code)
    if known is None:
        known = errors.StoreUnavailable if answer.status >= 500 else errors.RefusedInput
    return known(detail, code=code or None)


_ERRORS: Final[Mapping[str, type[errors.CondorError]]] = {
    kind.code: kind
    for kind in (
        errors.AnswerRefused,
        errors.NotAllowed,
        errors.NotAnApprover,
        errors.NotEditable,
        errors.RequestNotUnderstood,
        errors.RunNotSuspendedError,
        errors.SuspensionExpired,
    )
} | {"run_not_active": errors.RunNotSuspendedError}


class RemoteCondor(Readings):
    """What a command of a person uses of ``Condor``, through the home's server."""

    def __init__(self, server: Server, reader: Condor, people: Mapping[str, Any]) -> None:
        """Of a server that answers.

        Args:
            reader: the home, opened to read.
            people: of ``GET /api/principals``.
        """
        self._server, self._reader = server, reader
        self.principals: Sequence[Principal] = [
            Principal(id=who["id"], roles=frozenset(who["roles"]), display=who["display"])
            for who in people["people"]
            if who["id"] != LOCAL_PERSON.id
        ]
        self.default_principal = next((p for p in self.principals if p.id == people["default"]), None)
        #: What packs tell at their opening, the server has told.
        self.notes: Sequence[str] = ()
        self.demo_request: str | None = None
        self._acting = LOCAL_PERSON.id

    async def start(
        self,
        request: str | None = None,
        *,
        plan: Any = None,
        autonomy: str = "guarded",
        principal: Principal = LOCAL_PERSON,
        quoted: Mapping[str, str] | None = None,
    ) -> Run:
        """Start a run; see ``Condor.start``."""
        body: dict[str, Any] = {"request": request} if request is not None else {"plan": plan}
        if quoted:
            body["quoted"] = dict(quoted)
        begun = await self._ask("POST", "/runs", {**body, "autonomy": autonomy}, principal)
        run = begun.body
        return Run(
            id=RunId(run["runId"]), session_id=SessionId(run["sessionId"]), status=RunStatus(run["status"])
        )

    async def resume(
        self, run_id: str, suspend_id: str, data: object, *, principal: Principal = LOCAL_PERSON
    ) -> None:
        """Answer a card; see ``Condor.resume``."""
        body = {"suspendId": suspend_id, "resumeData": data}
        await self._ask("POST", f"/runs/{_word(run_id)}/resume", body, principal)

    async def edit(
        self, suspend_id: str, args: Mapping[str, Any], *, principal: Principal = LOCAL_PERSON
    ) -> dict[str, Json]:
        """Change a call on its card; see ``Condor.edit``."""
        path = f"/suspensions/{_word(suspend_id)}/edit"
        return dict((await self._ask("POST", path, {"args": args}, principal)).body)

    async def stop(self, run_id: str, *, principal: Principal = LOCAL_PERSON, reason: str = "") -> None:
        """Stop a run; see ``Condor.stop``."""
        await self.show(run_id)
        await self._ask("POST", f"/runs/{_word(run_id)}/stop", {"reason": reason}, principal)

    async def watch(self, run_id: str, *, after: int = 0) -> AsyncIterator[RunEvent]:
        """The run's events until its next rest; see ``Condor.watch``."""
        path = f"/runs/{_word(run_id)}/events?after={after}"
        stream = await asyncio.to_thread(self._server.lines, path, who=self._acting)
        try:
            while (told := await asyncio.to_thread(stream.next)) is not None:
                if told["type"] == "run.snapshot":
                    return
                head = {name: told.pop(name) for name in ("type", "runId", "seq", "at")}
                yield RunEvent(
                    run_id=head["runId"],
                    seq=head["seq"],
                    kind=EventKind(head["type"]),
                    at=head["at"],
                    facts=told,
                )
        finally:
            stream.close()

    def stands_still(self, run_id: str) -> bool:
        """Not known from here: a server goes on by itself when its store takes something again."""
        return False

    async def wait(self, run_id: str) -> dict[str, Json]:
        """The snapshot of a run at its next rest."""
        async for _ in self.watch(run_id):
            pass
        return await self.show(run_id)

    async def _ask(self, method: str, path: str, body: object, principal: Principal) -> Answer:
        self._acting = principal.id
        try:
            return await asyncio.to_thread(self._server.ask, method, path, body, who=principal.id)
        except errors.RefusedInput as refusal:
            if refusal.code != "not_found":
                raise
            # The home holds it, so it is there, and not for this person.
            raise errors.NotAnApprover(
                f"{principal.name} may neither see nor answer this; somebody else must"
            ) from None

    def _stored(self) -> Store:
        return self._reader.store


def _word(text: str) -> str:
    return quote(text, safe="")


async def through_server(file: ServerFile, reader: Condor) -> RemoteCondor:
    """Condor through a home's running server; ``reader`` is the home, opened to read."""
    server = Server(file)
    people = await asyncio.to_thread(server.ask, "GET", "/principals", who=LOCAL_PERSON.id)
    return RemoteCondor(server, reader, people.body)


__all__ = ["Answer", "RemoteCondor", "Server", "through_server"]
