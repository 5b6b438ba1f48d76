"""The zygote, and a home of the demonstration hospital that is copied for each case."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from condor import Condor
from condor_hms.pack import PACK
from tests.simulation.actors import Scribe
from tests.simulation.cases import Case, Kill, Told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def hospital_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the demonstration record, made once."""
    home = tmp_path_factory.mktemp("hospital") / "home"

    async def make() -> None:
        async with Condor(packs=[PACK], home=home, demo=True, tend=False):
            pass

    asyncio.run(make())
    return home


@pytest.fixture(scope="module")
def zygote() -> Iterator[Callable[[dict[str, Any]], str]]:
    """Runs one job in a process of its own; how it ended."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.simulation.zygote"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        asked, answered = process.stdin, process.stdout
        assert asked is not None
        assert answered is not None

        def run(job: dict[str, Any]) -> str:
            asked.write(json.dumps(job) + "\n")
            asked.flush()
            end: str = json.loads(answered.readline())["end"]
            return end

        yield run
        asked.close()


@pytest.fixture
def play(
    zygote: Callable[[dict[str, Any]], str], hospital_home: Path, tmp_path: Path
) -> Callable[[Case], Told]:
    """Plays a case through all its processes; what they said."""

    def played(case: Case) -> Told:
        folder = tmp_path / f"case-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        if case.kind == "hospital":
            shutil.copytree(hospital_home, folder / "home")
        ends = [_do(zygote, case, folder, "run_job", None)]
        if case.again is not None:
            ends.append(_do(zygote, case, folder, "come_after", case.again))
        if not any(line["what"] == "report" for line in Scribe(folder).lines()):
            ends.append(_do(zygote, case, folder, "come_after", None))
        return Told(lines=Scribe(folder).lines(), ends=ends)

    return played


def _do(
    zygote: Callable[[dict[str, Any]], str], case: Case, folder: Path, actor: str, kill: Kill | None
) -> str:
    end = zygote(
        {
            "actor": actor,
            "case": asdict(case),
            "folder": str(folder),
            "kill": asdict(kill) if kill is not None else None,
        }
    )
    if end not in ("done", "killed"):
        trace = folder / "trace.txt"
        told = trace.read_text(encoding="utf-8") if trace.exists() else ""
        pytest.fail(f"{actor} of case {case} ended as {end}\n{told}")
    return end
