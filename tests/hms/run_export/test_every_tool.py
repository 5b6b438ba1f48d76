"""The export of a run of each tool that writes or speaks: whom, what, which version, and its Provenance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from condor import Principal
from condor_hms.fhir.structure import structure_issues
from condor_hms.fhir.table_store import utc_now
from condor_hms.fhir.validation import check_content
from tests.hms.catalogue.test_every_write import CALLS
from tests.hms.run_export.test_view import by_decision, card_of, export, opened, resources, what

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

#: Everybody's roles: what is tried here is the export, not who may.
ANYBODY = Principal(
    id="dr-okafor", roles=frozenset({"doctor", "nurse", "billing", "receptionist"}), display="Dr Okafor"
)
EDIT = {"document": "DocumentReference/doc-6001", "action": "update", "text": "Acute MI, PCI to LAD."}
#: One call of each tool; a draft is edited before it is signed.
FIRST = {"note.update": EDIT} | {name: args for name, args in reversed(CALLS) if name != "note.update"}


async def test_each_is_told(tmp_path: Path) -> None:
    """One run each, approved; what was written is read back in the version that is told."""
    async with opened(tmp_path) as condor:
        fhir = condor.views["fhir"]._fhir  # type: ignore[attr-defined]
        for name in FIRST:
            plan = {"steps": [{"id": "s1", "tool": name, "args": FIRST[name]}]}
            run = await condor.start(plan=plan, principal=ANYBODY)
            shown = dict(await condor.wait(run.id))
            if shown["status"] == "suspended":
                await condor.resume(run.id, card_of(shown), {"approved": True}, principal=ANYBODY)
                shown = dict(await condor.wait(run.id))
            assert shown["status"] == "succeeded", (name, shown["closing"])
            bundle = await export(condor, run.id)
            assert structure_issues(bundle) == []
            found = [entry["resource"] for entry in bundle["entry"]]
            assert [
                issue for resource in found for issue in check_content(resource, today=utc_now().date())
            ] == []
            patient, *written = what(by_decision(bundle, "executed"))
            assert patient.startswith("Patient/"), name
            assert written, name
            for reference in written:
                target, _, version = reference.partition("/_history/")
                await fhir.vread(target, version)
            [proof] = resources(bundle, "Provenance")
            targets = {target["reference"] for target in proof["target"]}
            assert targets == {reference.partition("/_history/")[0] for reference in written}, name
