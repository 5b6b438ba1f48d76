"""The golden streams in ``wire/``: what every kind of run says on both wires, from real runs.

``python -m tests.wire.golden`` writes them anew; ``test_golden.py`` finds what differs.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.wire.frames import every_frame, made_streams
from tests.wire.scenarios import SCENARIOS
from tests.wire.ward import open_ward

HOUSE = Path(__file__).parents[2]
WIRE = HOUSE / "wire"


async def make_streams(home: Path) -> dict[str, Any]:
    """File name → content, for every scenario; ``home`` is an empty directory."""
    made: dict[str, Any] = {}
    for seed, scenario in enumerate(SCENARIOS, start=1):
        name = scenario.__name__.replace("_", "-")
        async with open_ward(home / name, seed) as ward:
            await scenario(ward)
        made[f"streams/{name}.json"] = {"shows": scenario.__doc__, "streams": ward.streams}
    return made


def make_golden() -> dict[str, str]:
    """Path under ``wire/`` → text, as it has to stand there."""
    with tempfile.TemporaryDirectory() as home:
        made = asyncio.run(make_streams(Path(home)))
    made["streams/made-by-hand.json"] = made_streams()
    made["frames.json"] = every_frame(made)
    return {path: _text(content) + "\n" for path, content in made.items()}


def _text(value: Any, indent: str = "") -> str:
    """JSON with every frame on a line of its own, so that a difference is read as one."""
    inner = indent + " "
    if isinstance(value, dict) and "type" not in value:
        members = [f"{inner}{json.dumps(key)}: {_text(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + _text(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def main() -> int:
    """Write what differs, remove what is not made any more, and say so."""
    golden = make_golden()
    for path, text in golden.items():
        target = WIRE / path
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {target.relative_to(HOUSE)}\n")
    for left in set(WIRE.rglob("*.json")) - {WIRE / path for path in golden}:
        left.unlink()
        sys.stdout.write(f"removed {left.relative_to(HOUSE)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
