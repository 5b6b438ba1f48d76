"""Pictures of the console on the demonstration hospital: `… tests.console.shots FOLDER [--whole] [NAME…]`.

With ``--docs`` those that the documentation shows are kept in ``docs/images`` too.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from condor_hms.pack import PACK
from tests.console.test_console import HERE, browser
from tests.server.support import open_house

IMAGES = HERE.parent.parent / "docs" / "images"
#: Pages that the documentation shows, each in every one of these looks.
SHOWN: Final = ("ask", "chat", "inbox", "question", "runs", "run", "audit", "policy", "builder", "sign-in")
LOOKS: Final = ("light", "dark", "phone")


async def main(folder: Path, names: list[str], *, whole: bool) -> int:
    """Every page, or those of these names, in every look; the exit code."""
    with tempfile.TemporaryDirectory() as home:
        async with open_house(Path(home), mode="demo", pack=PACK) as house:
            env = {
                **os.environ,
                "CONDOR_URL": house.url,
                "CONDOR_CODE": house.served.file.token,
                "CONDOR_CHROMIUM": browser() or "",
                "CONDOR_SHOTS": str(folder),
                "CONDOR_SHOTS_WHOLE": "1" if whole else "0",
                "CONDOR_SHOTS_ONLY": ",".join(names),
            }
            taking = await asyncio.create_subprocess_exec("node", "shots.js", cwd=HERE, env=env)
            return await taking.wait()


def keep(folder: Path) -> None:
    """Put the pictures of the documentation where it finds them, without loss and small."""
    from PIL import Image

    for name in SHOWN:
        for look in LOOKS:
            with Image.open(folder / f"{name}-{look}.png") as picture:
                picture.save(IMAGES / f"console-{name}-{look}.webp", lossless=True, quality=100, method=6)


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    target.mkdir(parents=True, exist_ok=True)
    wanted = [word for word in sys.argv[2:] if not word.startswith("--")]
    code = asyncio.run(main(target, wanted, whole="--whole" in sys.argv))
    if code == 0 and "--docs" in sys.argv:
        keep(target)
    sys.exit(code)
