"""Commands as a person types them: real processes, real terminals."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import io
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condor.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOP = Path(__file__).parent / "shop_pack"
CONDOR = (sys.executable, "-m", "condor")
#: Seconds after which a command counts as hung.
HUNG_S = 60.0
REFUND = {"steps": [{"id": "r", "tool": "shop.refund", "args": {"order": "A-1", "cents": 1200}}]}

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command left."""

    code: int
    out: str
    err: str = ""

    @property
    def json(self) -> Any:
        """Its output as one document."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Its output as one document a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def words(self) -> str:
        """Its output as a person reads it: no colours, frames or breaks of lines."""
        plain = re.sub(r"[│╭╮╰╯─]", " ", _ESCAPES.sub("", self.out))
        return " ".join(plain.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """A directory with a home in it, and the shop's pack configured."""

    directory: Path
    packs: str = "shop"

    @property
    def home(self) -> Path:
        """Where its state is."""
        return self.directory / ".condor"

    def env(self, **more: str) -> dict[str, str]:
        """The environment of a command: nothing of the tester's own."""
        kept = {
            name: os.environ[name]
            for name in ("PATH", "HOME", "TMPDIR", "COVERAGE_PROCESS_START")
            if name in os.environ
        }
        # Who may write but little would leave half a bytecode, on which every later process fails.
        kept["PYTHONDONTWRITEBYTECODE"] = "1"
        return {**kept, "PYTHONPATH": str(SHOP), "CONDOR_PACKS": self.packs, "LANG": "C.UTF-8", **more}

    def run(self, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Done:
        """One command, not in a terminal, in this process: quick."""
        with _stage(self.directory, self.env(**(env or {})), stdin) as streams:
            code = app.run_arguments(list(words))
        return Done(code=code, out=streams.out.getvalue().decode(), err=streams.err.getvalue().decode())

    def process(
        self, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None, **options: Any
    ) -> Done:
        """One command, not in a terminal, in a process of its own: as it is."""
        done = subprocess.run(
            [*CONDOR, *words],
            cwd=self.directory,
            input=stdin,
            env=self.env(**(env or {})),
            capture_output=True,
            timeout=HUNG_S,
            check=False,
            **options,
        )
        return Done(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def begin(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """One command, left running."""
        return subprocess.Popen(
            [*CONDOR, *words],
            cwd=self.directory,
            env=self.env(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def plan(self, plan: object, name: str = "plan.json") -> str:
        """A plan as a file."""
        (self.directory / name).write_text(json.dumps(plan), encoding="utf-8")
        return name

    def parked(self, plan: object = None, user: str = "mia") -> Any:
        """A run that waits; its snapshot."""
        done = self.run("run", "--plan", self.plan(plan or REFUND), "--as", user, "--json")
        assert done.code == 3, done
        return done.lines[-1]["run"]

    @property
    def ledger(self) -> list[Any]:
        """What the shop has really done."""
        path = self.home / "shop" / "ledger.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def database(self) -> bytes:
        """All that is stored, to see that nothing has changed."""
        read = [
            path.read_bytes()
            for path in (self.home / "condor.db", self.home / "condor.db-wal")
            if path.exists()
        ]
        return b"".join(read)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Streams:
    """What a command in this process wrote."""

    out: io.BytesIO
    err: io.BytesIO


@contextlib.contextmanager
def _stage(directory: Path, environment: dict[str, str], stdin: bytes) -> Iterator[_Streams]:
    """The world of one command: directory, environment, path of packs, streams; then ours again."""
    streams = _Streams(out=io.BytesIO(), err=io.BytesIO())
    theirs = [
        io.TextIOWrapper(stream, "utf-8", "backslashreplace", write_through=True)
        for stream in (streams.out, streams.err)
    ]
    ours = (Path.cwd(), dict(os.environ), list(sys.path), sys.stdin, sys.stdout, sys.stderr)
    try:
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        sys.path.insert(0, str(SHOP))
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
        sys.stdout, sys.stderr = theirs
        yield streams
    finally:
        os.chdir(ours[0])
        os.environ.clear()
        os.environ.update(ours[1])
        sys.path[:], sys.stdin, sys.stdout, sys.stderr = ours[2:]
        for wrapper in theirs:
            wrapper.detach()


class Terminal:
    """One command in a terminal of its own, read and typed into."""

    def __init__(self, shell: Shell, *words: str, columns: int = 100, **env: str) -> None:
        """Begin the command."""
        self.seen = ""
        self._read_to = 0
        # A read may end inside a sign.
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        environment = shell.env(**{"TERM": "xterm-256color", **env})
        self.pid, self._fd = pty.fork()
        if self.pid == 0:  # the child
            os.chdir(shell.directory)
            os.execve(CONDOR[0], [*CONDOR, *words], environment)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))

    def expect(self, text: str) -> str:
        """Wait for a text; what was written up to it since the last one."""
        until = time.monotonic() + HUNG_S
        while True:
            plain = _ESCAPES.sub("", self.seen)
            found = plain.find(text, self._read_to)
            if found >= 0:
                begun, self._read_to = self._read_to, found + len(text)
                return plain[begun : self._read_to]
            if time.monotonic() > until or not self._more():
                raise AssertionError(f"never saw {text!r} in:\n{plain}")

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._fd, text.encode())

    def end(self) -> Done:
        """Wait for the command's end."""
        while self._more():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self._fd)
        return Done(code=os.waitstatus_to_exitcode(status), out=self.seen)

    def _more(self) -> bool:
        """Read what is there; False at the end."""
        ready, _, _ = select.select([self._fd], [], [], HUNG_S)
        assert ready, f"hung after:\n{self.seen}"
        with contextlib.suppress(OSError):  # the other side has closed it
            chunk = os.read(self._fd, 65536)
            self.seen += self._decode(chunk)
            return bool(chunk)
        return False
