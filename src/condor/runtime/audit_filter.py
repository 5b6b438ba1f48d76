"""Which audit rows are asked for: words and times of a filter are checked, never guessed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from condor.core.audit import DECISIONS
from condor.core.errors import RefusedInput, show
from condor.runtime.inbox import moment

if TYPE_CHECKING:
    from condor.ports.audit import AuditFilter


def checked_audit(wanted: AuditFilter) -> AuditFilter:
    """A filter that a store can be asked by, its times in the stored form.

    Raises:
        RefusedInput: a decision that there is not, or a time that is none.
    """
    if wanted.decision is not None and wanted.decision not in DECISIONS:
        raise RefusedInput(f"no decision is called {show(wanted.decision)}; there are {', '.join(DECISIONS)}")
    return replace(wanted, since=moment("since", wanted.since), until=moment("until", wanted.until))


__all__ = ["checked_audit"]
