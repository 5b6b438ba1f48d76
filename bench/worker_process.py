"""A worker of the benchmark: ``python -m bench.worker_process URL DIRECTORY``.

It writes down each key and when its write was entered; ``time.perf_counter`` is one clock for all processes
of a machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from bench.condor_runs import tools_of
from condor import Condor
from condor.config import read_settings


async def main(url: str, directory: Path) -> None:
    """Work until told to stop."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    home = directory / f"worker-{os.getpid()}"
    async with Condor(
        tools=tools_of(_Written(directory / f"entered-{os.getpid()}")),
        database_url=url,
        home=home,
        settings=read_settings(home=home),
        driven="jobs",
    ) as condor:
        await condor.work(stop, ready=(directory / f"ready-{os.getpid()}").touch)


class _Written(dict[str, float]):
    """When each write was entered, written down at once."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def __setitem__(self, key: str, at: float) -> None:
        super().__setitem__(key, at)
        self._file.write(json.dumps([key, at]) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
