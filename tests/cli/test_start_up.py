"""A command loads what it needs and no more; that is what makes it start at once."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import HUNG_S

if TYPE_CHECKING:
    from tests.cli.support import Shell

PROBE = """
import sys
from condor.cli.app import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
heavy = sys.argv[1:] and {heavy!r}
print("LOADED", *sorted(name for name in heavy if name in sys.modules), file=sys.stderr)
"""
SLOW_LIBRARIES = ["pydantic", "pydantic_settings", "fhir", "fhirpathpy", "condor_hms", "shop_pack"]


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (["--help"], [*SLOW_LIBRARIES, "asyncio", "rich", "sqlite3", "condor.bootstrap"]),
        (["run", "--help"], [*SLOW_LIBRARIES, "asyncio", "rich", "sqlite3", "condor.bootstrap"]),
        (["pending"], SLOW_LIBRARIES),
        (["runs"], SLOW_LIBRARIES),
        (["audit"], SLOW_LIBRARIES),
        (["pending", "--json"], [*SLOW_LIBRARIES, "rich"]),
    ],
)
def test_a_command_loads_no_more_than_it_needs(shell: Shell, words: list[str], heavy: list[str]) -> None:
    """Neither the settings' library nor a pack is loaded to read what is stored."""
    shell.parked()
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(heavy=heavy), *words],
        cwd=shell.directory,
        env=shell.env(),
        capture_output=True,
        text=True,
        timeout=HUNG_S,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "LOADED"
