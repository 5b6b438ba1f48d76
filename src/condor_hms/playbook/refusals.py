"""What the playbook can do, and how it says no: what was not understood on one line, then what can be asked.

The text is plain; a screen shows its lines as they are.
"""

from __future__ import annotations

from condor import RequestNotUnderstood

__all__ = ["KINDS", "refuse", "refuse_part"]

#: What it can do, each with a request that is understood.
KINDS: tuple[tuple[str, str], ...] = (
    ("find a patient", "Find Melissa Smith"),
    ("give an overview", "Overview of Melissa Smith with her HbA1c"),
    ("list medicines, allergies or problems", "What is Helen Coleman taking?"),
    ("show results, vital signs or imaging", "Latest creatinine for Leonard Mason"),
    ("show visits, documents, orders or bills", "Show Melissa Smith's visits"),
    ("check interactions", "Check interactions of Helen Coleman with ibuprofen 400 mg"),
    ("prescribe", "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for UTI"),
    ("stop a medicine", "Stop Helen Coleman's celecoxib because of an interaction"),
    ("change, hold or renew a medicine", "Hold John Hernandez's celecoxib because his creatinine is high"),
    ("record an allergy", "Record that John Hernandez is allergic to ibuprofen: angioedema, severe"),
    ("change an allergy or a problem", "Mark John Hernandez's egg allergy as resolved"),
    ("add a problem", "Add hyperkalaemia to John Hernandez's problem list as confirmed"),
    ("start, change or cancel a plan", "Cancel Nicholas Bell's cardiac rehab plan because he declined"),
    ("order lab tests", "Order an urgent potassium on John Hernandez"),
    ("order imaging or refer", "Refer John Hernandez to nephrology: CKD progression, potassium 5.2"),
    ("record vital signs or a vaccination", "Record Melissa Smith's blood pressure 148/92 at 9:30"),
    ("set a flag", "Flag Helen Coleman as a falls risk"),
    ("draft, sign or archive a document", "Draft a progress note for Melissa Smith: HbA1c 7.2 %."),
    ("book, move or cancel an appointment", "Cancel John Hernandez's appointment because the patient asked"),
    ("give a task", "Give the nurse a task for John Hernandez: repeat potassium"),
    ("send a message or a reminder", "Text Melissa Smith: Your prescription is ready."),
    ("issue or void an invoice", "Issue Melissa Smith's invoice"),
    ("generate a report", "Generate the discharge summary PDF for Nicholas Bell"),
    ("run a saved analysis", "Run the overdue HbA1c analysis"),
    (
        "break the glass in an emergency",
        "Break the glass for Leonard Mason: unconscious, no history to be had",
    ),
)
#: Of a request only so much is quoted back.
_QUOTED_CHARS_MAX = 120


def refuse(why: str) -> RequestNotUnderstood:
    """The refusal to raise: why, that nothing was done, and what can be asked, a line each."""
    can = [f"- {kind}: {example}" for kind, example in KINDS]
    said = [f"not understood: {why}", "Nothing was done. One request at a time, I can:", *can]
    return RequestNotUnderstood("\n".join(said))


def refuse_part(part: str, why: str = "") -> RequestNotUnderstood:
    """The refusal that names the part which was not understood."""
    said = part if len(part) <= _QUOTED_CHARS_MAX else part[: _QUOTED_CHARS_MAX - 1] + "…"
    return refuse(f"“{said}”" + (f" ({why})" if why else ""))
