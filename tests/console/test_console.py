"""The console in a real browser, under the policy that is served: Node's test runner, Debian's Chromium.

Skipped where there is no Node or no browser, with the reason named; in CI that is a failure.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from condor.cli.visible import visible
from condor.console import BUILT
from condor.core.audit import DECISIONS
from condor_hms.pack import PACK
from tests.console.odd import PEOPLE, OddPack
from tests.needs import needs
from tests.server.support import House, lose_kernel, open_house, step

if TYPE_CHECKING:
    from types import ModuleType

HERE = Path(__file__).parent
WEB = HERE.parent.parent / "web"
#: Seconds; a suite takes a few.
PATIENCE_S = 150
#: Bytes of script, gzipped, that the first page may load.
FIRST_LOAD_BYTES_MAX = 260_000
#: Cards of a full inbox.
CARDS = 500
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def build_script() -> ModuleType:
    """The script that builds the console, as the build hook loads it."""
    spec = importlib.util.spec_from_file_location("build_console", WEB / "build_console.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def browser() -> str | None:
    """Where Chromium is."""
    return os.environ.get("CONDOR_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="module")
def built() -> Path:
    """The console of these sources."""
    script = build_script()
    needs(script.build())
    script.install()
    return BUILT


@pytest.fixture(scope="module")
def chromium(built: Path) -> str:
    """A browser for it."""
    assert built.is_dir()
    found = browser()
    needs(None if found else "there is no Chromium here")
    assert found is not None
    return found


def run_suite(suite: str, **env: str) -> None:
    """Run one suite of Node tests; what it said is the failure's text."""
    ran = subprocess.run(
        ["node", "--test", "--test-reporter=spec", "--test-timeout=140000", suite],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**os.environ, **env},
    )
    assert ran.returncode == 0, f"{ran.stdout[-12_000:]}\n{ran.stderr[-4_000:]}"


async def drive(house: House, suite: str, chromium: str, **more: str) -> None:
    """Run a suite against a house."""
    env = {
        **more,
        "CONDOR_URL": house.url,
        "CONDOR_CODE": house.served.file.token,
        "CONDOR_CHROMIUM": chromium,
    }
    await asyncio.to_thread(run_suite, suite, **env)


@pytest.mark.slow
async def test_the_main_job_in_a_browser(tmp_path: Path, chromium: str) -> None:
    """Ask, card, reload, another tab, form, edit, refusal, stale click, inbox, audit; axe throughout."""
    async with open_house(tmp_path / "home", mode="demo", pack=PACK) as house:
        await drive(house, "hospital.test.js", chromium)


@pytest.mark.slow
async def test_a_card_is_read_before_it_is_approved(tmp_path: Path, chromium: str) -> None:
    """Every line has stood in view, on each screen; a jump to the end opens nothing."""
    async with open_house(tmp_path / "home", mode="demo", pack=PACK) as house:
        await drive(house, "reading.test.js", chromium)


@pytest.mark.slow
async def test_a_card_of_each_area_and_the_builder(tmp_path: Path, chromium: str) -> None:
    """What the record and the policy say stands on every card; what an admin lays on a tool holds."""
    async with open_house(tmp_path / "home", mode="demo", pack=PACK) as house:
        await drive(house, "areas.test.js", chromium)
        await lose_kernel(house, "task.create")
        await drive(house, "builder.test.js", chromium)


@pytest.mark.slow
async def test_everything_a_card_can_hold(tmp_path: Path, chromium: str) -> None:
    """Every hint of a form, unknown outcomes, a stand-in, hostile and hidden text, a broken connection."""
    async with open_house(tmp_path / "home", pack=OddPack()) as house:
        await drive(house, "odd.test.js", chromium)


@pytest.mark.slow
async def test_no_answer_and_dead_lines(tmp_path: Path, chromium: str) -> None:
    """What is known is said, what was typed is kept, and the page ends on the truth."""
    async with open_house(tmp_path / "home", pack=OddPack()) as house:
        await drive(house, "broken.test.js", chromium)


@pytest.mark.slow
async def test_a_card_that_expires(tmp_path: Path, chromium: str) -> None:
    """The page follows the clock, the answer that came too late is refused."""
    async with open_house(tmp_path / "home", pack=OddPack(), suspend_ttl_s=3.0) as house:
        await drive(house, "soon.test.js", chromium)


