"""Records the README's picture: a real `condor run` in a terminal, answered by a person's keystrokes.

    python docs/record.py        # writes docs/images/main-job.svg

The command runs in a pseudo terminal in an empty directory; what it printed is drawn by rich.
"""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 92
REQUEST = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI."
TARGET = Path(__file__).parent / "images" / "main-job.svg"
#: Seconds the whole recording may take.
_PATIENCE_S = 60.0
#: What the prompt ends with; the answer is typed when it is seen.
_PROMPT = re.compile(rb"\[l\]")


def record(command: list[str], cwd: str, answer: bytes) -> str:
    """What `command` prints in a terminal, with `answer` typed at its prompt."""
    parent, child = pty.openpty()
    environment = os.environ | {"COLUMNS": str(COLUMNS), "LINES": "100", "TERM": "xterm-256color"}
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=cwd, stdin=child, stdout=child, stderr=child, env=environment, close_fds=True
    )
    os.close(child)
    seen, answered, until = b"", False, time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        if select.select([parent], [], [], 0.2)[0]:
            try:
                seen += os.read(parent, 65_536)
            except OSError:
                break
        if not answered and _PROMPT.search(seen):
            os.write(parent, answer)
            answered = True
        if process.poll() is not None and not select.select([parent], [], [], 0.2)[0]:
            break
    process.wait(timeout=5)
    return seen.decode().replace("\r\n", "\n")


def _as_left(printed: str) -> str:
    """What stands on the screen at the end: lines that a live display drew over are gone."""
    lines, row = [""], 0
    for part in re.split(r"(\n|\r|\x1b\[[0-9;?]*[A-Za-z])", printed):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part.endswith("A") and part.startswith("\x1b["):
            row = max(0, row - int(part[2:-1] or 1))
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part.endswith("m") or not part.startswith(("\x1b", "\r")):
            lines[row] += part
    return "\n".join(lines)


def _self_contained(svg: str) -> str:
    """Without fonts from elsewhere: a picture asks nobody for anything."""
    svg = re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code, monospace", "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace")


def main() -> None:
    """Record and draw."""
    condor = str(Path(sys.executable).with_name("condor"))
    with tempfile.TemporaryDirectory() as home:
        record([condor, "run", "Find Melissa Smith"], home, b"")  # makes the demonstration hospital
        printed = record([condor, "run", REQUEST, "--autonomy", "autonomous"], home, b"a\n")
    console = Console(record=True, width=COLUMNS + 2, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123 - drawn only
    console.print(Text.from_markup(f'[green]$[/] condor run "{REQUEST}" --autonomy autonomous'))
    console.print(Text.from_ansi(_as_left(printed)))
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(_self_contained(console.export_svg(title="condor")), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET.name}\n")


if __name__ == "__main__":
    main()
