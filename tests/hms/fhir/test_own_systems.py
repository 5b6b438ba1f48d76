"""What Condor calls itself in a record is written in one place."""

from __future__ import annotations

from pathlib import Path

import condor_hms
from condor_hms.fhir import own_systems

#: The definition of an index, which does not follow a constant.
WRITTEN_OUT = {"postgres_tables.py"}


def test_each_system_has_one_home() -> None:
    """The systems of keys, of people without a Practitioner and of the run-time."""
    package = Path(condor_hms.__file__).parent
    homes = {
        system: {
            path.name
            for path in package.rglob("*.py")
            if f"urn:condor:{system}" in path.read_text(encoding="utf-8") and path.name not in WRITTEN_OUT
        }
        for system in ("idem", "principal", "agent")
    }
    home = Path(own_systems.__file__).name
    assert homes == {system: {home} for system in homes}
