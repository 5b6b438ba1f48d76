"""The runtime: four verbs (start, resume, stop, watch) over the pump, and what can be read of a run."""

from condor.runtime.runtime import Run, Runtime
from condor.runtime.snapshot import run_line, run_snapshot, suspension_json

__all__ = ["Run", "Runtime", "run_line", "run_snapshot", "suspension_json"]
