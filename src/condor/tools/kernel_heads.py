"""Which revision of every tool's kernel this home has seen last, so that none goes missing unseen.

Law: what was seen and is not in the database any more shuts its tool: nobody may approve it until an
administrator lays its kernel anew. A file in the home keeps it over restarts, and for the home's other
processes: laid anew in one of them it is for all, at their next look. Another home on the same database has
a file of its own, and an administrator lays the kernel anew there too. Where the file cannot be written, what
this process saw still holds.
"""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from condor.ports.kernels import KernelRow

_log = logging.getLogger(__name__)
#: In the home; ``{"tool": [revision, hash]}``.
KERNEL_HEADS_FILE = "kernels.json"


#: Revision and hash.
_Head = tuple[int, str]


class KernelHeads:
    """The last revision of each tool that was seen."""

    def __init__(self, path: Path, *, writes: bool = True) -> None:
        """Know what the file knows.

        Args:
            writes: False: it is only read.
        """
        self._path, self._writes = path, writes
        self._seen = _read(path, tells=True)
        self._tried: object = None
        self._missing: frozenset[str] = frozenset()
        self._told: frozenset[str] = frozenset()
        #: Revisions that were there while their tool's last one was.
        self._known: set[tuple[str, _Head]] = set()
        #: What an administrator answered for here, although the file may still name it.
        self._answered: set[tuple[str, _Head]] = set()

    def missing(self, rows: Iterable[KernelRow]) -> frozenset[str]:
        """Tools of which a revision was seen that is not in these rows, by whichever process of this home."""
        there = {(row.tool, (row.rev, row.hash)) for row in rows}
        heard = self._take_over(there)
        self._missing = frozenset(tool for tool, head in self._seen.items() if (tool, head) not in there)
        self._known |= {(tool, head) for tool, head in there if tool not in self._missing}
        # What another process laid after these rows were read is there at the next look.
        told = self._missing - heard
        for tool in sorted(told - self._told):
            _log.error(
                "revision %d of the kernel of %s was removed from the database; nobody may approve %s until "
                "an administrator lays its kernel anew, in each home that has seen it",
                self._seen[tool][0],
                tool,
                tool,
            )
        self._told = told
        return self._missing

    def _take_over(self, there: set[tuple[str, _Head]]) -> set[str]:
        """Take what other processes of this home have kept since; the tools of which a head is new here."""
        heard = set()
        for tool, other in _read(self._path).items():
            mine = self._seen.get(tool)
            if other == mine or (tool, other) in self._answered:
                continue
            if mine is not None and (tool, other) in there:
                later = other[0] > mine[0] if (tool, mine) in there else (tool, other) not in self._known
                if not later:
                    continue
            elif mine is not None and (tool, mine) not in there:
                continue
            self._seen[tool] = other
            heard.add(tool)
        return heard

    def keep(self, rows: Iterable[KernelRow]) -> None:
        """Take the last of these rows as seen, but for tools of which one is missing."""
        for row in rows:
            if row.tool not in self._missing:
                self._seen[row.tool] = (row.rev, row.hash)
        kept = _read(self._path)
        # Where it cannot be written that is tried, and told, once.
        if self._writes and self._seen != kept and (self._seen, kept) != self._tried:
            self._tried = (dict(self._seen), kept)
            self._write()

    def forget(self, tool: str) -> None:
        """An administrator laid this tool's kernel anew: what was lost is answered for, in this home."""
        for head in (self._seen.pop(tool, None), _read(self._path).get(tool)):
            if head is not None:
                self._answered.add((tool, head))

    def _write(self) -> None:
        beside = self._path.with_name(f"{self._path.name}.new")
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self._seen, file)
            beside.replace(self._path)
        except OSError:
            _log.warning("which kernels were seen could not be kept in %s", self._path, exc_info=True)


def _read(path: Path, *, tells: bool = False) -> dict[str, _Head]:
    try:
        seen = json.loads(path.read_text(encoding="utf-8"))
        return {str(tool): (int(rev), str(head)) for tool, (rev, head) in seen.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        if tells:
            _log.warning("%s cannot be read; kernels that were removed before now are not found", path)
        return {}


__all__ = ["KERNEL_HEADS_FILE", "KernelHeads"]
