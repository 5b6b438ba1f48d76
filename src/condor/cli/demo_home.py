"""The home of ``condor demo``: fresh every time, and never somebody else's.

Law: only what a demonstration made is thrown away, and not while another one uses it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import IO, TYPE_CHECKING

from condor.cli.home import DEFAULT_HOME, HOME_VARIABLE, Place, place_to_read, place_to_run
from condor.core.errors import HomeUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Demonstrations at the same time, each in a home of its own.
_AT_ONCE_MAX = 20


def fresh_home(given: Path | None) -> tuple[Place, IO[str]]:
    """A home that has nothing in it yet, and what keeps it ours while it is held.

    Args:
        given: the home to take; None takes ``demo`` in the usual one.

    Raises:
        HomeUnusable: it holds something else, or cannot be made.
    """
    for path in [given] if given is not None else _candidates():
        held = _held(path)
        if held is not None:
            place = place_to_run(path)
            if not place.is_new or not place.is_demo:
                raise HomeUnusable(
                    "the demonstration needs a pack with demonstration data; unset CONDOR_PACKS"
                )
            return Place(path=path, kind="demo", packs=place.packs, is_new=True, disposable=True), held
    raise HomeUnusable("another demonstration uses this home; name one of its own with --home")


def _candidates() -> Iterator[Path]:
    from pathlib import Path

    base = Path(os.environ.get(HOME_VARIABLE) or DEFAULT_HOME)
    yield base / "demo"
    for number in range(2, _AT_ONCE_MAX + 1):
        yield base / f"demo-{number}"


def _held(path: Path) -> IO[str] | None:
    """An empty directory at ``path`` and its lock; None when another demonstration has it."""
    if path.exists() and any(path.iterdir()) and not place_to_read(path).disposable:
        raise HomeUnusable(f"{path} holds something that no demonstration made; name another with --home")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Beside the directory, so that it can be emptied under the lock.
        held = path.with_name(f".{path.name}.lock").open("a", encoding="utf-8")
    except OSError as error:
        raise HomeUnusable(
            f"the home {path} cannot be made: {error.strerror}; name another with --home"
        ) from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        return None
    for child in path.iterdir():
        shutil.rmtree(child) if child.is_dir() else child.unlink()
    return held


__all__ = ["fresh_home"]
