"""The command: rounds by default, `parked`, and what children run (`sample`, `look`)."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import parked
from bench.contenders import BY_NAME
from bench.document import write_document
from bench.postgres_runs import cluster_of_the_bench
from bench.report import compiled, machine, table
from bench.rounds import Plan, sample_here, take_rounds
from bench.units import size_of, units_of_one_run

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULTS = Path(__file__).parent / "results"


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command."""
    options = _parser().parse_args(argv)
    match options.command:
        case "sample":
            with cluster_of_the_bench(options.directory):
                found = sample_here(options.contender, options.at_once, options.runs, options.directory)
            print(json.dumps(found))
        case "look":
            print(json.dumps(asyncio.run(parked.look(options.path, options.count))))
        case "parked":
            _parked(options)
        case "document":
            write_document(options.results, options.to)
        case _:
            _rounds(options)


def _rounds(options: argparse.Namespace) -> None:
    plan = Plan(
        rounds=1 if options.quick else options.rounds,
        at_once=[1, 4] if options.quick else options.at_once,
        runs=20 if options.quick else options.runs,
        only=[name for name in BY_NAME if name in (options.only or BY_NAME)],
        directory=options.directory,
    )
    measured_on, unit = machine(), size_of(asyncio.run(units_of_one_run()))
    with cluster_of_the_bench(plan.directory):
        samples = take_rounds(plan, lambda line: print(line, file=sys.stderr, flush=True))
    found = compiled(plan, samples, unit, measured_on)
    print(f"\n{table(found)}\n")
    _keep(found, options.results / "latest.json")


def _parked(options: argparse.Namespace) -> None:
    measured_on = machine()
    found = {"machine": measured_on, **parked.measure_parked(options.count, options.directory)}
    print(f"\n{parked.shown(found)}\n")
    _keep(found, options.results / "parked.json")


def _keep(found: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    _common(parser)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default 5)")
    parser.add_argument("--at-once", type=_numbers, default=[1, 16, 64], help="e.g. 1,16,64")
    parser.add_argument("--runs", type=int, default=2_000, help="runs a sample of the fastest (default 2000)")
    parser.add_argument("--only", type=_names, help=f"of {','.join(BY_NAME)}")
    parser.add_argument("--quick", action="store_true", help="a tiny round: that it works, not how fast")
    commands = parser.add_subparsers(dest="command", metavar="{parked,document}")
    scale = commands.add_parser("parked", help="a database full of parked runs")
    _common(scale)
    scale.add_argument("--count", type=int, default=100_000)
    document = commands.add_parser("document", help="write docs/bench.md from what was measured last")
    document.add_argument("--results", type=Path, default=RESULTS)
    document.add_argument("--to", type=Path, default=RESULTS.parents[1] / "docs" / "bench.md")
    sample = commands.add_parser("sample")
    sample.add_argument("contender", choices=list(BY_NAME))
    sample.add_argument("--at-once", type=int, required=True)
    sample.add_argument("--runs", type=int, required=True)
    sample.add_argument("--directory", type=Path, required=True)
    look = commands.add_parser("look")
    look.add_argument("path", type=Path)
    look.add_argument("count", type=int)
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON is kept")
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="databases are made here: its disk counts",
    )


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in BY_NAME]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is no contender; take {', '.join(BY_NAME)}")
    return names


if __name__ == "__main__":
    main()
