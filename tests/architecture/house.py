"""Where the house stands and what is in it; read by every test of this folder."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"

#: Suffixes of files that a person reads; anything else is data.
TEXT_SUFFIXES = frozenset(
    {"", ".cfg", ".css", ".html", ".ini", ".js", ".json", ".md", ".py", ".sh", ".sql", ".svg", ".toml", ".ts"}
    | {".tsx", ".txt", ".typed", ".yaml", ".yml"}
)


@cache
def source_files() -> tuple[Path, ...]:
    """Every Python module that is shipped."""
    return tuple(sorted(SRC.rglob("*.py")))


@cache
def repository_files() -> tuple[Path, ...]:
    """Every file that git tracks or would track; ignored files are no part of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


@cache
def text_files() -> tuple[Path, ...]:
    """The repository's files that are text."""
    return tuple(path for path in repository_files() if path.suffix in TEXT_SUFFIXES)


@cache
def documents() -> tuple[Path, ...]:
    """The repository's Markdown."""
    return tuple(path for path in repository_files() if path.suffix == ".md")


def shown(path: Path) -> str:
    """The path as a reader names it: from the root, with forward slashes."""
    return path.relative_to(ROOT).as_posix()
