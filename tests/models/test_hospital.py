"""The hospital's catalogue through a model: a request in free words parks on a prescription's card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import SecretStr

from condor import Condor
from condor.config import Settings
from condor_hms.pack import PACK
from tests.models.wire import KEY, plan, serving

if TYPE_CHECKING:
    from pathlib import Path

PATIENT = {"$from": "s1", "path": "/patient/reference"}
STEPS = (
    {"id": "s1", "tool": "patient.search", "args": {"query": "Melissa Smith"}},
    {"id": "s2", "tool": "allergy.list.card", "args": {"patient": PATIENT}},
    {
        "id": "s3",
        "tool": "medication.prescribe",
        "args": {
            "patient": PATIENT,
            "medication": "nitrofurantoin",
            "dose_value": 100,
            "dose_unit": "mg",
            "route": "oral",
            "frequency": "BID",
        },
        "after": ["s2"],
    },
)


async def test_free_words_park_on_a_card(tmp_path: Path) -> None:
    """Words that the playbook would not take; the schema knows the pack's tools and what to refer to."""
    async with serving(plan(*STEPS)) as served:
        settings = Settings(
            home=tmp_path,
            model_name="fake-1",
            model_base_url=served.url,
            model_key=SecretStr(KEY),
            model_for="plan",
        )
        async with Condor(packs=[PACK], demo=True, settings=settings) as condor:
            doctor = next(who for who in condor.principals if who.id == "dr-okafor")
            run = await condor.start(
                "ms smith (melissa) again with her bladder… the usual macrobid please", principal=doctor
            )
            shown = await condor.wait(run.id)
            (card,) = await condor.pending()
        schema = str(served.asked[0]["tools"])
    assert (shown["status"], card["toolName"]) == ("suspended", "medication.prescribe")
    assert "/patient/reference" in schema