@pytest.mark.slow
async def test_a_full_inbox_and_a_long_run_stay_quick(tmp_path: Path, chromium: str) -> None:
    """With 500 cards and 200 steps an input waits less than 200 ms, for 95 of 100."""
    async with open_house(tmp_path / "home", pack=OddPack()) as house:
        note = {"steps": [step("w", "note.write", text="ann of ward 7")]}
        long = {
            "steps": [
                step(f"s{n}", "step.take", *([f"s{n - 1}"] if n % 4 else []), number=n) for n in range(200)
            ]
        }
        for _ in range(CARDS):
            await house.condor.start(plan=note, principal=PEOPLE[0])
        run = await house.condor.start(plan=long, principal=PEOPLE[0])
        await house.condor.wait(run.id)
        await drive(house, "many.test.js", chromium, CONDOR_CARDS=str(CARDS), CONDOR_LONG_RUN=run.id)


@pytest.mark.slow
def test_the_first_load_is_small(built: Path) -> None:
    """What the front page loads before it draws, gzipped as it is sent."""
    document = (built / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:src|href)="/assets/([^"]+\.js)"', document)
    assert named, document
    sizes = {name: len(gzip.compress((built / "assets" / name).read_bytes(), 9)) for name in named}
    assert sum(sizes.values()) < FIRST_LOAD_BYTES_MAX, sizes
    assert not re.search(r"https?://", document), "nothing is loaded from elsewhere"


@pytest.mark.slow
@pytest.mark.parametrize("script", ["check", "test"])
def test_the_sources(built: Path, script: str) -> None:
    """TypeScript, strict; and what decides what is shown, without a browser."""
    ran = subprocess.run(
        ["npm", "run", "--silent", script], cwd=WEB, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"


@pytest.mark.slow
def test_what_is_hidden_is_the_same_everywhere() -> None:
    """Console and terminal name the same characters, for every code point that both know."""
    needs(build_script().missing())
    source = (WEB / "src" / "visible.ts").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"^  /(\[.+\])/gu;$", source, re.MULTILINE)
    told = subprocess.run(
        ["node", "-e", _TELL_HIDDEN, pattern], capture_output=True, text=True, check=True
    ).stdout
    theirs = {int(code) for code in told.split()}
    known = {code for code in range(0x110000) if unicodedata.category(chr(code)) != "Cn"}
    ours = {code for code in known if visible(chr(code)) != chr(code)}
    assert ours == theirs & known


#: Every code point that the pattern takes.
_TELL_HIDDEN = """
const hidden = new RegExp(`^${process.argv[1]}$`, "u");
for (let code = 0; code < 0x110000; code++) if (hidden.test(String.fromCodePoint(code))) console.log(code);
"""


def test_the_lock_names_no_host() -> None:
    """Whatever registry a machine uses, the lock is the same."""
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert '"integrity"' in lock


def test_each_package_has_its_reason() -> None:
    """And each is pinned to one version."""
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    wanted = package["dependencies"] | package["devDependencies"]
    assert all(re.fullmatch(r"[0-9.]+", version) for version in wanted.values()), wanted
    guide = (WEB.parent / "docs" / "console.md").read_text(encoding="utf-8")
    table = guide.partition("### Packages")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])} == wanted.keys()


def test_the_wheel_takes_the_console_along(built: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Although git ignores it; and without Node the wheel is built all the same."""
    spec = importlib.util.spec_from_file_location("hatch_build", WEB.parent / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hook = module.ConsoleHook(str(WEB.parent), {}, None, None, "", "wheel")
    taken: dict[str, list[str]] = {"artifacts": []}
    hook.initialize("standard", taken)
    assert taken["artifacts"] == [f"/{built.relative_to(WEB.parent).as_posix()}/**"]
    assert (built / "index.html").is_file()
    assert capfd.readouterr().out == ""


def test_without_node_the_build_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It fails only for who requires a console."""
    script = build_script()
    monkeypatch.setattr(script, "MARK", tmp_path / ".sources")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert script.missing() == "Node is not installed, or has no npm"
    assert script.main([]) == 0
    assert script.main(["--required"]) == 1


def test_every_decision_of_the_audit_can_be_searched() -> None:
    """The two lists of decisions are one."""
    source = (WEB / "src" / "audit.tsx").read_text(encoding="utf-8")
    listed = re.findall(r'"([a-z-]+)"', source.partition("const DECISIONS = [")[2].partition("]")[0])
    assert tuple(listed) == DECISIONS


def test_every_page_of_the_server_is_drawn() -> None:
    """The two lists of addresses are one."""
    from condor.server.console import PAGES

    drawn = re.findall(r'\.\.\.at\("([^"]+)"\)', (WEB / "src" / "pages.tsx").read_text(encoding="utf-8"))
    ours = {re.sub(r"\{\w+\}", "$", page) for page in PAGES}
    assert ours == {re.sub(r"\$\w+", "$", page) for page in drawn}
