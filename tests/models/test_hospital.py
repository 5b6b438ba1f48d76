"""The hospital's catalogue through a model: a request in free words parks on a prescription's card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from condor import Condor
from condor.config import Settings
from condor.core.plan.reference import point
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


async def test_what_a_plan_may_refer_to_is_there(tmp_path: Path) -> None:
    """Every pointer that a tool promises leads to something in a result on the demonstration record."""
    names = {"INGREDIENT": "metformin", "SUBSTANCE": "penicillin", "NAME": "dyslipidaemia"}
    steps = [
        {"id": "s1", "tool": "patient.search", "args": {"query": "Melissa Smith"}},
        *(
            {"id": tool, "tool": tool, "args": {"patient": PATIENT}}
            for tool in ("medication.list.card", "allergy.list.card", "condition.list.card")
        ),
        {
            "id": "schedule.slots",
            "tool": "schedule.slots",
            "args": {"practitioner": "Practitioner/dr-okafor", "from": "2026-11-30"},
        },
    ]
    async with Condor(packs=[PACK], demo=True, settings=Settings(home=tmp_path)) as condor:
        doctor = next(who for who in condor.principals if who.id == "dr-okafor")
        run = await condor.start(plan={"steps": steps}, principal=doctor)
        shown: Any = await condor.wait(run.id)
        promised = {tool.name: tool.returns for tool in condor.tools if tool.returns}
    results = {step["tool"]: step["result"] for step in shown["steps"]}
    assert promised.keys() == results.keys()
    names["START"] = next(iter(results["schedule.slots"]["byStart"]))
    for tool, pointers in promised.items():
        for pointer in pointers:
            path = "/".join(names.get(part, part) for part in pointer.split("/"))
            assert isinstance(point(results[tool], path), str), (tool, path)
