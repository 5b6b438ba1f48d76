"""Make the golden databases of this version: ``python -m tests.golden.make``.

Once a schema version, before it is released; a file that is there is never made anew, or nothing would show
that what an older version wrote can still be read.
"""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

from condor.store import migrations, postgres_migrations
from condor.testing.postgres_cluster import PostgresCluster, find_programs, running_cluster
from tests.golden.desk import FILES, HANDED_OVER, fill, opened, plan_of
from tests.pump.desk import ANN

SQLITE = FILES / f"sqlite-schema-{migrations.SCHEMA_VERSION}.db"
POSTGRES = FILES / f"postgres-schema-{postgres_migrations.SCHEMA_VERSION}.sql"


async def make_sqlite(folder: Path) -> None:
    """The file, as it is while its process is at work."""
    gate, entered = asyncio.Event(), asyncio.Event()
    async with opened(folder, f"sqlite:///{folder / 'c.db'}", seed=1, gate=gate, entered=entered) as condor:
        await fill(condor, entered)
        with closing(sqlite3.connect(f"file:{folder / 'c.db'}?mode=ro", uri=True)) as connection:
            connection.execute("VACUUM INTO ?", (str(SQLITE),))
        gate.set()
    SQLITE.chmod(0o644)


async def make_postgres(folder: Path, cluster: PostgresCluster) -> None:
    """The rows as statements, with a run more that waits for a worker; migrations make what they stand in."""
    gate, entered = asyncio.Event(), asyncio.Event()
    async with (
        opened(folder, cluster.url, seed=1, gate=gate, entered=entered) as condor,
        opened(folder, cluster.url, seed=2, gate=gate, entered=entered, driven="workers") as server,
    ):
        await fill(condor, entered)
        await server.start(plan=plan_of(HANDED_OVER), principal=ANN, session_id=HANDED_OVER)
        dump = await asyncio.to_thread(dumped, cluster.url)
        gate.set()
    # What a newer psql asks for and an older one does not know is left out.
    strange = ("\\", "--", "SET transaction_timeout")
    kept = [line for line in dump.splitlines() if line.strip() and not line.startswith(strange)]
    POSTGRES.write_text("\n".join(kept) + "\n", encoding="utf-8")


def dumped(url: str) -> str:
    """The rows of Condor's schema of a database, as statements."""
    programs = find_programs()
    assert programs is not None
    options = ["--schema=condor", "--data-only", "--disable-triggers", "--inserts"]
    options += ["--exclude-table=condor.schema_version", url]
    return subprocess.run([programs / "pg_dump", *options], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Make what is not there."""
    FILES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        if not SQLITE.exists():
            (Path(directory) / "sqlite").mkdir()
            asyncio.run(make_sqlite(Path(directory) / "sqlite"))
            print(f"made {SQLITE.name}")  # noqa: T201 - it says what it did
        if not POSTGRES.exists():
            (Path(directory) / "postgres").mkdir()
            with running_cluster() as cluster:
                asyncio.run(make_postgres(Path(directory) / "postgres", cluster))
            print(f"made {POSTGRES.name}")  # noqa: T201 - as above


if __name__ == "__main__":
    main()
