"""Which versions of its schema this Condor works with; every store asks here."""

from __future__ import annotations

from condor.core.errors import HomeUnusable


def check_version(version: int, name: str, *, newest: int, oldest: int = 0) -> None:
    """Refuse a database of a newer Condor, or one older than ``oldest``.

    Args:
        newest: what this Condor's migrations of the store lead to.

    Raises:
        HomeUnusable: it is newer or older; nothing was changed.
    """
    if version < oldest:
        raise HomeUnusable(
            f"{name} has schema version {version} and this condor reads from {oldest}: "
            "start condor on it once, to bring it forward"
        )
    if version > newest:
        raise HomeUnusable(
            f"{name} has schema version {version} and this condor reads up to {newest}: "
            "upgrade condor, or restore a backup from before the upgrade; nothing was changed"
        )
