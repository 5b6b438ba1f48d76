"""Who is measured, in the order of a round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.bare_runs import BareContender
from bench.condor_runs import CondorContender
from bench.langgraph_runs import LangGraphContender
from bench.postgres_runs import BareOnPostgres, CondorOnPostgres, LangGraphOnPostgres
from bench.worker_runs import CondorWithWorkers

if TYPE_CHECKING:
    from bench.workload import Contender

CONTENDERS: tuple[Contender, ...] = (
    CondorContender(),
    LangGraphContender("langgraph", "sync"),
    LangGraphContender("langgraph-exit", "exit"),
    BareContender(grouped=False),
    BareContender(grouped=True),
    CondorOnPostgres(),
    CondorWithWorkers(1),
    CondorWithWorkers(2),
    BareOnPostgres(),
    LangGraphOnPostgres(),
)

BY_NAME = {contender.name: contender for contender in CONTENDERS}
