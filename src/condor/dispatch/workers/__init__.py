"""Where segments run beyond one machine: in any number of workers, on procrastinate.

Law: what a job says is never trusted; a worker asks the store. Only this package imports procrastinate.
"""

from condor.dispatch.workers.worker import run_worker

__all__ = ["run_worker"]
