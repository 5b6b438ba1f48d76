"""Leaves: the pure next move of one node. A leaf returns a ``LeafStep`` and nothing else."""

from condor.core.compiler.leaves.step import (
    Execute,
    LeafStep,
    NeedEvidence,
    Settle,
    Suspend,
    check_leaf,
)

__all__ = ["Execute", "LeafStep", "NeedEvidence", "Settle", "Suspend", "check_leaf"]
