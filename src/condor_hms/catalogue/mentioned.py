"""What a message to a patient may speak of, as the record has it: shown beside the text, and bound to it.

Rule: a text names a time, a medicine or a result in words of its own. What the record says of them stands on
the card; where that changes before the approval, a person reads the text again beside what is true then.
"""

from __future__ import annotations

from typing import Any

from condor_hms.alerts.names import core_words, mentions
from condor_hms.catalogue.appointments import appointment_row
from condor_hms.catalogue.hospital import Hospital, reading
from condor_hms.catalogue.medicine_list import current_orders
from condor_hms.catalogue.results import lab_results
from condor_hms.catalogue.summary import latest_rows
from condor_hms.catalogue.terms import LAB_TESTS
from condor_hms.catalogue.words import concept_text, joined, order_text

__all__ = ["mentioned"]

#: States of an appointment that is still to come.
_COMING = frozenset({"proposed", "pending", "booked", "arrived", "checked-in", "waitlist"})


async def mentioned(hospital: Hospital, patient: str, text: str) -> list[dict[str, Any]]:
    """Rows for the card: coming appointments, and the orders and latest results that the text names.

    Args:
        patient: ``Patient/id``.
        text: the message.
    """
    said = {
        "Coming appointments": await _appointments(hospital, patient),
        "Orders named in the text": await _orders(hospital, patient, text),
        "Results named in the text": await _results(hospital, patient, text),
    }
    return [{"label": label, "text": joined(rows)} for label, rows in said.items() if rows]


async def _appointments(hospital: Hospital, patient: str) -> list[str]:
    params: dict[str, str | list[str]] = {"patient": patient, "date": f"ge{hospital.today}", "_sort": "date"}
    with reading():
        found = await hospital.fhir.search("Appointment", params)
    rows = [await appointment_row(hospital, row) for row in found if row.get("status") in _COMING]
    return [f"{row['when']} with {row['with'] or 'nobody named'} ({row['status']})" for row in rows]


async def _orders(hospital: Hospital, patient: str, text: str) -> list[str]:
    orders = await current_orders(hospital, patient)
    names = [(order, concept_text(order.get("medicationCodeableConcept"))) for order in orders]
    return [
        order_text(order) for order, name in names if (words := core_words(name)) and mentions(text, words)
    ]


async def _results(hospital: Hospital, patient: str, text: str) -> list[str]:
    codes = [code for code, name in LAB_TESTS.items() if mentions(text, name)]
    if not codes:
        return []
    return [
        f"{row['test']} {row['text']}" for row in latest_rows(await lab_results(hospital, patient, codes))
    ]
