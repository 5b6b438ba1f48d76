"""A PostgreSQL cluster of a test's own: on loopback, on a free port, in a directory that goes with it.

Law: it commits as a real one does (``fsync`` is on); it is stopped by the id of its process, never by name.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from condor.ports.database_url import DEFAULT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How to get the programs; said where they are missing.
HOW_TO_GET: Final = (
    "PostgreSQL 15 or newer is needed: apt-get install postgresql (no service need run), "
    "or put initdb and postgres on the PATH"
)
#: The one user of a cluster; on loopback it needs no password.
USER: Final = "condor"
#: Another one, which does.
GATED_USER: Final = "gated"
GATED_PASSWORD: Final = "se%cret:p@ss/word"  # noqa: S105 - of a cluster that lives for one test
#: Where Debian keeps the programs, by version.
_DEBIAN: Final = Path("/usr/lib/postgresql")
#: Who runs a cluster where the tests run as root, which PostgreSQL refuses to.
_STAND_IN: Final = "postgres"
#: Seconds that a cluster has to answer, and to stop.
_START_S_MAX: Final = 60.0
_LOOK_EVERY_S: Final = 0.02

_ACCESS: Final = f"""
local all all trust
host all {GATED_USER} 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
"""
_SETTINGS: Final = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{directory}'
fsync = on
max_connections = 200
shared_buffers = 128MB
max_wal_size = 1GB
log_line_prefix = '%m [%p] '
"""
#: Rows are removed, not tables: a schema takes a fifth of a second to make.
#: A pack's schema is beside Condor's, and named after it.
_EMPTY: Final = f"""DO $do$ DECLARE place text; name text; BEGIN
    FOR place, name IN SELECT schemaname, tablename FROM pg_tables
        WHERE (schemaname = '{DEFAULT_SCHEMA}' OR schemaname LIKE '{DEFAULT_SCHEMA}\\_%')
        AND tablename NOT IN ('schema_version', 'record_version') LOOP
        EXECUTE format('DELETE FROM %I.%I', place, name);
    END LOOP;
    IF to_regclass('{DEFAULT_SCHEMA}.writer') IS NOT NULL THEN
        INSERT INTO {DEFAULT_SCHEMA}.writer (writer_id) VALUES (0);
    END IF;
END $do$"""


def find_programs() -> Path | None:
    """The directory of ``initdb`` and ``postgres``; None where there is none."""
    found = shutil.which("initdb")
    if found is not None and (Path(found).parent / "postgres").exists():
        return Path(found).resolve().parent
    versions = [path for path in _DEBIAN.glob("*/bin") if (path / "initdb").exists()]
    return max(versions, key=lambda path: float(path.parent.name), default=None)


class PostgresCluster:
    """A running cluster."""

    def __init__(self, programs: Path, directory: Path) -> None:
        """Not made yet; ``start`` makes it."""
        self._programs = programs
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Of its database ``condor``, for ``CONDOR_DATABASE_URL``."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/condor"

    def make(self) -> None:
        """Make the cluster on disk."""
        place = self._directory / "cluster"
        options = ["--username", USER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8"]
        self._run("initdb", "--pgdata", str(place), "--no-sync", *options)
        self.port = _free_port()
        with (place / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(_SETTINGS.format(port=self.port, directory=self._directory))
        (place / "pg_hba.conf").write_text(_ACCESS, encoding="utf-8")

    def start(self) -> None:
        """Start, and wait until it answers; it ends with the thread that called this."""
        with (self._directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._directory / "cluster"],
                cwd=self._directory, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=_die_with_us,
                user=_stand_in(), group=_stand_in(), extra_groups=_no_groups(),
            )  # fmt: skip
        until = time.monotonic() + _START_S_MAX
        while self._run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), check=False):
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"PostgreSQL did not start:\n{self.log()[-2000:]}")
            time.sleep(_LOOK_EVERY_S)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop: SIGINT at once but in order; SIGQUIT as a power cut would, nearly."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(_START_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def sql(self, *statements: str, database: str = "condor", user: str = USER) -> str:
        """Run statements, each by itself, as another program would; what they printed."""
        commands = [word for statement in statements for word in ("-c", statement)]
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", user, "-d", database]
        done = subprocess.run(
            [self._programs / "psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", *where, *commands],
            capture_output=True, text=True, check=False, timeout=_START_S_MAX,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()

    def emptied(self) -> str:
        """The address of ``condor``, whose schema is as it was when it was made; nobody may have it open."""
        self.sql(_EMPTY)
        return self.url

    def log(self) -> str:
        """What the server wrote."""
        return (self._directory / "log").read_text(encoding="utf-8", errors="replace")

    def _run(self, program: str, *words: str, check: bool = True) -> int:
        done = subprocess.run(
            [self._programs / program, *words], capture_output=True, text=True, check=False,
            cwd=self._directory, user=_stand_in(), group=_stand_in(), extra_groups=_no_groups(),
        )  # fmt: skip
        if check and done.returncode:
            raise RuntimeError(f"{program} failed:\n{done.stderr}")
        return done.returncode


@contextmanager
def running_cluster(programs: Path | None = None, *, under: Path | None = None) -> Iterator[PostgresCluster]:
    """A cluster with a database ``condor``, stopped and removed at the end.

    Args:
        programs: where they are; default: as ``find_programs`` finds them.
        under: the directory to make its own in, whose disk counts; default, and where it is closed to the
            user that runs the cluster for root: the system's for temporary files.

    Raises:
        FileNotFoundError: there are no programs; how to get them.
    """
    programs = programs or find_programs()
    if programs is None:
        raise FileNotFoundError(HOW_TO_GET)
    if under is not None and _stand_in() is not None and not _open_to_all(under):
        under = None
    directory = Path(tempfile.mkdtemp(prefix="condor-pg-", dir=under))
    if (owner := _stand_in()) is not None:
        shutil.chown(directory, owner, owner)
    cluster = PostgresCluster(programs, directory)
    try:
        cluster.make()
        cluster.start()
        cluster.sql(
            "CREATE DATABASE condor",
            f"CREATE ROLE {GATED_USER} LOGIN PASSWORD '{GATED_PASSWORD}'",
            database="postgres",
        )
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _die_with_us() -> None:
    """Tests that are killed leave no server behind (Linux: prctl 1, PR_SET_PDEATHSIG)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _open_to_all(directory: Path) -> bool:
    """Whether any user may pass through a directory and all above it."""
    above = directory.absolute().parents
    return all(path.stat().st_mode & stat.S_IXOTH for path in (directory, *above))


def _stand_in() -> str | None:
    return _STAND_IN if os.geteuid() == 0 else None


def _no_groups() -> list[str] | None:
    return [] if os.geteuid() == 0 else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
