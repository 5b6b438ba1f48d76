"""Phases of a segment, in order. Each returns what the loop should do next, and nothing else."""

from condor.pump.phases.result import Done, Next, Phase, PhaseResult, Rest, Stopped, Suspended

__all__ = ["Done", "Next", "Phase", "PhaseResult", "Rest", "Stopped", "Suspended"]
