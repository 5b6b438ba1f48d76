"""Which store an address means, and opening it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from condor.core.errors import HomeUnusable, RefusedInput, show
from condor.ports.database_url import is_postgres, scheme_of
from condor.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from condor.ports.faults import Faults
    from condor.ports.store import Store


async def open_store(
    url: str,
    home: Path,
    *,
    faults: Faults,
    read_only: bool,
    heard: Callable[[Sequence[str] | None], None],
    shared: bool = False,
    works: bool = False,
) -> Store:
    """Open a store, creating and migrating it if need be.

    Args:
        url: ``sqlite:///file.db`` or ``postgresql://…``; empty: ``condor.db`` in the home.
        home: made if need be, with mode 0700, where the database is to be in it.
        faults: for tests.
        read_only: read beside a living owner; creates nothing.
        heard: see ``PostgresStore.open``; never called where nobody shares the store.
        shared: refuse a database that one process owns: it has no jobs.
        works: this process takes jobs.

    Raises:
        RefusedInput: the address is no text.
        HomeUnusable: in one line what is in the way, and what to do.
    """
    if not isinstance(url, str):
        raise RefusedInput(
            f"database_url is {show(url)}, no address; write sqlite:///path/to/file.db "
            "or postgresql://user:password@host/database"
        )
    if shared and not is_postgres(url):
        raise HomeUnusable(
            "workers need a database that processes share: set CONDOR_DATABASE_URL to postgresql://…"
        )
    if is_postgres(url):
        try:
            from condor.store.postgres import PostgresStore
        except ModuleNotFoundError as error:
            raise HomeUnusable(
                f"a PostgreSQL database needs {error.name}: install condor-runtime[postgres]"
            ) from error
        # Who only reads looks once; a connection that listens would be for nothing.
        return await PostgresStore.open(
            url, faults=faults, read_only=read_only, works=works, heard=None if read_only else heard
        )
    if not url:
        _make_home(home, create=not read_only)
        path = home / "condor.db"
    else:
        scheme, _, rest = url.partition(":///")
        if scheme != "sqlite" or not rest:
            # The address is not shown: it may hold a password.
            kind = f"of kind {show(scheme_of(url))}" if scheme_of(url) else "without a scheme"
            raise HomeUnusable(
                f"a database {kind} is not known; take sqlite:///path/to/file.db "
                "or postgresql://user:password@host/database"
            )
        path = Path(rest)
    return SqliteStore.open(path, faults=faults, read_only=read_only)


def _make_home(home: Path, *, create: bool) -> None:
    if home.is_dir():
        return
    if not create:
        raise HomeUnusable(f"there is no home at {home}; `condor run` makes one")
    try:
        home.mkdir(mode=0o700, parents=True)
    except OSError as fault:
        raise HomeUnusable(f"the home {home} cannot be made: {fault.strerror}; set CONDOR_HOME") from fault


__all__ = ["open_store"]
