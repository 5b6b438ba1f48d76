"""Whether an answer would be taken as things stand: for edges that take several answers or none.

Law: the checks of ``suspend_resume``, in its order, and nothing of the answer is stored. Who may not answer
is audited here too, and a card whose time is over is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor.core.errors import OurBug, SuspensionExpired
from condor.pump.card_drift import drift_of
from condor.pump.phases.halt import expire
from condor.pump.phases.suspend_resume import (
    RACES_MAX,
    ResumeRun,
    admitted,
    find_card,
    read_answer,
)
from condor.pump.segment import Segment

if TYPE_CHECKING:
    from condor.core.suspend import Answer
    from condor.pump.ports import PumpPorts


async def check_answer(resume: ResumeRun, ports: PumpPorts) -> Answer:
    """The answer as it is read; between this and taking it, another answer may win.

    Raises:
        UnknownId: no such card (of this run).
        AnswerRefused: its subclass says why.
    """
    for _ in range(RACES_MAX):
        state, row = await find_card(resume, ports)
        reading = await admitted(resume, state, row, ports, read_answer)
        if row.expires_at is not None and row.expires_at <= ports.at():
            if await expire(row, ports):
                raise SuspensionExpired(f"the card expired at {row.expires_at}; nothing was run")
            continue  # it was closed, or its run moved, meanwhile: what came first is told
        if reading.approved:
            # What drifted is asked anew when it is answered; that the tool is not here is refused now.
            drift_of(Segment(state, ports), row)
        return reading
    raise OurBug(f"answers to run {resume.run_id} keep overtaking this one")


__all__ = ["check_answer"]
