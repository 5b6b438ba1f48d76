"""Numbered migrations of the SQLite database, and the checks before anything is written.

Law 1: a migration is never edited after a release; the next one follows.
Law 2: a database that this version cannot read is left exactly as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from condor.core.errors import HomeUnusable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

#: "Cndr": says whose file it is, before any of its tables is read (SQLite's ``application_id``).
APPLICATION_ID: Final = 0x436E6472

#: Texts of JSON are kept as TEXT, so that a person can read their own database; they are bound and
#: read as bytes through CAST, which costs nothing. Digests and ids: TEXT. Times: RFC 3339 in UTC
#: with milliseconds, whose text order is time order.
_FIRST: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
    # The latest time that any unit carried: expiry never goes back behind it.
    "INSERT INTO meta VALUES ('clock', '')",
    """CREATE TABLE run (
        run_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, session_id TEXT NOT NULL, status TEXT NOT NULL,
        epoch INTEGER NOT NULL, rev INTEGER NOT NULL, seq INTEGER NOT NULL, answers INTEGER NOT NULL,
        audit_seq INTEGER NOT NULL, audit_head TEXT NOT NULL, requester TEXT NOT NULL,
        autonomy TEXT NOT NULL, halt TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
    ) WITHOUT ROWID""",
    # Plain on purpose: SQLite does not use a partial index with IN. Carries run_id, so pages too.
    "CREATE INDEX run_by_status ON run (status)",
    """CREATE TABLE step (
        run_id TEXT NOT NULL, step_id TEXT NOT NULL, status TEXT NOT NULL, attempt INTEGER NOT NULL,
        key TEXT, code TEXT NOT NULL, PRIMARY KEY (run_id, step_id)
    ) WITHOUT ROWID""",
    # ``opened`` is the order in which cards were opened; every index carries it.
    """CREATE TABLE suspension (
        opened INTEGER PRIMARY KEY, suspend_id TEXT NOT NULL UNIQUE, run_id TEXT NOT NULL,
        tenant_id TEXT NOT NULL, step_id TEXT NOT NULL, generation INTEGER NOT NULL,
        reason_code TEXT NOT NULL, origin TEXT NOT NULL, contract_hash TEXT NOT NULL, tool TEXT NOT NULL,
        opened_at TEXT NOT NULL, expires_at TEXT, facts TEXT NOT NULL, status TEXT NOT NULL,
        decided_by TEXT, decided_at TEXT, consumed INTEGER NOT NULL
    )""",
    "CREATE INDEX suspension_by_status ON suspension (status)",
    "CREATE INDEX suspension_by_run ON suspension (run_id)",
    "CREATE INDEX suspension_due ON suspension (expires_at) WHERE status = 'pending'",
    # Rows are appended, so that a group of many runs fills few pages; their indexes are small.
    """CREATE TABLE event (
        run_id TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL,
        facts TEXT NOT NULL, PRIMARY KEY (run_id, seq)
    )""",
    """CREATE TABLE payload (
        run_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run_id, key)
    )""",
    # ``position`` keeps the order in which rows were stored, beside the number they claim, so that
    # verification sees rows that were inserted, doubled or moved.
    """CREATE TABLE audit (
        position INTEGER PRIMARY KEY, run_id TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL,
        prev_hash TEXT NOT NULL, hash TEXT NOT NULL
    )""",
    "CREATE INDEX audit_by_run ON audit (run_id, seq)",
)

#: The HTTP API: requests that may be sent twice, tokens, and a chat's latest run.
_SECOND: Final = (
    """CREATE TABLE request (
        tenant_id TEXT NOT NULL, principal_id TEXT NOT NULL, key TEXT NOT NULL, run_id TEXT NOT NULL,
        digest TEXT NOT NULL, PRIMARY KEY (tenant_id, principal_id, key)
    ) WITHOUT ROWID""",
    """CREATE TABLE token (
        token_id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, kind TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
        principal TEXT NOT NULL, scopes TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT NOT NULL,
        revoked_at TEXT
    ) WITHOUT ROWID""",
    # Carries run_id, so it is in the order of time.
    "CREATE INDEX run_by_session ON run (session_id)",
)

#: The circuit breaker's wall time: what was worked on a run, without what it was parked.
_THIRD: Final = ("ALTER TABLE run ADD COLUMN worked_ms INTEGER NOT NULL DEFAULT 0",)

#: The inbox: what open cards are listed by. An entry of these indexes lives as long as its card is open, and
#: carries ``opened``, so that a page comes in order.
_FOURTH: Final = (
    "ALTER TABLE suspension ADD COLUMN tier TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE suspension ADD COLUMN requester TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE suspension ADD COLUMN subject TEXT NOT NULL DEFAULT ''",
    """UPDATE suspension SET tier = coalesce(facts ->> '$.policy.effectiveTier', ''),
        requester = coalesce(facts ->> '$.requester', '') WHERE json_valid(facts)""",
    """UPDATE suspension SET subject = coalesce((SELECT value ->> '$.evidence.subject.reference' FROM payload
        WHERE payload.run_id = suspension.run_id AND key = 'card:' || suspend_id AND json_valid(value)),
        '')""",
    *(
        f"CREATE INDEX suspension_open_{column} ON suspension ({column}) WHERE status = 'pending'"
        for column in ("subject", "requester", "tool", "origin", "reason_code", "tier", "opened_at")
    ),
)

#: What administrators lay on tools; a revision is never changed.
_FIFTH: Final = (
    """CREATE TABLE tool_kernel (
        tenant_id TEXT NOT NULL, tool TEXT NOT NULL, rev INTEGER NOT NULL, body TEXT NOT NULL,
        prev_hash TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (tenant_id, tool, rev)
    ) WITHOUT ROWID""",
)

#: The tenant's chain, a link a batch of runs' heads, and up to which row each run is in it.
_SIXTH: Final = (
    """CREATE TABLE seal (
        tenant_id TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, prev_hash TEXT NOT NULL,
        hash TEXT NOT NULL, PRIMARY KEY (tenant_id, seq)
    )""",
    "CREATE TABLE sealed (run_id TEXT PRIMARY KEY, audit_seq INTEGER NOT NULL) WITHOUT ROWID",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH)

#: What this Condor reads and writes.
SCHEMA_VERSION: Final = len(MIGRATIONS)


def stored_version(connection: sqlite3.Connection, name: str) -> int:
    """The schema version of a database; 0 for an empty one.

    Raises:
        HomeUnusable: the file belongs to another program, or its version cannot be read.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application == 0 and tables == 0:
        return 0
    if application != APPLICATION_ID:
        raise HomeUnusable(f"{name} is a database of another program; give Condor a path of its own")
    found = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if found is None or not isinstance(found[0], int):
        raise HomeUnusable(f"{name} has no schema version; restore it from a backup")
    return found[0]


def migrate(
    connection: sqlite3.Connection, version: int, migrations: Sequence[Sequence[str]] = MIGRATIONS
) -> None:
    """Bring a database on from ``version``, each step in a transaction of its own."""
    for number, statements in enumerate(migrations[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if number == 1:
                # A PRAGMA takes no parameters; the number is ours.
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            for statement in statements:
                connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (number,))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
