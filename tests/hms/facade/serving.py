"""The embedded record behind its facade, on a socket, as one store: read over HTTP, written directly."""

from __future__ import annotations

import asyncio
import contextlib
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from condor import Principal
from condor.ports.mounts import MountRequest
from condor_hms.facade import READERS, RecordFacade
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.http import HttpFhirStore

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from condor_hms.fhir.port import Resource, TransactionResult

#: Everybody's roles, so that the suite meets the store and not its rights.
EVERYBODY = Principal(id="all", roles=frozenset().union(*READERS.values()))


class BehindFacade(HttpFhirStore):
    """A ``FhirStore`` whose every read goes through the facade."""

    def __init__(self, path: Path) -> None:
        """Of a record's file; it is opened with ``async with``."""
        self._path = path
        self._opened = AsyncExitStack()
        self._serving: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        """Open the record, serve it, and connect."""
        self._record = await self._opened.enter_async_context(EmbeddedFhirStore(self._path))
        self._facade = RecordFacade(self._record)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/fhir"
        super().__init__(self._url)
        return await super().__aenter__()

    async def __aexit__(self, *given: Any) -> None:
        """Close all of it."""
        await super().__aexit__(*given)
        self._server.close()
        await asyncio.gather(*self._serving)
        await self._opened.aclose()

    async def transact(self, bundle: Resource) -> TransactionResult:
        """To the record itself: the facade has no way to it."""
        return await self._record.transact(bundle)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        own = asyncio.current_task()
        assert own is not None
        self._serving.add(own)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._one(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, target, _ = first.split(" ")
        path, _, query = target.removeprefix("/fhir").removeprefix("/").partition("?")
        pairs = (line.partition(": ") for line in lines if line)
        answer = await self._facade.answer(
            MountRequest(
                method=method,
                path=path,
                query=query,
                headers={name.lower(): value for name, _, value in pairs},
                principal=EVERYBODY,
                base_url=self._url,
            )
        )
        headers = {**answer.headers, "content-length": str(len(answer.body))}
        head = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + answer.body)
        await writer.drain()
