"""The statements of the reading side, and of what is no unit; each is one round trip and one moment.

Law: JSON is read as the bytes that were stored, in the order of columns that ``sqlite_rows`` reads.
"""

from __future__ import annotations

from typing import Final

from condor.ports.jobs import SEGMENT
from condor.store.postgres_writer import LIVING

_RUN_COLUMNS: Final = """run_id, tenant_id, session_id, status, epoch, rev, seq, answers, audit_seq,
    audit_head, convert_to(requester, 'UTF8'), autonomy, convert_to(halt, 'UTF8'), created_at, updated_at,
    worked_ms"""
_CARD_COLUMNS: Final = """suspend_id, run_id, tenant_id, step_id, generation, reason_code, origin,
    contract_hash, tool, opened_at, expires_at, convert_to(facts, 'UTF8'), status, decided_by, decided_at,
    consumed, tier, requester, subject"""
_RUN: Final = f"SELECT {_RUN_COLUMNS} FROM run"
CARD: Final = f"SELECT {_CARD_COLUMNS} FROM suspension"

RUN_NAMED: Final = f"{_RUN} WHERE run_id = $1"
RUNS_NAMED: Final = f"{_RUN} WHERE run_id = ANY ($1)"
RUNS: Final = f"{_RUN} WHERE run_id < $1 ORDER BY run_id DESC LIMIT $2"
RUNS_IN: Final = f"{_RUN} WHERE status = $1 AND run_id < $2 ORDER BY run_id DESC LIMIT $3"
OF_SESSION: Final = f"{_RUN} WHERE session_id = $1 AND run_id < $2 ORDER BY run_id DESC LIMIT $3"
#: ``$3``: the writer whose own runs are among them; those that nobody has (0) wait for their jobs.
UNFINISHED: Final = f"""SELECT run_id FROM run WHERE status = ANY ($2)
    AND (writer = $3 OR (writer <> 0 AND writer NOT IN ({LIVING}))) ORDER BY run_id"""
#: A process that is missed at two looks, ``$3`` seconds apart, is gone. A run that was handed over waits for
#: its job, as long as there is one and a worker lives.
ORPHANED: Final = f"""WITH living AS ({LIVING})
    SELECT run_id FROM run LEFT JOIN writer AS had ON had.writer_id = run.writer
    WHERE status = ANY ($2) AND CASE WHEN run.writer = 0
        THEN NOT EXISTS (SELECT FROM writer WHERE works AND writer_id IN (TABLE living))
            OR run_id NOT IN (SELECT args ->> 'run_id' FROM procrastinate_jobs
                WHERE status IN ('todo', 'doing') AND task_name = '{SEGMENT}' AND args ? 'run_id')
        ELSE run.writer NOT IN (TABLE living)
            AND (had.writer_id IS NULL OR had.gone_at <= now() - make_interval(secs => $3))
    END ORDER BY run_id"""
BACKLOG: Final = f"""SELECT (SELECT count(*) FROM writer WHERE works AND writer_id IN ({LIVING})), count(*),
    coalesce(max(extract(epoch FROM now() - updated_at::timestamptz)), 0)::float8
    FROM run WHERE status = ANY ($2) AND writer = 0"""

CARD_NAMED: Final = f"{CARD} WHERE suspend_id = $1"
CARDS_NAMED: Final = f"{CARD} WHERE suspend_id = ANY ($1)"
OPENED: Final = "SELECT opened FROM suspension WHERE suspend_id = $1"
DUE: Final = f"""{CARD} WHERE status = 'pending'
    AND expires_at <= greatest($1, (SELECT max(clock) FROM writer))
    ORDER BY expires_at, opened LIMIT $2"""

IDLE: Final = """SELECT run_id FROM run WHERE status = 'suspended' AND updated_at <= $1
    AND NOT EXISTS (SELECT 1 FROM suspension
        WHERE suspension.run_id = run.run_id AND suspension.status = 'pending') ORDER BY run_id LIMIT $2"""
EVENTS: Final = """SELECT seq, kind, at, convert_to(facts, 'UTF8') FROM event
    WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"""
