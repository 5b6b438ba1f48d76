"""Why a place on the disk takes nothing, and what to do about it."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_ELSEWHERE: Final = "or name another home (--home, CONDOR_HOME)"
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


def what_is_shut(path: Path, *, error: OSError | None = None) -> str:
    """What is in the way of writing to a path that cannot be written, and what to do, in one line.

    Args:
        error: what the machine said, where it was tried.
    """
    if error is not None and error.errno in _NO_ROOM:
        return f"{path} takes nothing more ({error.strerror}): free some space, {_ELSEWHERE}"
    directory = path if path.is_dir() else path.parent
    if not directory.exists():
        return f"the directory {directory} is not there: make it (mkdir -p {directory}), {_ELSEWHERE}"
    if (error is not None and error.errno == errno.EROFS) or _is_read_only(directory):
        return f"{path} is on a file system that is read-only: mount it to be written, {_ELSEWHERE}"
    said = f" ({error.strerror})" if error is not None and error.strerror else ""
    return (
        f"{path} cannot be written{said}; it can be read only: run chmod -R u+rwX {directory}, {_ELSEWHERE}"
    )


def _is_read_only(directory: Path) -> bool:
    try:
        return bool(os.statvfs(directory).f_flag & os.ST_RDONLY)
    except OSError:
        return False


__all__ = ["what_is_shut"]
