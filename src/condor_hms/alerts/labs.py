"""A laboratory number as the laboratory reports it; pure.

FHIR JSON has numbers, and what reads JSON makes 9 of ``9.0``. How many decimals a laboratory reports belongs
to the test in its unit, so those of a small table are put back; a number with more decimals keeps them, and a
test or a unit that is not in the table is written as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["lab_number"]

#: (LOINC code, unit) → decimals that are reported. Creatinine in µmol/L or haemoglobin in g/L has none.
_DECIMALS: Mapping[tuple[str, str], int] = {
    ("4548-4", "%"): 1,
    ("2160-0", "mg/dL"): 2,
    ("2823-3", "mmol/L"): 1,
    ("6301-6", "{INR}"): 1,
    ("718-7", "g/dL"): 1,
}


def lab_number(loinc: str, unit: str, value: float) -> str:
    """``9.0`` for an HbA1c of 9 %; never fewer decimals than the record has."""
    text = f"{value:.10g}"
    if "e" in text:
        return text
    reported = _DECIMALS.get((loinc, unit), 0)
    return f"{value:.{reported}f}" if len(text.partition(".")[2]) < reported else text
