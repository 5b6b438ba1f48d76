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
    ("show lab results", "Latest creatinine for Leonard Mason"),
    ("check interactions", "Check interactions of Helen Coleman with ibuprofen 400 mg"),
    ("prescribe", "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for UTI"),
    ("stop a medicine", "Stop Helen Coleman's celecoxib because of an interaction"),
    ("record an allergy", "Record that John Hernandez is allergic to ibuprofen: angioedema, severe"),
    ("order lab tests", "Order an urgent potassium on John Hernandez"),
    ("set a flag", "Flag Helen Coleman as a falls risk"),
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
