"""Which revision of every tool's kernel this home has seen last, so that none goes missing unseen.

Law: what was seen and is not in the database any more shuts its tool: nobody may approve it until an
administrator lays its kernel anew. A file beside the database keeps it over restarts; where it cannot be
written, what this process saw still holds.
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


class KernelHeads:
    """The last revision of each tool that was seen."""

    def __init__(self, path: Path, *, writes: bool = True) -> None:
        """Know what the file knows.

        Args:
            writes: False: it is only read.
        """
        self._path, self._writes = path, writes
        self._seen = _read(path)
        self._told: frozenset[str] = frozenset()

    def missing(self, rows: Iterable[KernelRow]) -> frozenset[str]:
        """Tools of which a revision was seen that is not among these rows."""
        there = {(row.tool, row.rev, row.hash) for row in rows}
        missing = frozenset(tool for tool, head in self._seen.items() if (tool, *head) not in there)
        for tool in sorted(missing - self._told):
            _log.error(
                "revision %d of the kernel of %s was removed from the database; nobody may approve %s until "
                "an administrator lays its kernel anew",
                self._seen[tool][0],
                tool,
                tool,
            )
        self._told = missing
        return missing

    def keep(self, rows: Iterable[KernelRow]) -> None:
        """Take the last of these rows as seen, but for tools of which one is missing."""
        missing, before = self._told, dict(self._seen)
        for row in rows:
            if row.tool not in missing:
                self._seen[row.tool] = (row.rev, row.hash)
        if self._seen != before:
            self._write()

    def forget(self, tool: str) -> None:
        """An administrator laid this tool's kernel anew: what was lost is answered for."""
        self._seen.pop(tool, None)

    def _write(self) -> None:
        if not self._writes:
            return
        beside = self._path.with_name(f"{self._path.name}.new")
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self._seen, file)
            beside.replace(self._path)
        except OSError:
            _log.warning("which kernels were seen could not be kept in %s", self._path, exc_info=True)


def _read(path: Path) -> dict[str, tuple[int, str]]:
    try:
        seen = json.loads(path.read_text(encoding="utf-8"))
        return {str(tool): (int(rev), str(head)) for tool, (rev, head) in seen.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        _log.warning("%s cannot be read; kernels that were removed before now are not found", path)
        return {}


__all__ = ["KERNEL_HEADS_FILE", "KernelHeads"]