PAYLOADS_NAMED: Final = """SELECT key, convert_to(value, 'UTF8') FROM payload
    WHERE run_id = $1 AND key = ANY ($2)"""
_WHOLE: Final = f"""{_RUN_COLUMNS},
    ARRAY(SELECT ROW(step_id, status, attempt, key, code) FROM step
        WHERE step.run_id = run.run_id ORDER BY step_id),
    ARRAY(SELECT ROW({_CARD_COLUMNS}) FROM suspension
        WHERE suspension.run_id = run.run_id ORDER BY opened),
    ARRAY(SELECT ROW(key, convert_to(value, 'UTF8')) FROM payload WHERE payload.run_id = run.run_id)"""
#: A run with all that belongs to it, in one statement.
LOAD: Final = f"SELECT {_WHOLE} FROM run WHERE run_id = $1"
#: The same of each, looked up one by one: a join would be planned once, on tables that are empty, and kept.
LOAD_EACH: Final = f"""SELECT found.* FROM unnest($1::text[]) AS asked (asked_id)
    CROSS JOIN LATERAL (SELECT {_WHOLE} FROM run WHERE run_id = asked_id OFFSET 0) AS found"""
#: The same, and who has it. ``$2``: the own writer; ``$3``: seconds, as above.
OFFERED: Final = f"""SELECT CASE
        WHEN run.writer = 0 THEN 'nobody'
        WHEN run.writer = $2 THEN 'here'
        WHEN run.writer IN ({LIVING}) THEN 'elsewhere'
        WHEN NOT EXISTS (SELECT FROM writer WHERE writer_id = run.writer
            AND coalesce(gone_at > now() - make_interval(secs => $3), true)) THEN 'nobody'
        ELSE 'missed'
    END, {_WHOLE} FROM run WHERE run_id = $4"""

CLAIMED: Final = """SELECT run_id, digest FROM request
    WHERE tenant_id = $1 AND principal_id = $2 AND key = $3"""

_SELECT: Final = """SELECT token_id, tenant_id, kind, hash, convert_to(principal, 'UTF8'),
    convert_to(scopes, 'UTF8'), created_at, expires_at, revoked_at FROM token"""
TOKEN_OF: Final = f"{_SELECT} WHERE hash = $1"
TOKENS: Final = f"{_SELECT} WHERE kind = $1 ORDER BY created_at, token_id"
#: Done twice it is done once; what has expired goes with it.
KEEP: Final = """WITH expired AS (DELETE FROM token WHERE expires_at < $7)
    INSERT INTO token (token_id, tenant_id, kind, hash, principal, scopes, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (token_id) DO NOTHING"""
REVOKE: Final = """UPDATE token SET revoked_at = $2
    WHERE token_id = $1 AND (revoked_at IS NULL OR revoked_at = $2) RETURNING token_id"""
KERNELS: Final = """SELECT tenant_id, tool, rev, convert_to(body, 'UTF8'), prev_hash, hash FROM tool_kernel
    ORDER BY tool, rev"""
#: Done twice it is done once; a revision that does not follow the last one is not added.
ADD_KERNEL: Final = """INSERT INTO tool_kernel (tenant_id, tool, rev, body, prev_hash, hash)
    SELECT $1, $2, $3, $4, $5, $6
    WHERE $3 <= 1 + (SELECT coalesce(max(rev), 0) FROM tool_kernel WHERE tenant_id = $1 AND tool = $2)
    ON CONFLICT (tenant_id, tool, rev) DO UPDATE SET hash = excluded.hash
        WHERE tool_kernel.hash = excluded.hash
    RETURNING rev"""
#: A change that changes nothing is written and synced all the same.
TOUCH: Final = "UPDATE writer SET clock = clock WHERE writer_id = $1"
#: The run's row first, as units do it, or the two would wait for each other.
ERASE: Final = """WITH held AS MATERIALIZED (SELECT FROM run WHERE run_id = $1 FOR UPDATE),
    erased AS (DELETE FROM payload WHERE run_id = $1 AND EXISTS (TABLE held) RETURNING 1),
    revised AS (UPDATE run SET rev = rev + 1 WHERE run_id = $1 AND EXISTS (TABLE erased))
    TABLE erased"""
