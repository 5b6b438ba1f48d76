"""The function of the first schema, as it was: processes that began before an upgrade go on calling it."""

from __future__ import annotations

from typing import Final

APPLY_UNIT_1: Final = """
CREATE FUNCTION apply_unit_1(
    p_run text, p_tenant text, p_at text, p_born text[], p_claim text[], p_status text, p_from text[],
    p_statuses text[], p_epoch integer, p_answers integer, p_rev integer,
    p_raise integer, p_count integer, p_halt text, p_worked bigint,
    p_decide text[], p_decided_as text[], p_decided_by text[], p_refuse_expired boolean[],
    p_consume text[], p_park unit_card[], p_steps unit_step[],
    p_kinds text[], p_facts text[], p_audit text[], p_keys text[], p_values text[],
    p_writer integer, p_fence integer, p_group bigint, p_heard text[]
) RETURNS text LANGUAGE plpgsql AS $function$
DECLARE
    head record;
    card record;
    place integer;
    events integer := coalesce(cardinality(p_kinds), 0);
    entries integer := coalesce(cardinality(p_audit), 0);
    link text;
    links text[];
    parked text[];
    word text;
    v_told text;
    latest text;
BEGIN
    <<unit>>
    LOOP
        SELECT status, epoch, rev, seq, answers, audit_seq, audit_head, tenant_id INTO head
            FROM run WHERE run_id = p_run;
        IF p_born IS NOT NULL THEN
            IF FOUND THEN word := 'exists'; EXIT unit; END IF;
            SELECT p_status AS status, 0 AS epoch, 0 AS rev, 0 AS seq, 0 AS answers, 0 AS audit_seq,
                '' AS audit_head INTO head;
        ELSE
            -- Another tenant's run is not there.
            IF NOT FOUND OR head.tenant_id <> p_tenant THEN word := 'absent'; EXIT unit; END IF;
            IF p_epoch <> head.epoch THEN word := 'epoch'; EXIT unit; END IF;
            IF NOT head.status = ANY (p_statuses) THEN word := 'status'; EXIT unit; END IF;
            IF p_answers <> head.answers THEN word := 'answers'; EXIT unit; END IF;
            IF p_rev <> head.rev THEN word := 'rev'; EXIT unit; END IF;
            IF NOT head.status = ANY (p_from) THEN word := 'illegal ' || head.status; EXIT unit; END IF;
        END IF;

        IF p_decide IS NOT NULL THEN
            FOR place IN 1 .. cardinality(p_decide) LOOP
                SELECT run_id, status, expires_at INTO card FROM suspension
                    WHERE suspend_id = p_decide[place];
                IF NOT FOUND OR card.run_id <> p_run THEN word := 'missing'; EXIT unit; END IF;
                IF card.status <> 'pending' OR p_decide[place] = ANY (p_decide[: place - 1]) THEN
                    word := 'decided ' || p_decide[place]; EXIT unit;
                END IF;
                IF p_refuse_expired[place] AND card.expires_at <= greatest(
                    p_at, current_setting('condor.latest', true), (SELECT max(clock) FROM writer)
                ) THEN
                    word := 'expired ' || p_decide[place]; EXIT unit;
                END IF;
            END LOOP;
        END IF;
        IF p_consume IS NOT NULL THEN
            FOR place IN 1 .. cardinality(p_consume) LOOP
                SELECT run_id, status, consumed INTO card FROM suspension
                    WHERE suspend_id = p_consume[place];
                IF NOT FOUND OR card.run_id <> p_run THEN word := 'missing'; EXIT unit; END IF;
                IF card.consumed OR p_consume[place] = ANY (p_consume[: place - 1]) OR coalesce(
                    p_decided_as[array_position(p_decide, p_consume[place])], card.status
                ) <> 'approved' THEN
                    word := 'consumed ' || p_consume[place]; EXIT unit;
                END IF;
            END LOOP;
        END IF;
        IF p_park IS NOT NULL THEN
            -- A closed one is in the way too: a decision is never overwritten.
            parked := '{}';
            FOR place IN 1 .. cardinality(p_park) LOOP
                link := p_park[place].suspend_id;
                PERFORM FROM suspension WHERE suspend_id = link;
                IF FOUND OR link = ANY (parked) THEN word := 'exists ' || link; EXIT unit; END IF;
                parked := parked || link;
            END LOOP;
        END IF;

        link := head.audit_head;
        links := ARRAY[link];
        FOR place IN 1 .. entries LOOP
            link := encode(sha256(convert_to(
                link || E'\\n' || (head.audit_seq + place) || E'\\n' || p_audit[place], 'UTF8')), 'hex');
            links := links || link;
        END LOOP;

        IF p_born IS NULL THEN
            UPDATE run SET status = coalesce(p_status, status), epoch = epoch + p_raise, rev = rev + 1,
                seq = seq + events, answers = answers + p_count, audit_seq = audit_seq + entries,
                audit_head = link, halt = coalesce(p_halt, halt), updated_at = p_at,
                worked_ms = greatest(worked_ms, p_worked), writer = p_writer
                WHERE run_id = p_run AND rev = head.rev;
            CONTINUE unit WHEN NOT FOUND;
        ELSE
            IF p_claim IS NOT NULL THEN
                INSERT INTO request (tenant_id, principal_id, key, run_id, digest)
                    VALUES (p_tenant, p_claim[1], p_claim[2], p_run, p_claim[3]) ON CONFLICT DO NOTHING;
                IF NOT FOUND THEN word := 'claimed'; EXIT unit; END IF;
            END IF;
            INSERT INTO run (run_id, tenant_id, session_id, status, epoch, rev, seq, answers, audit_seq,
                audit_head, requester, autonomy, halt, created_at, updated_at, worked_ms, writer)
                VALUES (p_run, p_tenant, p_born[1], p_status, p_raise, 1, events, p_count, entries,
                link, p_born[2], p_born[3], p_halt, p_at, p_at, p_worked, p_writer);
        END IF;

        IF p_decide IS NOT NULL THEN
            FOR place IN 1 .. cardinality(p_decide) LOOP
                UPDATE suspension SET status = p_decided_as[place], decided_by = p_decided_by[place],
                    decided_at = p_at WHERE suspend_id = p_decide[place];
            END LOOP;
        END IF;
        IF p_consume IS NOT NULL THEN
            FOR place IN 1 .. cardinality(p_consume) LOOP
                UPDATE suspension SET consumed = true WHERE suspend_id = p_consume[place];
            END LOOP;
        END IF;
        IF p_park IS NOT NULL THEN
            INSERT INTO suspension (suspend_id, run_id, tenant_id, step_id, generation, reason_code, origin,
                contract_hash, tool, opened_at, expires_at, facts, status, decided_by, decided_at, consumed,
                tier, requester, subject)
                SELECT suspend_id, p_run, p_tenant, step_id, generation, reason_code, origin,
                contract_hash, tool, opened_at, expires_at, facts, status, decided_by, decided_at, consumed,
                tier, requester, subject
                FROM unnest(p_park) WITH ORDINALITY AS opened ORDER BY ordinality;
        END IF;
        IF p_steps IS NOT NULL THEN
            INSERT INTO step (run_id, step_id, status, attempt, key, code)
                SELECT p_run, step_id, status, attempt, key, code FROM unnest(p_steps)
                ON CONFLICT (run_id, step_id) DO UPDATE SET status = excluded.status,
                attempt = excluded.attempt, key = excluded.key, code = excluded.code;
        END IF;
        IF events > 0 THEN
            INSERT INTO event (run_id, seq, kind, at, facts)
                SELECT p_run, head.seq + place_of, kind, p_at, fact
                FROM unnest(p_kinds, p_facts) WITH ORDINALITY AS happened (kind, fact, place_of);
        END IF;
        IF entries > 0 THEN
            INSERT INTO audit (run_id, seq, body, prev_hash, hash)
                SELECT p_run, head.audit_seq + place_of, body, links[place_of], links[place_of + 1]
                FROM unnest(p_audit) WITH ORDINALITY AS entered (body, place_of) ORDER BY place_of;
        END IF;
        IF p_keys IS NOT NULL THEN
            INSERT INTO payload (run_id, key, value)
                SELECT p_run, kept.key, kept.value FROM unnest(p_keys, p_values) AS kept (key, value)
                ON CONFLICT (run_id, key) DO UPDATE SET value = excluded.value;
        END IF;
        word := concat_ws(' ', 'ok', CASE events WHEN 0 THEN 0 ELSE head.seq + 1 END,
            CASE events WHEN 0 THEN 0 ELSE head.seq + events END, head.rev + 1, head.epoch + p_raise,
            head.answers + p_count);
        PERFORM set_config('condor.latest', greatest(current_setting('condor.latest', true), p_at), true);
        EXIT unit;
    END LOOP;

    v_told := concat(current_setting('condor.told', true), word, E'\\n');
    IF p_group IS NULL THEN
        PERFORM set_config('condor.told', v_told, true);
        RETURN word;
    END IF;
    latest := current_setting('condor.latest', true);
    -- A group of which everything was refused has written nothing.
    IF latest > '' THEN
        UPDATE writer SET clock = greatest(clock, latest), group_no = p_group, told = v_told
            WHERE writer_id = p_writer AND fence = p_fence;
        IF NOT FOUND THEN RAISE EXCEPTION 'overtaken' USING ERRCODE = 'CN410'; END IF;
        PERFORM pg_notify('condor', latest || ' ' || ids) FROM unnest(p_heard) AS ids;
    END IF;
    RETURN word;
END
$function$
"""
