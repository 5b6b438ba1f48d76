"""The audit: rows by filter, and whether the chains are whole."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from condor.core.errors import NotAllowed
from condor.ports.store import AuditFilter
from condor.runtime.access import readable_run, reads_all
from condor.runtime.audit_filter import checked_audit
from condor.runtime.snapshot import WIRE_VERSION, audit_json, verdict_json
from condor.server.answers import answers, json_answer
from condor.server.edge import Here, SignedIn
from condor.server.pages import Limit, next_link
from condor.server.reading import whole_number
from condor.server.shapes import Seals, Verdicts

if TYPE_CHECKING:
    from condor.core.run import Principal
    from condor.server.edge import Edge

router = APIRouter(prefix="/audit", tags=["audit"])

_RunId = Annotated[str | None, Query(alias="runId")]
_Word = Annotated[str | None, Query(max_length=200)]
_Moment = Annotated[
    str | None,
    Query(description="RFC 3339: at this time or later (`since`), at this time or before (`until`)."),
]
#: Broken chains that are told one by one.
_BAD_MAX: Final = 100


async def _check(here: Edge, who: Principal, run_id: str | None) -> None:
    """One run's rows are for who may read it; all rows for auditors and admins."""
    if run_id is not None:
        await readable_run(here.condor.store, who, run_id)
    elif not reads_all(who):
        raise NotAllowed(f"{who.name} reads the audit run by run: add runId")


@router.get(
    "",
    summary="List audit rows",
    responses=answers(200, "By run and number; a `Link` header leads on", list[dict[str, Any]], 404),
)
async def list_rows(
    request: Request,
    here: Here,
    caller: SignedIn,
    run_id: _RunId = None,
    rule_id: Annotated[str | None, Query(alias="ruleId", max_length=200)] = None,
    decision: _Word = None,
    tool: _Word = None,
    actor: _Word = None,
    since: _Moment = None,
    until: _Moment = None,
    limit: Limit = "200",
    after: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Ids, digests and words of closed sets; reasons and record data stand elsewhere."""
    wanted = checked_audit(
        AuditFilter(rule_id=rule_id, decision=decision, tool=tool, actor=actor, since=since, until=until)
    )
    most = whole_number(limit, name="limit", most=1_000)
    begin = _cursor(after)
    await _check(here, caller.principal, run_id)
    caller.need("runs:read")
    rows = await here.condor.audit(replace(wanted, run_id=run_id), limit=most, after=begin)
    last = f"{rows[-1].run_id}:{rows[-1].seq}" if len(rows) == most else ""
    return json_answer([audit_json(row) for row in rows], headers=next_link(request, after=last))


def _cursor(after: str) -> tuple[str, int]:
    run_id, _, seq = after.rpartition(":")
    return (run_id, whole_number(seq, name="after", least=0, most=10**8)) if after else ("", 0)


@router.get("/verify", summary="Verify the chains", responses=answers(200, "The verdict", Verdicts, 404))
async def verify(here: Here, caller: SignedIn, run_id: _RunId = None) -> Response:
    """Every run's chain, or one, and the seals over them; the first bad row of each is named."""
    await _check(here, caller.principal, run_id)
    caller.need("runs:read")
    runs, rows, bad = 0, 0, []
    async for verdict in here.condor.verify(run_id):
        # A verdict of no run is about the seals.
        runs, rows = runs + bool(verdict.run_id), rows + verdict.rows
        if not verdict.kept:
            bad.append(verdict_json(verdict))
        await asyncio.sleep(0)
    found = {"kept": not bad, "runs": runs, "rows": rows, "bad": bad[:_BAD_MAX]}
    return json_answer({"v": WIRE_VERSION, **found})


@router.get("/seals", summary="Show how far the audit is sealed", responses=answers(200, "The state", Seals))
async def show_seals(here: Here, caller: SignedIn) -> Response:
    """The last seal of the tenant's chain, and how many runs have rows that no seal holds yet."""
    await _check(here, caller.principal, None)
    caller.need("runs:read")
    return json_answer({"v": WIRE_VERSION, **await here.condor.sealed()})


__all__ = ["router"]
