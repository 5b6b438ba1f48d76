"""A process that has everything imported and forks a fresh one for each job: a start takes milliseconds.

``python -m tests.simulation.zygote``: a JSON line in (``{"actor", "case", "folder", "kill"}``), a JSON line
out (``{"end": "done" | "killed" | …}``). It has no threads and no event loop, so forking it is safe.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

import condor_hms.alerts
import condor_hms.catalogue
import condor_hms.demo
import condor_hms.playbook  # noqa: F401 - loaded once, for all that are forked
from condor_hms.fhir.validation import check_content
from tests.simulation import actors
from tests.simulation.cases import Case, Kill

#: Longest that one process may take, in seconds; then it is ended and counts as hung.
_PATIENCE_S = 30
_ANY_DAY = datetime.date(2026, 11, 30)


def main() -> None:
    """Do jobs until there are no more."""
    for written in ("MedicationRequest", "Provenance"):
        check_content({"resourceType": written}, today=_ANY_DAY, entry=0)  # loads what R03 writes by
    for line in sys.stdin:
        print(json.dumps({"end": _forked(json.loads(line))}), flush=True)  # noqa: T201 - its answer


def _forked(job: dict[str, Any]) -> str:
    child = os.fork()
    if child == 0:
        _act(job)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        ended_by = os.WTERMSIG(status)
        return "killed" if ended_by == signal.SIGKILL else f"signal {ended_by}"
    return "done" if os.WEXITSTATUS(status) == 0 else "failed"


def _act(job: dict[str, Any]) -> None:
    """Be the child: act, and end without running anything of the parent's."""
    signal.alarm(_PATIENCE_S)
    folder = Path(job["folder"])
    try:
        kills = {key: _kill(job["case"][key]) for key in ("kill", "again")}
        case = Case(**{**job["case"], **kills})
        if job["actor"] == "run_job":
            asyncio.run(actors.run_job(case, folder))
        else:
            asyncio.run(actors.come_after(case, folder, _kill(job["kill"])))
    except BaseException:  # noqa: BLE001 - whatever it is, it is told, and ends this process alone
        (folder / "trace.txt").write_text(traceback.format_exc(), encoding="utf-8")
        os._exit(1)
    os._exit(0)


def _kill(given: dict[str, Any] | None) -> Kill | None:
    return Kill(**given) if given else None


if __name__ == "__main__":
    main()
