"""The pack: cheap to look at, made once, never over somebody else's data, read-only when asked."""

import datetime
import subprocess
import sys
from pathlib import Path

import pytest

from condor import CondorError, PackSetup, Principal, ToolContext, ToolError
from condor.ports.packs import Pack
from condor.tools.lint import lint_tools
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.pack import PACK

FIND = "patient.search"
#: For mypy: it has the shape that the runtime asks of a pack.
SHAPE: Pack = PACK


async def found(opened: object, query: str) -> object:
    tool = next(tool for tool in opened.tools if tool.name == FIND)  # type: ignore[attr-defined]
    ctx = ToolContext(run_id="r", step_id="s1", attempt=1, principal=Principal(id="dr-okafor"))
    return await tool.function(ctx, query=query)


async def test_the_demonstration_is_made_at_first_use(tmp_path: Path) -> None:
    """First use makes it and says so; the next finds it."""
    setup = PackSetup(home=tmp_path, demo=True)
    async with PACK.open(setup) as first:
        path = tmp_path / "hms" / "fhir.db"
        assert list(first.notes) == [f"made the demonstration hospital (1,971 synthetic resources) in {path}"]
        assert first.today == datetime.date(2026, 11, 30)
        assert (await found(first, "Helen Coleman"))["patient"]["mrn"] == "POP-000002"  # type: ignore[index]
    async with PACK.open(setup) as second:
        assert list(second.notes) == []
    assert (tmp_path / "hms").stat().st_mode & 0o777 == 0o700


async def test_the_staff_may_sign_in(tmp_path: Path) -> None:
    """The demonstration's people with one role each; Dr Okafor where nobody is named."""
    async with PACK.open(PackSetup(home=tmp_path, demo=True)) as opened:
        people = {who.id: who for who in opened.principals}
    assert opened.default_principal == people["dr-okafor"]
    assert people["dr-okafor"] == Principal(id="dr-okafor", roles=frozenset({"doctor"}), display="Dr Okafor")
    assert {who.id: set(who.roles) for who in people.values()} == {
        "dr-okafor": {"doctor"},
        "dr-lindholm": {"doctor"},
        "rn-castillo": {"nurse"},
        "pharm-osei": {"pharmacist"},
        "front-tanaka": {"receptionist"},
        "bill-novak": {"billing"},
        "audit-reyes": {"auditor"},
        "admin": {"admin"},
    }


@pytest.mark.parametrize("demo", [True, False])
async def test_a_record_that_was_taken_away_is_said(tmp_path: Path, demo: bool) -> None:
    """Made anew beside a run log: what earlier runs wrote is said to be gone; once, and not at first use."""
    setup = PackSetup(home=tmp_path, demo=demo)
    (tmp_path / "condor.db").touch()
    async with PACK.open(setup) as first:
        assert not any("is gone from the record" in note for note in first.notes)
    for file in (tmp_path / "hms").glob("fhir.db*"):
        file.unlink()
    async with PACK.open(setup) as again:
        assert "what earlier runs wrote is gone from the record" in again.notes[-1]
    async with PACK.open(setup) as later:
        assert list(later.notes) == []


async def test_another_record_is_left_as_it_is(tmp_path: Path) -> None:
    """Demonstration data never mixes with what is there."""
    (tmp_path / "hms").mkdir()
    patient = {"resourceType": "Patient", "id": "own", "name": [{"family": "Own"}]}
    async with EmbeddedFhirStore(tmp_path / "hms" / "fhir.db") as store:
        await store.load([patient])
    async with PACK.open(PackSetup(home=tmp_path, demo=True)) as opened:
        assert "no demonstration data was added" in opened.notes[0]
        assert opened.today is None
        assert (await found(opened, "Own"))["patient"]["reference"] == "Patient/own"  # type: ignore[index]


async def test_without_demo_the_record_is_empty(tmp_path: Path) -> None:
    """A home of its own starts with nobody in it and with the real day."""
    async with PACK.open(PackSetup(home=tmp_path)) as opened:
        assert (opened.today, list(opened.notes)) == (None, [])


async def test_reading_only_makes_nothing(tmp_path: Path) -> None:
    """Looking leaves no trace; a tool that needs the record says that there is none."""
    async with PACK.open(PackSetup(home=tmp_path, demo=True, read_only=True)) as opened:
        with pytest.raises(ToolError, match="no record in this home yet"):
            await found(opened, "Helen Coleman")
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240 - a look at what is left


async def test_reading_only_reads_and_refuses_writes(tmp_path: Path) -> None:
    """What is there can be read, and nothing can be written."""
    async with PACK.open(PackSetup(home=tmp_path, demo=True)):
        pass
    async with PACK.open(PackSetup(home=tmp_path, demo=True, read_only=True)) as opened:
        patient = (await found(opened, "Helen Coleman"))["patient"]["reference"]  # type: ignore[index]
        order = {"patient": patient, "medication": "Paracetamol", "dose_value": 1, "dose_unit": "g"}
        doctor = Principal(id="dr-okafor")
        ctx = ToolContext(
            run_id="r",
            step_id="s1",
            attempt=1,
            principal=doctor,
            approved_by=doctor,
            idempotency_key="k",
            now=datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC),
        )
        prescribe = next(tool for tool in opened.tools if tool.name == "medication.prescribe").function
        assert prescribe is not None
        with pytest.raises(ToolError, match="open for reading only"):
            await prescribe(ctx, **order, route="oral", frequency="QID")


async def test_a_file_that_is_no_record_is_a_matter_of_the_environment(tmp_path: Path) -> None:
    """A foreign file is named and not touched."""
    (tmp_path / "hms").mkdir()
    (tmp_path / "hms" / "fhir.db").write_text("not a database, but a text that is long enough to look at")
    with pytest.raises(CondorError, match="cannot be opened") as refusal:
        async with PACK.open(PackSetup(home=tmp_path)):
            pass
    assert refusal.value.code == "environment"


def test_importing_the_pack_is_cheap() -> None:
    """Every command imports every pack: FHIR validation and the tools stay out until it is opened."""
    code = (
        "import condor, sys, time; begun = time.perf_counter(); import condor_hms.pack; "
        "print(time.perf_counter() - begun); "
        "print([name for name in sys.modules if name.startswith(('fhir.', 'fhirpathpy', 'condor_hms.'))])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    seconds, modules = out.splitlines()
    assert float(seconds) < 0.15
    assert modules == "['condor_hms.pack']"


async def test_every_tool_of_the_pack_passes_the_lint(tmp_path: Path) -> None:
    """The catalogue's and its own: no error, and each can be answered by somebody where it may wait."""
    async with PACK.open(PackSetup(home=tmp_path, demo=True, read_only=True)) as opened:
        assert [row for row in lint_tools(opened.tools) if row.level == "error"] == []
        assert len(opened.tools) == 55 + 3
