"""For tests of tools, packs and stores on Condor: a seeded world, and what any store must hold.

Public: what stands in ``__all__`` stays. No fake of anything that can run for real.
"""

from condor.testing.world import (
    MORNING,
    ActAt,
    FailDisk,
    KillAt,
    Ledger,
    LedgerEntry,
    SeededClock,
    Watching,
    kill_self,
)

__all__ = [
    "MORNING",
    "ActAt",
    "FailDisk",
    "KillAt",
    "Ledger",
    "LedgerEntry",
    "SeededClock",
    "Watching",
    "kill_self",
]
