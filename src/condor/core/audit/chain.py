"""Whether the audit chain of one run is whole.

Law 1: a change to any row, in any order, of any number, is seen.
Law 2: the verdict names the first bad row and what was done to it, as well as can be told from what is
left (``diagnosis``).

What this cannot see is a chain that was made anew from end to end, run row included, by somebody who
may write everywhere: against that stand heads that are kept elsewhere (an exported audit, a seal).
"""

from __future__ import annotations

from condor.core.audit.diagnosis import diagnose_end, diagnose_row, diagnose_without_run
from condor.core.audit.links import Chain, ChainVerdict, chain_hash, other_run


def verify_chain(chain: Chain) -> ChainVerdict:
    """Whether a run's audit rows are the ones that were written, all of them, in their order."""
    if chain.audit_seq < 0:
        return diagnose_without_run(chain)
    prev = ""
    for index, row in enumerate(chain.rows):
        if (
            row.seq != index + 1
            or row.prev_hash != prev
            or row.hash != chain_hash(prev, row.seq, row.body)
            or other_run(chain.run_id, row.body) is not None
        ):
            return diagnose_row(chain, index)
        prev = row.hash
    if len(chain.rows) != chain.audit_seq or prev != chain.audit_head:
        return diagnose_end(chain)
    count = len(chain.rows)
    return ChainVerdict(
        run_id=chain.run_id, kept=True, rows=count, message=f"run {chain.run_id}: {count} rows, unbroken"
    )
