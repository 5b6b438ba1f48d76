"""Build the console into the package, when Node and npm are there and its sources changed.

``python web/build_console.py`` by hand or by make; the build hook of the wheel calls ``build``.
Exit code 0 when it is there and of these sources, or when it cannot be built and nobody said ``--required``.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
BUILT = WEB.parent / "src" / "condor" / "console" / "built"
#: The hash of the sources that it was built from.
MARK = BUILT / ".sources"
#: Oldest Node that builds it.
NODE_MIN = 20
_SOURCES = ("src/**/*", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")


def missing() -> str | None:
    """Why it cannot be built here; None when it can."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return "Node is not installed, or has no npm"
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    version = re.match(r"v(\d+)\.", said)
    if version is None or int(version[1]) < NODE_MIN:
        return f"Node {said.strip()} is older than {NODE_MIN}"
    return None


def sources_hash() -> str:
    """Of every file that the build reads, by name and content."""
    digest = hashlib.sha256()
    files = {path for pattern in _SOURCES for path in WEB.glob(pattern) if path.is_file()}
    for path in sorted(files):
        digest.update(f"{path.relative_to(WEB).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_fresh() -> bool:
    """Whether what is built was built from these sources."""
    return MARK.is_file() and MARK.read_text(encoding="utf-8") == sources_hash()


def install() -> None:
    """The packages of the lock, once for each lock."""
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    mark = WEB / "node_modules" / ".condor-lock"
    if mark.is_file() and mark.read_text(encoding="utf-8") == lock:
        return
    _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    mark.write_text(lock, encoding="utf-8")


def build() -> str | None:
    """Build it unless it is fresh; why it could not be, or None."""
    if is_fresh():
        return None
    reason = missing()
    if reason is not None:
        return reason
    hashed = sources_hash()
    install()
    _run("npm", "run", "--silent", "build")
    MARK.write_text(hashed, encoding="utf-8")
    return None


def _run(*command: str) -> None:
    """Run it in ``web/``; what it says goes to stderr, as a build's standard output may be read."""
    subprocess.run(command, cwd=WEB, check=True, stdout=sys.stderr)


def main(arguments: list[str]) -> int:
    """Build it; say so where it cannot be built."""
    reason = build()
    if reason is None:
        return 0
    print(
        f"The console is not built: {reason}. The server and the command line run without it.",
        file=sys.stderr,
    )
    return 1 if "--required" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
