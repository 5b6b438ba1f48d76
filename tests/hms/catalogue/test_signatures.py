"""21 CFR 11.50: meaning, printed name and time of a signature, on cards and in the record."""

from typing import Any

import pytest

from condor_hms.catalogue.signing import MEANINGS
from tests.hms.catalogue.desk import LINDHOLM, Desk
from tests.hms.catalogue.test_every_write import CALLS, case_id, value_of

#: Tools whose approval is a signature, as the examples of writes have it.
SIGNED = {
    "billing.invoice.update",
    "document.sign",
    "medication.prescribe",
    "medication.update",
    "prescription.renew",
}
ROWS = ("Meaning of the signature", "Printed name", "Time")


@pytest.mark.parametrize("case", CALLS, ids=case_id)
async def test_what_the_card_says_of_a_signature_is_in_the_record(
    desk: Desk, case: tuple[str, dict[str, Any]]
) -> None:
    """The three of them, or no word of a signature on either."""
    name, args = case
    card = await desk.preview(name, args)
    shown = {row["label"]: row["text"] for row in card.context if row["label"] in ROWS}
    assert tuple(shown) == (ROWS if name in SIGNED else ())
    given = {"approved_by": LINDHOLM, "record_versions": dict(card.versions)}
    value = value_of(await desk.call(name, args, **given))
    proofs = await desk.search("Provenance", target=value["reference"])
    signatures = [row for proof in proofs for row in proof.get("signature", [])]
    assert len(signatures) == (1 if name in SIGNED else 0)
    for signature in signatures:
        assert signature["who"] == {"reference": "Practitioner/dr-lindholm", "display": "Dr Erik Lindholm"}
        assert signature["when"] == "2026-11-30T09:30:00Z"
        [meaning] = signature["type"]
        assert meaning["display"] == MEANINGS[meaning["code"]]
        assert meaning["display"] in str(shown["Meaning of the signature"])
        assert signature["data"]


async def test_a_signed_document_names_its_signer(desk: Desk) -> None:
    """On the document itself, with the meaning that was chosen, beside the signature in its Provenance."""
    args = {"document": "DocumentReference/doc-6001", "meaning": "1.2.840.10065.1.12.1.5"}
    card = await desk.preview("document.sign", args)
    await desk.call("document.sign", args, approved_by=LINDHOLM, record_versions=dict(card.versions))
    document = await desk.fhir.read("DocumentReference/doc-6001")
    assert document["authenticator"] == {
        "reference": "Practitioner/dr-lindholm",
        "display": "Dr Erik Lindholm",
    }
    assert document["docStatus"] == "final"
    [proof] = await desk.search("Provenance", target="DocumentReference/doc-6001")
    assert proof["signature"][0]["type"][0]["code"] == args["meaning"]
