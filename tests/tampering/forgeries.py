"""Seven kinds of tampering, on the rows themselves; each says which run is to be named, and by which words.

The first four are of somebody who changes rows. The last three are of somebody who knows how the chains are
made, makes every hash anew, the run's row and the seals with them, and so leaves nothing that does not hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from condor.core.audit import chain_hash, encode_seal
from condor.ports.store import RunHead

if TYPE_CHECKING:
    import random

    from tests.tampering.logs import State

Row = dict[str, Any]


@dataclass(frozen=True)
class Forged:
    """What was done, as it must be found."""

    #: The one run to be named; None: any, the whole log went back.
    run_id: str | None
    words: frozenset[str]


def rows_of(state: State, run_id: str) -> list[Row]:
    return [row for row in state["audit"] if row["run_id"] == run_id]


def _any_row(state: State, rng: random.Random) -> Row:
    return rng.choice(state["audit"])


# -- rows ------------------------------------------------------------------------------------


def edited(state: State, rng: random.Random) -> Forged:
    row = _any_row(state, rng)
    body = json.loads(row["body"])
    how = rng.randrange(5)
    if how == 0:
        body[rng.choice(["actor", "at", "decision"])] = "someone"
    elif how == 1:
        del body[rng.choice(["actor", "at", "sessionId"])]
    elif how == 2:
        body["tool"] = "another.tool"
    elif how == 3:
        row["hash"] = "".join(rng.choices("0123456789abcdef", k=64))
    else:
        row["prev_hash"] = "".join(rng.choices("0123456789abcdef", k=64))
    if how < 3:
        row["body"] = json.dumps(body, sort_keys=True, separators=(",", ":"))
        if rng.random() < 0.5:
            row["hash"] = chain_hash(row["prev_hash"], row["seq"], row["body"].encode())
    return Forged(row["run_id"], frozenset({"edited", "head-mismatch"}))


def removed(state: State, rng: random.Random) -> Forged:
    row = _any_row(state, rng)
    of_run = rows_of(state, row["run_id"])
    count = rng.choice([1, 1, 2, len(of_run)])
    at = of_run.index(row)
    gone = of_run[at : at + count]
    state["audit"] = [other for other in state["audit"] if other not in gone]
    if rng.random() < 0.5:
        for number, left in enumerate(rows_of(state, row["run_id"]), start=1):
            left["seq"] = number
    return Forged(row["run_id"], frozenset({"removed", "truncated"}))


def inserted(state: State, rng: random.Random) -> Forged:
    row = _any_row(state, rng)
    new = dict(row)
    new["position"] = max(other["position"] for other in state["audit"]) + 1
    if rng.random() < 0.7:
        new["body"] = row["body"].replace('"decision":"', '"decision":"x').replace("ann", "bob")
        new["hash"] = chain_hash(new["prev_hash"], new["seq"], new["body"].encode())
    if rng.random() < 0.5:
        last = rows_of(state, row["run_id"])[-1]
        new["prev_hash"], new["seq"] = last["hash"], last["seq"] + 1
        new["hash"] = chain_hash(new["prev_hash"], new["seq"], new["body"].encode())
    state["audit"].append(new)
    return Forged(row["run_id"], frozenset({"inserted"}))


def reordered(state: State, rng: random.Random) -> Forged:
    run_id = rng.choice([row["run_id"] for row in state["audit"] if row["seq"] > 1])
    one, other = rng.sample(rows_of(state, run_id), 2)
    swapped = rng.choice([("position",), ("seq",), ("body",), ("body", "hash")])
    for name in swapped:
        one[name], other[name] = other[name], one[name]
    state["audit"].sort(key=lambda row: row["position"])
    # Bodies that are equal but for their place are none to swap: no two of a run are.
    return Forged(run_id, frozenset({"reordered", "removed", "edited", "inserted"}))


# -- whole logs ------------------------------------------------------------------------------


def chain_anew(state: State, run_id: str) -> None:
    """Every hash of a run made anew, and its row told."""
    head = ""
    rows = rows_of(state, run_id)
    for number, row in enumerate(rows, start=1):
        row["seq"], row["prev_hash"] = number, head
        head = row["hash"] = chain_hash(head, number, row["body"].encode())
    for run in state["run"]:
        if run["run_id"] == run_id:
            run["audit_seq"], run["audit_head"] = len(rows), head


def seal_anew(state: State) -> None:
    """Every seal made anew, of the heads that the rows have now; runs that are gone are left out."""
    by_run = {
        run["run_id"]: {row["seq"]: row["hash"] for row in rows_of(state, run["run_id"])}
        for run in state["run"]
    }
    head = ""
    for seal in state["seal"]:
        body = json.loads(seal["body"])
        heads = [
            RunHead(
                run_id=run_id,
                seq=min(seq, len(by_run[run_id])),
                hash=by_run[run_id][min(seq, len(by_run[run_id]))],
            )
            for run_id, seq, _ in body["heads"]
            if by_run.get(run_id)
        ]
        content = encode_seal(body["tenantId"], body["at"], heads)
        seal["body"], seal["prev_hash"] = content.decode(), head
        head = seal["hash"] = chain_hash(head, seal["seq"], content)
    for note in state["sealed"]:
        note["audit_seq"] = min(note["audit_seq"], len(by_run.get(note["run_id"], ())))
    state["sealed"] = [note for note in state["sealed"] if by_run.get(note["run_id"])]


def sealed_runs(state: State) -> list[str]:
    """Runs that the checkpoint knows."""
    return [note["run_id"] for note in state["sealed"]]


def whole_chain(state: State, rng: random.Random) -> Forged:
    run_id = rng.choice(sealed_runs(state))
    sealed = next(note["audit_seq"] for note in state["sealed"] if note["run_id"] == run_id)
    row = rng.choice([row for row in rows_of(state, run_id) if row["seq"] <= sealed])
    body = json.loads(row["body"])
    how = rng.randrange(3)
    if how == 0:
        body["at"] = "2020" + body["at"][4:]
    elif how == 1:
        body["ruleId"] = "mutate.low-tier-autonomous-allow"
    else:
        body["sessionId"] = "ses_of_another"
    row["body"] = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    chain_anew(state, run_id)
    seal_anew(state)
    return Forged(run_id, frozenset({"rewritten"}))


def removed_run(state: State, rng: random.Random) -> Forged:
    run_id = rng.choice(sealed_runs(state))
    for table in set(state) - {"seal"}:
        state[table] = [row for row in state[table] if row["run_id"] != run_id]
    seal_anew(state)
    return Forged(run_id, frozenset({"run-removed"}))


#: Found by anybody.
ROW_KINDS = {"edited": edited, "removed": removed, "inserted": inserted, "reordered": reordered}
#: Found by the checkpoint; the seventh, a database that was rolled back, is an earlier state.
WHOLE_KINDS = {"forged chain": whole_chain, "removed run": removed_run}
