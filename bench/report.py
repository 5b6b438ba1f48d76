"""What was measured, as JSON for machines and as a table for people."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.contenders import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.rounds import Plan

#: Ratios of runs/s that are reported: Condor on a store, over another contender there.
_OVER = (
    *(("condor", other) for other in ("bare", "bare-grouped", "langgraph", "langgraph-exit")),
    *(("condor-postgres", other) for other in ("bare-postgres", "langgraph-postgres")),
    ("condor-postgres-2-workers", "condor-postgres-1-worker"),
)


def machine() -> dict[str, object]:
    """What was measured on; no names, no paths."""
    packages: dict[str, str | None] = {}
    for name in ("langgraph", "langgraph-checkpoint-sqlite", "aiosqlite", "orjson", "rfc8785"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    return {
        "cores": os.cpu_count(),
        "cpu": _cpu_model(),
        "system": platform.system(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": packages,
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def compiled(
    plan: Plan, samples: Sequence[Mapping[str, Any]], unit: Mapping[str, int], measured_on: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything, as one JSON object."""
    missing = {name: BY_NAME[name].missing() for name in plan.only}
    return {
        "v": 1,
        "machine": dict(measured_on),
        "rounds": plan.rounds,
        "atOnce": list(plan.at_once),
        "rowsOfOneRun": dict(unit),
        "skipped": {name: why for name, why in missing.items() if why is not None},
        "summary": _summary(plan, samples),
        "ratios": _ratios(plan, samples),
        "samples": [dict(sample) for sample in samples],
    }


def _of(samples: Sequence[Mapping[str, Any]], name: str, at_once: int) -> list[Mapping[str, Any]]:
    return [s for s in samples if s["contender"] == name and s["atOnce"] == at_once]


def _three(values: Sequence[float]) -> dict[str, float]:
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def _summary(plan: Plan, samples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Medians over the rounds, of runs/s and CPU with the least and most."""
    return [
        _row(name, at_once, found)
        for at_once in plan.at_once
        for name in BY_NAME
        if (found := _of(samples, name, at_once))
    ]


def _row(name: str, at_once: int, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {"contender": name, "title": BY_NAME[name].title, "atOnce": at_once}
    for key in ("runsPerS", "cpuMsPerRun"):
        row[key] = _three([sample[key] for sample in found])
    for key in ("unitsPerRun", "commitsPerRun", "coresBusy", "slowness"):
        counted = [sample[key] for sample in found if sample.get(key) is not None]
        row[key] = statistics.median(counted) if counted else None
    for key in ("parkMs", "approveToToolMs", "approveToDoneMs"):
        row[key] = {part: statistics.median([s[key][part] for s in found]) for part in ("p50", "p95")}
    return row


def _ratios(plan: Plan, samples: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Condor's runs/s over another's, round by round."""
    rows = []
    for at_once in plan.at_once:
        for ours, other in _OVER:
            pairs = zip(_of(samples, ours, at_once), _of(samples, other, at_once), strict=False)
            values = [one["runsPerS"] / theirs["runsPerS"] for one, theirs in pairs]
            if values:
                rows.append(
                    {"over": other, "title": BY_NAME[other].title, "atOnce": at_once, **_three(values)}
                )
    return rows


def table(found: Mapping[str, Any]) -> str:
    """Plain text; also valid Markdown."""
    lines = [
        "| at once | contender | runs/s (least to most) | CPU ms a run | core slower by | cores busy"
        " | commits a run | start→parked ms | approve→tool ms | approve→done ms |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in found["summary"]:
        rate = row["runsPerS"]
        cells = [
            str(row["atOnce"]),
            row["title"],
            f"{rate['median']:,.0f} ({rate['min']:,.0f} to {rate['max']:,.0f})",
            f"{row['cpuMsPerRun']['median']:.2f}",
            "?" if row.get("slowness") is None else f"{row['slowness']:.1f}",
            "?" if row.get("coresBusy") is None else f"{row['coresBusy']:.1f}",
            _commits(row),
            *(_spread(row[name]) for name in ("parkMs", "approveToToolMs", "approveToDoneMs")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| at once | Condor's runs/s over | least | median | most |", "|--:|---|--:|--:|--:|"]
    lines += [
        f"| {row['atOnce']} | {row['title']} | {row['min']:.2f} | {row['median']:.2f} | {row['max']:.2f} |"
        for row in found["ratios"]
    ]
    lines += [f"\nSkipped: {BY_NAME[name].title}: {why}." for name, why in found["skipped"].items()]
    return "\n".join(lines)


def _commits(row: Mapping[str, Any]) -> str:
    commits, units = row["commitsPerRun"], row["unitsPerRun"]
    if commits is None:
        return "?"
    return f"{commits:.1f}" if units is None else f"{commits:.1f} ({units:.0f} units)"


def _spread(found: Mapping[str, float]) -> str:
    return f"{found['p50']:.1f} / {found['p95']:.1f}"
