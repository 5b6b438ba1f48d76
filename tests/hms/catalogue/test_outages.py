"""What a tool says when the record does not answer: only what surely wrote nothing says so."""

import datetime
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from condor import ToolError
from condor_hms.alerts import demo_rules
from condor_hms.catalogue import Hospital
from condor_hms.fhir.embedded import EmbeddedFhirStore
from condor_hms.fhir.errors import Unavailable
from tests.hms.catalogue.desk import HELEN, JOHN, NITROFURANTOIN, OKAFOR, Desk

CELECOXIB = "MedicationRequest/rxopd-2841d7bb9857"
WRITES: dict[str, dict[str, Any]] = {
    "medication.prescribe": dict(NITROFURANTOIN),
    "medication.discontinue": {"order": CELECOXIB, "reason_code": "interaction"},
    "allergy.record": {
        "patient": JOHN,
        "substance": "Latex",
        "category": "environment",
        "criticality": "low",
    },
    "flag.set": {"patient": HELEN, "flag": "falls"},
}
Opener = Callable[[str], AbstractAsyncContextManager[Desk]]


@pytest.fixture
def cut_off_at(demo_record: Path, tmp_path: Path) -> Opener:
    """A desk whose record breaks off once at a named point of a transaction."""

    @asynccontextmanager
    async def opened(where: str) -> AsyncIterator[Desk]:
        left = [where]

        def break_off(point: str) -> None:
            if left and point == left[0]:
                left.clear()
                raise Unavailable(f"cut off at {point}")

        shutil.copy(demo_record, tmp_path / "fhir.db")
        async with EmbeddedFhirStore(tmp_path / "fhir.db", faults=break_off) as store:
            yield Desk(Hospital(fhir=store, rules=demo_rules(), today=datetime.date(2026, 11, 30)))

    return opened


@pytest.mark.parametrize("point", ["fhir.before-commit", "fhir.after-commit"])
@pytest.mark.parametrize("tool", sorted(WRITES))
async def test_a_write_that_breaks_off_is_unknown_and_then_happens_once(
    cut_off_at: Opener, tool: str, point: str
) -> None:
    """Whether before or after the commit: unknown, retryable; the repetition ends in exactly one write."""
    async with cut_off_at(point) as desk:
        with pytest.raises(ToolError) as failure:
            await desk.call(tool, WRITES[tool], approved_by=OKAFOR)
        assert (failure.value.effect, failure.value.may_retry) == ("unknown", True)
        asked = await desk.reconcile(tool, WRITES[tool])
        assert asked.happened is (point == "fhir.after-commit")
        value = await desk.call(tool, WRITES[tool], approved_by=OKAFOR, attempt=2)
        assert value.get("replayed", False) is asked.happened
        tag = {"_tag": "urn:condor:idem|key-1"}
        assert len(await desk.fhir.search(value["reference"].partition("/")[0], tag)) == 1
        assert len(await desk.fhir.search("Provenance", tag)) == 1


@pytest.mark.parametrize("tool", sorted(WRITES))
async def test_a_record_that_is_away_wrote_nothing(desk: Desk, tool: str) -> None:
    """Reads fail before anything is sent: surely nothing was written, and it may be tried again."""
    desk.hospital.fhir.close()  # type: ignore[attr-defined]
    for attempt in (desk.call, desk.preview):
        with pytest.raises(ToolError, match="did not answer") as failure:
            await attempt(tool, WRITES[tool], approved_by=OKAFOR)
        assert (failure.value.effect, failure.value.may_retry) == ("none", True)


@pytest.mark.parametrize("tool", ["medication.discontinue"])
async def test_a_record_that_is_away_cannot_say(desk: Desk, tool: str) -> None:
    """Nobody is told that it did not happen when nobody could look."""
    desk.hospital.fhir.close()  # type: ignore[attr-defined]
    assert (await desk.reconcile(tool, WRITES[tool])).happened is None


@pytest.mark.parametrize("key", ["", "a,b", "a|b", "a b"])
async def test_a_write_needs_a_key(desk: Desk, key: str) -> None:
    """Without a key that can be searched for, a write could not be told from its repetition."""
    with pytest.raises(ToolError, match="needs an idempotency key"):
        await desk.call("flag.set", WRITES["flag.set"], idempotency_key=key)
    assert len(await desk.search("Flag", subject=HELEN)) == 1
