"""For tests of tools, packs and stores on Condor: a seeded world, and what any store must hold.

Public: what stands in ``__all__`` stays. No fake of anything that can run for real.
"""

from condor.testing.playbook import play, script
from condor.testing.tool_faults import (
    FAULT_KINDS,
    FaultyPack,
    ScriptedConfirmer,
    ToolFault,
    faulty,
    replan_storm,
)
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
    "FAULT_KINDS",
    "MORNING",
    "ActAt",
    "FailDisk",
    "FaultyPack",
    "KillAt",
    "Ledger",
    "LedgerEntry",
    "ScriptedConfirmer",
    "SeededClock",
    "ToolFault",
    "Watching",
    "faulty",
    "kill_self",
    "play",
    "replan_storm",
    "script",
]
