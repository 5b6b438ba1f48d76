"""Reaching a PostgreSQL server: the address, connections that keep their promises, and what to say when not.

Law 1: a password stands in no message and no log: an address is told as ``user@host:port/database``.
Law 2: every connection commits durably (``synchronous_commit`` is at least ``on``).
"""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import asyncpg

from condor.core.errors import HomeUnusable, show
from condor.ports.database_url import DEFAULT_SCHEMA

#: Oldest server that the tests run against.
OLDEST_SERVER: Final = 15
#: Seconds that a server has to take a connection.
CONNECT_S_MAX: Final = 5.0
#: Seconds that a statement has; one that takes longer waits for something that will not come.
STATEMENT_S_MAX: Final = 30.0

#: A peer that is gone is noticed within ten seconds, on both ends.
_SETTINGS: Final = {
    "application_name": "condor",
    "client_encoding": "UTF8",
    "timezone": "UTC",
    "jit": "off",
    "tcp_keepalives_idle": "4",
    "tcp_keepalives_interval": "2",
    "tcp_keepalives_count": "3",
}
_DURABLE: Final = """SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')"""
_SCHEMA_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")

#: What a driver raises when a connection is no more; what was sent over it may have happened or not.
LOST: Final = (
    OSError,
    asyncio.TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleSessionTimeoutError,
    # Another server has become the one that takes writes.
    asyncpg.ReadOnlySQLTransactionError,
)
#: What a driver raises when a statement cannot be done, lost connections among them.
FAILED: Final = (asyncpg.PostgresError, *LOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a database is."""

    #: For the driver; holds the password.
    dsn: str
    schema: str
    #: ``user@host:port/database``, for people.
    name: str

    def __repr__(self) -> str:
        return f"<Address {self.name}>"


def address_of(url: str) -> Address:
    """The address that a URL says.

    Raises:
        HomeUnusable: it cannot be read; the message holds no part that could be a password.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        asked = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise HomeUnusable(
            "the database's address cannot be read; write postgresql://user:password@host:5432/database "
            "(escape what is special in a password: %40 for @)"
        ) from None
    schema = next((value for name, value in asked if name == "search_path"), DEFAULT_SCHEMA)
    if not _SCHEMA_NAME.fullmatch(schema):
        raise HomeUnusable(
            f"search_path {show(schema)} cannot be used; name one schema of lower-case letters, digits and _"
        )
    query = urlencode([(name, value) for name, value in asked if name != "search_path"], quote_via=quote)
    where = f"{parts.username or ''}@{host}" if parts.username else host or "the local socket"
    name = f"{where}{f':{port}' if port else ''}{parts.path if parts.path != '/' else ''}"
    return Address(dsn=urlunsplit(parts._replace(query=query)), schema=schema, name=name)


async def connect(address: Address) -> Any:
    """A connection of asyncpg.

    Raises:
        what the driver raises; ``explained`` says it in words.
    """
    connection: Any = await asyncpg.connect(
        address.dsn,
        timeout=CONNECT_S_MAX,
        command_timeout=STATEMENT_S_MAX,
        server_settings={**_SETTINGS, "search_path": address.schema},
    )
    try:
        # No setting of the database or the user acknowledges what a power cut could take back.
        await connection.execute(_DURABLE)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def checked(address: Address) -> Any:
    """A first connection, to a server that can be used.

    Raises:
        HomeUnusable: in one line why not, and what to do.
    """
    try:
        connection = await connect(address)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise HomeUnusable(explained(error, address)) from None
    try:
        await _check_server(connection, address.name)
    except BaseException:
        connection.terminate()
        raise
    return connection


async def _check_server(connection: Any, name: str) -> None:
    version = connection.get_server_version()
    if version.major < OLDEST_SERVER:
        raise HomeUnusable(f"{name} is PostgreSQL {version.major}; Condor needs {OLDEST_SERVER} or newer")
    encoding = await connection.fetchval("SHOW server_encoding")
    if encoding != "UTF8":
        raise HomeUnusable(f"{name} has encoding {encoding}; make a database with ENCODING 'UTF8' for Condor")


def explained(error: BaseException, address: Address) -> str:
    """What is in the way of a connection, and what to do; nothing of the address but its name."""
    name = address.name
    match error:
        case asyncpg.InvalidPasswordError() | asyncpg.InvalidAuthorizationSpecificationError():
            return f"PostgreSQL does not let {name} in: check user and password in CONDOR_DATABASE_URL"
        case asyncpg.InvalidCatalogNameError():
            database = name.rpartition("/")[2]
            return f"PostgreSQL has no database {name}; make it: createdb {database}"
        case asyncpg.InsufficientPrivilegeError():
            return (
                f"the user of {name} has not the rights that Condor needs: {_said(error)}; let it own a "
                f"schema: CREATE SCHEMA {address.schema} AUTHORIZATION …, or GRANT CREATE ON DATABASE"
            )
        case asyncpg.TooManyConnectionsError():
            return f"PostgreSQL takes no more connections at {name}; raise max_connections, or stop a client"
        case asyncpg.PostgresError():
            return f"PostgreSQL at {name} refuses: {_said(error)}"
        case asyncio.TimeoutError():
            return (
                f"no PostgreSQL answers at {name} within {CONNECT_S_MAX:g} s; check host, port and firewall"
            )
        case OSError():
            return (
                f"no PostgreSQL answers at {name} ({_system(error)}); is it running, and is the port right?"
            )
        case _:
            return (
                f"the address of {name} cannot be used; write postgresql://user:password@host:5432/database"
            )


def _said(error: asyncpg.PostgresError) -> str:
    """The server's own line, cut to one."""
    return str(error).partition("\n")[0]


def _system(error: OSError) -> str:
    return os.strerror(error.errno).lower() if error.errno and error.errno > 0 else type(error).__name__
