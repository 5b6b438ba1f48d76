"""Formulas: whole sentences for the tools that are asked for in a few set ways.

Law: a formula matches the whole request or not at all, so that nothing of it is left over unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.playbook.formulas.break_glass import BREAK_GLASS
from condor_hms.playbook.formulas.letters import LETTERS
from condor_hms.playbook.formulas.medicines import MEDICINES
from condor_hms.playbook.formulas.named import NAMED
from condor_hms.playbook.formulas.office import OFFICE
from condor_hms.playbook.formulas.reading import READING
from condor_hms.playbook.formulas.record import RECORD
from condor_hms.playbook.formulas.sentence import match_formula
from condor_hms.playbook.formulas.vitals import VITALS

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Mapping

    from condor_hms.playbook.steps import Plan

__all__ = ["FORMULAS", "plan_formula"]

#: In the order in which they are tried: what has more in it comes first.
FORMULAS = (*BREAK_GLASS, *NAMED, *LETTERS, *OFFICE, *MEDICINES, *RECORD, *VITALS, *READING)


def plan_formula(
    text: str, today: datetime.date, staff: Mapping[str, str], is_request: Callable[[str], bool]
) -> Plan | None:
    """The plan of a request that is one of the sentences; None where it is none of them.

    Args:
        text: normalised.
        staff: how clinicians are called, folded → ``Practitioner/id``.
        is_request: whether a text inside it is a request by itself.

    Raises:
        RequestNotUnderstood: it is one of them, with a part that cannot be.
    """
    return match_formula(FORMULAS, text, today, staff, is_request)
