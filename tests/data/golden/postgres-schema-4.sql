SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA condor;
CREATE TYPE condor.procrastinate_job_event_type AS ENUM (
    'deferred',
    'started',
    'deferred_for_retry',
    'failed',
    'succeeded',
    'cancelled',
    'abort_requested',
    'aborted',
    'scheduled',
    'retried'
);
CREATE TYPE condor.procrastinate_job_status AS ENUM (
    'todo',
    'doing',
    'succeeded',
    'failed',
    'cancelled',
    'aborting',
    'aborted'
);
CREATE TYPE condor.procrastinate_job_to_defer_v1 AS (
	queue_name character varying,
	task_name character varying,
	priority integer,
	lock text,
	queueing_lock text,
	args jsonb,
	scheduled_at timestamp with time zone
);
CREATE TYPE condor.unit_card AS (
	suspend_id text,
	step_id text,
	generation integer,
	reason_code text,
	origin text,
	contract_hash text,
	tool text,
	opened_at text,
	expires_at text,
	facts text,
	status text,
	decided_by text,
	decided_at text,
	consumed boolean,
	tier text,
	requester text,
	subject text
);
CREATE TYPE condor.unit_step AS (
	step_id text,
	status text,
	attempt integer,
	key text,
	code text
);
CREATE FUNCTION condor.apply_unit_1(p_run text, p_tenant text, p_at text, p_born text[], p_claim text[], p_status text, p_from text[], p_statuses text[], p_epoch integer, p_answers integer, p_rev integer, p_raise integer, p_count integer, p_halt text, p_worked bigint, p_decide text[], p_decided_as text[], p_decided_by text[], p_refuse_expired boolean[], p_consume text[], p_park condor.unit_card[], p_steps condor.unit_step[], p_kinds text[], p_facts text[], p_audit text[], p_keys text[], p_values text[], p_writer integer, p_fence integer, p_group bigint, p_heard text[]) RETURNS text
    LANGUAGE plpgsql
    AS $$
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
                link || E'\n' || (head.audit_seq + place) || E'\n' || p_audit[place], 'UTF8')), 'hex');
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
    v_told := concat(current_setting('condor.told', true), word, E'\n');
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
$$;
CREATE FUNCTION condor.apply_unit_2(p_run text, p_tenant text, p_at text, p_born text[], p_claim text[], p_status text, p_from text[], p_statuses text[], p_epoch integer, p_answers integer, p_rev integer, p_raise integer, p_count integer, p_hand_over boolean, p_halt text, p_worked bigint, p_decide text[], p_decided_as text[], p_decided_by text[], p_refuse_expired boolean[], p_consume text[], p_park condor.unit_card[], p_steps condor.unit_step[], p_kinds text[], p_facts text[], p_audit text[], p_keys text[], p_values text[], p_writer integer, p_fence integer, p_group bigint, p_heard text[]) RETURNS text
    LANGUAGE plpgsql
    AS $$
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
                link || E'\n' || (head.audit_seq + place) || E'\n' || p_audit[place], 'UTF8')), 'hex');
            links := links || link;
        END LOOP;
        IF p_born IS NULL THEN
            UPDATE run SET status = coalesce(p_status, status), epoch = epoch + p_raise, rev = rev + 1,
                seq = seq + events, answers = answers + p_count, audit_seq = audit_seq + entries,
                audit_head = link, halt = coalesce(p_halt, halt), updated_at = p_at,
                worked_ms = greatest(worked_ms, p_worked),
                writer = CASE WHEN p_hand_over THEN 0 WHEN p_raise > 0 THEN p_writer ELSE writer END
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
                link, p_born[2], p_born[3], p_halt, p_at, p_at, p_worked,
                CASE WHEN p_hand_over THEN 0 ELSE p_writer END);
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
        IF p_hand_over THEN
            PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW('condor', 'segment', 0, NULL, NULL,
                jsonb_build_object('run_id', p_run, 'epoch', head.epoch + p_raise), NULL
            )::procrastinate_job_to_defer_v1]);
        END IF;
        word := concat_ws(' ', 'ok', CASE events WHEN 0 THEN 0 ELSE head.seq + 1 END,
            CASE events WHEN 0 THEN 0 ELSE head.seq + events END, head.rev + 1, head.epoch + p_raise,
            head.answers + p_count);
        PERFORM set_config('condor.latest', greatest(current_setting('condor.latest', true), p_at), true);
        EXIT unit;
    END LOOP;
    v_told := concat(current_setting('condor.told', true), word, E'\n');
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
$$;
CREATE FUNCTION condor.procrastinate_cancel_job_v1(job_id bigint, abort boolean, delete_job boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status = 'todo'
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        IF abort THEN
            UPDATE procrastinate_jobs
            SET abort_requested = true,
                status = CASE status
                    WHEN 'todo' THEN 'cancelled'::procrastinate_job_status ELSE status
                END
            WHERE id = job_id AND status IN ('todo', 'doing')
            RETURNING id INTO _job_id;
        ELSE
            UPDATE procrastinate_jobs
            SET status = 'cancelled'::procrastinate_job_status
            WHERE id = job_id AND status = 'todo'
            RETURNING id INTO _job_id;
        END IF;
    END IF;
    RETURN _job_id;
END;
$$;
CREATE FUNCTION condor.procrastinate_defer_jobs_v1(jobs condor.procrastinate_job_to_defer_v1[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
DECLARE
    job_ids bigint[];
BEGIN
    WITH inserted_jobs AS (
        INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)
        SELECT (job).queue_name,
               (job).task_name,
               (job).priority,
               (job).lock,
               (job).queueing_lock,
               (job).args,
               (job).scheduled_at
        FROM unnest(jobs) AS job
        RETURNING id
    )
    SELECT array_agg(id) FROM inserted_jobs INTO job_ids;
    RETURN job_ids;
END;
$$;
CREATE FUNCTION condor.procrastinate_defer_periodic_job_v2(_queue_name character varying, _lock character varying, _queueing_lock character varying, _task_name character varying, _priority integer, _periodic_id character varying, _defer_timestamp bigint, _args jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
DECLARE
	_job_id bigint;
	_defer_id bigint;
BEGIN
    INSERT
        INTO procrastinate_periodic_defers (task_name, periodic_id, defer_timestamp)
        VALUES (_task_name, _periodic_id, _defer_timestamp)
        ON CONFLICT DO NOTHING
        RETURNING id into _defer_id;
    IF _defer_id IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE procrastinate_periodic_defers
        SET job_id = (
            SELECT COALESCE((
                SELECT unnest(procrastinate_defer_jobs_v1(
                    ARRAY[
                        ROW(
                            _queue_name,
                            _task_name,
                            _priority,
                            _lock,
                            _queueing_lock,
                            _args,
                            NULL::timestamptz
                        )
                    ]::procrastinate_job_to_defer_v1[]
                ))
            ), NULL)
        )
        WHERE id = _defer_id
        RETURNING job_id INTO _job_id;
    DELETE
        FROM procrastinate_periodic_defers
        USING (
            SELECT id
            FROM procrastinate_periodic_defers
            WHERE procrastinate_periodic_defers.task_name = _task_name
            AND procrastinate_periodic_defers.periodic_id = _periodic_id
            AND procrastinate_periodic_defers.defer_timestamp < _defer_timestamp
            ORDER BY id
            FOR UPDATE
        ) to_delete
        WHERE procrastinate_periodic_defers.id = to_delete.id;
    RETURN _job_id;
END;
$$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE condor.procrastinate_jobs (
    id bigint NOT NULL,
    queue_name character varying(128) NOT NULL,
    task_name character varying(128) NOT NULL,
    priority integer DEFAULT 0 NOT NULL,
    lock text,
    queueing_lock text,
    args jsonb DEFAULT '{}'::jsonb NOT NULL,
    status condor.procrastinate_job_status DEFAULT 'todo'::condor.procrastinate_job_status NOT NULL,
    scheduled_at timestamp with time zone,
    attempts integer DEFAULT 0 NOT NULL,
    abort_requested boolean DEFAULT false NOT NULL,
    worker_id bigint,
    CONSTRAINT check_not_todo_abort_requested CHECK ((NOT ((status = 'todo'::condor.procrastinate_job_status) AND (abort_requested = true))))
);
CREATE FUNCTION condor.procrastinate_fetch_job_v2(target_queue_names character varying[], p_worker_id bigint) RETURNS condor.procrastinate_jobs
    LANGUAGE plpgsql
    AS $$
DECLARE
	found_jobs procrastinate_jobs;
BEGIN
    WITH candidate AS (
        SELECT jobs.*
            FROM procrastinate_jobs AS jobs
            WHERE
                -- reject the job if its lock has earlier or higher priority jobs
                NOT EXISTS (
                    SELECT 1
                        FROM procrastinate_jobs AS other_jobs
                        WHERE
                            jobs.lock IS NOT NULL
                            AND other_jobs.lock = jobs.lock
                            AND (
                                -- job with same lock is already running
                                other_jobs.status = 'doing'
                                OR
                                -- job with same lock is waiting and has higher priority (or same priority but was queued first)
                                (
                                    other_jobs.status = 'todo'
                                    AND (
                                        other_jobs.priority > jobs.priority
                                        OR (
                                        other_jobs.priority = jobs.priority
                                        AND other_jobs.id < jobs.id
                                        )
                                    )
                                )
                            )
                )
                AND jobs.status = 'todo'
                AND (target_queue_names IS NULL OR jobs.queue_name = ANY( target_queue_names ))
                AND (jobs.scheduled_at IS NULL OR jobs.scheduled_at <= now())
            ORDER BY jobs.priority DESC, jobs.id ASC LIMIT 1
            FOR UPDATE OF jobs SKIP LOCKED
    )
    UPDATE procrastinate_jobs
        SET status = 'doing', worker_id = p_worker_id
        FROM candidate
        WHERE procrastinate_jobs.id = candidate.id
        RETURNING procrastinate_jobs.* INTO found_jobs;
 RETURN found_jobs;
END;
$$;
CREATE FUNCTION condor.procrastinate_finish_job_v1(job_id bigint, end_status condor.procrastinate_job_status, delete_job boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
BEGIN
    IF end_status NOT IN ('succeeded', 'failed', 'aborted') THEN
        RAISE 'End status should be either "succeeded", "failed" or "aborted" (job id: %)', job_id;
    END IF;
    IF delete_job THEN
        DELETE FROM procrastinate_jobs
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = end_status,
            abort_requested = false,
            attempts = CASE status
                WHEN 'doing' THEN attempts + 1 ELSE attempts
            END
        WHERE id = job_id AND status IN ('todo', 'doing')
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" or "todo" status (job id: %)', job_id;
    END IF;
END;
$$;
CREATE FUNCTION condor.procrastinate_notify_queue_abort_job_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'abort_job_requested', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;
CREATE FUNCTION condor.procrastinate_notify_queue_job_inserted_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    payload TEXT;
BEGIN
    SELECT json_build_object('type', 'job_inserted', 'job_id', NEW.id)::text INTO payload;
	PERFORM pg_notify('procrastinate_queue_v1#' || NEW.queue_name, payload);
	PERFORM pg_notify('procrastinate_any_queue_v1', payload);
	RETURN NEW;
END;
$$;
CREATE FUNCTION condor.procrastinate_prune_stalled_workers_v1(seconds_since_heartbeat double precision) RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN QUERY
    DELETE FROM procrastinate_workers
    WHERE last_heartbeat < NOW() - (seconds_since_heartbeat || 'SECOND')::INTERVAL
    RETURNING procrastinate_workers.id;
END;
$$;
CREATE FUNCTION condor.procrastinate_register_worker_v1() RETURNS TABLE(worker_id bigint)
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN QUERY
    INSERT INTO procrastinate_workers DEFAULT VALUES
    RETURNING procrastinate_workers.id;
END;
$$;
CREATE FUNCTION condor.procrastinate_retry_job_v1(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
BEGIN
    SELECT abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status = 'doing'
    FOR UPDATE
    INTO _abort_requested;
    IF _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        RAISE 'Job was not found or not in "doing" status (job id: %)', job_id;
    END IF;
END;
$$;
CREATE FUNCTION condor.procrastinate_retry_job_v2(job_id bigint, retry_at timestamp with time zone, new_priority integer, new_queue_name character varying, new_lock character varying) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    _job_id bigint;
    _abort_requested boolean;
    _current_status procrastinate_job_status;
BEGIN
    SELECT status, abort_requested FROM procrastinate_jobs
    WHERE id = job_id AND status IN ('doing', 'failed')
    FOR UPDATE
    INTO _current_status, _abort_requested;
    IF _current_status = 'doing' AND _abort_requested THEN
        UPDATE procrastinate_jobs
        SET status = 'failed'::procrastinate_job_status
        WHERE id = job_id AND status = 'doing'
        RETURNING id INTO _job_id;
    ELSE
        UPDATE procrastinate_jobs
        SET status = 'todo'::procrastinate_job_status,
            attempts = attempts + 1,
            scheduled_at = retry_at,
            priority = COALESCE(new_priority, priority),
            queue_name = COALESCE(new_queue_name, queue_name),
            lock = COALESCE(new_lock, lock)
        WHERE id = job_id AND status IN ('doing', 'failed')
        RETURNING id INTO _job_id;
    END IF;
    IF _job_id IS NULL THEN
        RAISE 'Job was not found or has an invalid status to retry (job id: %)', job_id;
    END IF;
END;
$$;
CREATE FUNCTION condor.procrastinate_trigger_abort_requested_events_procedure_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'abort_requested'::procrastinate_job_event_type);
    RETURN NEW;
END;
$$;
CREATE FUNCTION condor.procrastinate_trigger_function_scheduled_events_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type, at)
        VALUES (NEW.id, 'scheduled'::procrastinate_job_event_type, NEW.scheduled_at);
	RETURN NEW;
END;
$$;
CREATE FUNCTION condor.procrastinate_trigger_function_status_events_insert_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO procrastinate_events(job_id, type)
        VALUES (NEW.id, 'deferred'::procrastinate_job_event_type);
	RETURN NEW;
END;
$$;
CREATE FUNCTION condor.procrastinate_trigger_function_status_events_update_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    WITH t AS (
        SELECT CASE
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND NEW.status = 'doing'::procrastinate_job_status
                THEN 'started'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'deferred_for_retry'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'failed'::procrastinate_job_status
                THEN 'failed'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'succeeded'::procrastinate_job_status
                THEN 'succeeded'::procrastinate_job_event_type
            WHEN OLD.status = 'todo'::procrastinate_job_status
                AND (
                    NEW.status = 'cancelled'::procrastinate_job_status
                    OR NEW.status = 'failed'::procrastinate_job_status
                    OR NEW.status = 'succeeded'::procrastinate_job_status
                )
                THEN 'cancelled'::procrastinate_job_event_type
            WHEN OLD.status = 'doing'::procrastinate_job_status
                AND NEW.status = 'aborted'::procrastinate_job_status
                THEN 'aborted'::procrastinate_job_event_type
            WHEN OLD.status = 'failed'::procrastinate_job_status
                AND NEW.status = 'todo'::procrastinate_job_status
                THEN 'retried'::procrastinate_job_event_type
            ELSE NULL
        END as event_type
    )
    INSERT INTO procrastinate_events(job_id, type)
        SELECT NEW.id, t.event_type
        FROM t
        WHERE t.event_type IS NOT NULL;
	RETURN NEW;
END;
$$;
CREATE FUNCTION condor.procrastinate_unlink_periodic_defers_v1() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE procrastinate_periodic_defers
    SET job_id = NULL
    WHERE job_id = OLD.id;
    RETURN OLD;
END;
$$;
CREATE FUNCTION condor.procrastinate_unregister_worker_v1(worker_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM procrastinate_workers
    WHERE id = worker_id;
END;
$$;
CREATE FUNCTION condor.procrastinate_update_heartbeat_v1(worker_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    UPDATE procrastinate_workers
    SET last_heartbeat = NOW()
    WHERE id = worker_id;
END;
$$;
CREATE TABLE condor.audit (
    "position" bigint NOT NULL,
    run_id text NOT NULL COLLATE pg_catalog."C",
    seq integer NOT NULL,
    body text NOT NULL,
    prev_hash text NOT NULL,
    hash text NOT NULL
);
ALTER TABLE condor.audit ALTER COLUMN "position" ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME condor.audit_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE condor.event (
    run_id text NOT NULL COLLATE pg_catalog."C",
    seq integer NOT NULL,
    kind text NOT NULL,
    at text NOT NULL COLLATE pg_catalog."C",
    facts text NOT NULL
);
CREATE TABLE condor.payload (
    run_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL
);
CREATE TABLE condor.procrastinate_events (
    id bigint NOT NULL,
    job_id bigint NOT NULL,
    type condor.procrastinate_job_event_type,
    at timestamp with time zone DEFAULT now()
);
CREATE SEQUENCE condor.procrastinate_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE condor.procrastinate_events_id_seq OWNED BY condor.procrastinate_events.id;
CREATE SEQUENCE condor.procrastinate_jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE condor.procrastinate_jobs_id_seq OWNED BY condor.procrastinate_jobs.id;
CREATE TABLE condor.procrastinate_periodic_defers (
    id bigint NOT NULL,
    task_name character varying(128) NOT NULL,
    defer_timestamp bigint,
    job_id bigint,
    periodic_id character varying(128) DEFAULT ''::character varying NOT NULL
);
CREATE SEQUENCE condor.procrastinate_periodic_defers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE condor.procrastinate_periodic_defers_id_seq OWNED BY condor.procrastinate_periodic_defers.id;
CREATE TABLE condor.procrastinate_workers (
    id bigint NOT NULL,
    last_heartbeat timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE condor.procrastinate_workers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME condor.procrastinate_workers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE condor.request (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    principal_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL,
    digest text NOT NULL
);
CREATE TABLE condor.run (
    run_id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    epoch integer NOT NULL,
    rev integer NOT NULL,
    seq integer NOT NULL,
    answers integer NOT NULL,
    audit_seq integer NOT NULL,
    audit_head text NOT NULL COLLATE pg_catalog."C",
    requester text NOT NULL,
    autonomy text NOT NULL,
    halt text,
    created_at text NOT NULL COLLATE pg_catalog."C",
    updated_at text NOT NULL COLLATE pg_catalog."C",
    worked_ms bigint NOT NULL,
    writer integer NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE condor.schema_version (
    version integer NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE condor.seal (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    seq integer NOT NULL,
    body text NOT NULL,
    prev_hash text NOT NULL,
    hash text NOT NULL
);
CREATE TABLE condor.sealed (
    run_id text NOT NULL COLLATE pg_catalog."C",
    audit_seq integer NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE condor.step (
    run_id text NOT NULL COLLATE pg_catalog."C",
    step_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    attempt integer NOT NULL,
    key text,
    code text NOT NULL
)
WITH (fillfactor='80');
CREATE TABLE condor.suspension (
    opened bigint NOT NULL,
    suspend_id text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    step_id text NOT NULL COLLATE pg_catalog."C",
    generation integer NOT NULL,
    reason_code text NOT NULL,
    origin text NOT NULL,
    contract_hash text NOT NULL,
    tool text NOT NULL,
    opened_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text COLLATE pg_catalog."C",
    facts text NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    decided_by text,
    decided_at text COLLATE pg_catalog."C",
    consumed boolean NOT NULL,
    tier text NOT NULL,
    requester text NOT NULL,
    subject text NOT NULL
)
WITH (fillfactor='80');
ALTER TABLE condor.suspension ALTER COLUMN opened ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME condor.suspension_opened_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE condor.token (
    token_id text NOT NULL COLLATE pg_catalog."C",
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    hash text NOT NULL COLLATE pg_catalog."C",
    principal text NOT NULL,
    scopes text NOT NULL,
    created_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text NOT NULL COLLATE pg_catalog."C",
    revoked_at text COLLATE pg_catalog."C"
);
CREATE TABLE condor.tool_kernel (
    tenant_id text NOT NULL COLLATE pg_catalog."C",
    tool text NOT NULL COLLATE pg_catalog."C",
    rev integer NOT NULL,
    body text NOT NULL,
    prev_hash text NOT NULL,
    hash text NOT NULL
);
CREATE TABLE condor.writer (
    writer_id integer NOT NULL,
    clock text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    fence integer DEFAULT 0 NOT NULL,
    group_no bigint DEFAULT 0 NOT NULL,
    told text DEFAULT ''::text NOT NULL,
    gone_at timestamp with time zone,
    works boolean DEFAULT false NOT NULL
)
WITH (fillfactor='20');
ALTER TABLE condor.writer ALTER COLUMN writer_id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME condor.writer_writer_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY condor.procrastinate_events ALTER COLUMN id SET DEFAULT nextval('condor.procrastinate_events_id_seq'::regclass);
ALTER TABLE ONLY condor.procrastinate_jobs ALTER COLUMN id SET DEFAULT nextval('condor.procrastinate_jobs_id_seq'::regclass);
ALTER TABLE ONLY condor.procrastinate_periodic_defers ALTER COLUMN id SET DEFAULT nextval('condor.procrastinate_periodic_defers_id_seq'::regclass);
INSERT INTO condor.audit VALUES (1, 'run_01m8ntxdm0000000chpwh6bcfn', 1, '{"actor":"ann","at":"2026-11-30T09:00:00.000Z","decision":"run-started","runId":"run_01m8ntxdm0000000chpwh6bcfn","sessionId":"ended","tenantId":"default"}', '', '219a7ce0e9b9352c960e9a909e6504b15b1cf6ec0eaa1c8a1b1b6e397e297355');
INSERT INTO condor.audit VALUES (2, 'run_01m8ntxdm0000000chpwh6bcfn', 2, '{"actor":"ann","approvalId":"r","at":"2026-11-30T09:00:00.000Z","decision":"executed","policyClass":"read","ruleId":"read.allow","runId":"run_01m8ntxdm0000000chpwh6bcfn","sessionId":"ended","stepId":"r","tenantId":"default","tool":"book.read"}', '219a7ce0e9b9352c960e9a909e6504b15b1cf6ec0eaa1c8a1b1b6e397e297355', '3b43a4053a4023f027ae07d0567bea8d655e8494bcc0fb3f3a2c604af0b0575e');
INSERT INTO condor.audit VALUES (3, 'run_01m8ntxdm0000000chpwh6bcfn', 3, '{"actor":"ann","approvalId":"w","at":"2026-11-30T09:00:00.000Z","contractHash":"sha256:0f04a0e4dafd40259e611c87b63f883b88f070e7eabe324436885e226cac4f14","decision":"suspended","effectiveTier":"high","hitlTier":"high","origin":"tool_policy","payloadDigest":"sha256:f087c9b99e07fdf290ef5ae78828a7b58e429c3c41daf724f62efbf09013d96f","policyClass":"mutate","reasonCode":"approval","ruleId":"mutate.high-tier-always-approval","runId":"run_01m8ntxdm0000000chpwh6bcfn","sessionId":"ended","stepId":"w","suspendId":"sus_vnvw4aqmrtl72ylvhziyyjhxai","tenantId":"default","tool":"book.write"}', '3b43a4053a4023f027ae07d0567bea8d655e8494bcc0fb3f3a2c604af0b0575e', '51c03b29b54dee73d6805e8431538460e051c983f9596f7089332d029f47c260');
INSERT INTO condor.audit VALUES (4, 'run_01m8ntxdm0000000chpwh6bcfn', 4, '{"actor":"bob","approvalId":"w","at":"2026-11-30T09:00:00.000Z","contractHash":"sha256:0f04a0e4dafd40259e611c87b63f883b88f070e7eabe324436885e226cac4f14","decision":"approved","effectiveTier":"high","hitlTier":"high","origin":"tool_policy","payloadDigest":"sha256:4f088cd77d03beead8c80e8f21f75c12cb13888fbd513950131e30b171b2280e","policyClass":"mutate","reasonCode":"approval","ruleId":"mutate.high-tier-always-approval","runId":"run_01m8ntxdm0000000chpwh6bcfn","sessionId":"ended","stepId":"w","suspendId":"sus_vnvw4aqmrtl72ylvhziyyjhxai","tenantId":"default","tool":"book.write"}', '51c03b29b54dee73d6805e8431538460e051c983f9596f7089332d029f47c260', 'cb8571c62a8eacb0fb35cba630e50f3cd432b765a5153f520c4a914ca9999b5a');
INSERT INTO condor.audit VALUES (5, 'run_01m8ntxdm0000000chpwh6bcfn', 5, '{"actor":"bob","approvalId":"w","at":"2026-11-30T09:00:00.000Z","contractHash":"sha256:0f04a0e4dafd40259e611c87b63f883b88f070e7eabe324436885e226cac4f14","decision":"executed","runId":"run_01m8ntxdm0000000chpwh6bcfn","sessionId":"ended","stepId":"w","tenantId":"default","tool":"book.write"}', 'cb8571c62a8eacb0fb35cba630e50f3cd432b765a5153f520c4a914ca9999b5a', 'bd76e7f3c60b2b55854bdc06a2e39a6993d704ba1a9481555a1d7918b2d3965f');
INSERT INTO condor.audit VALUES (6, 'run_01m8ntxdm0000000chpwh6bcfn', 6, '{"actor":"ann","at":"2026-11-30T09:00:00.000Z","decision":"run-ended","reasonCode":"succeeded:nothing-left","runId":"run_01m8ntxdm0000000chpwh6bcfn","sessionId":"ended","tenantId":"default"}', 'bd76e7f3c60b2b55854bdc06a2e39a6993d704ba1a9481555a1d7918b2d3965f', 'c10e9215842733171ab6f383b7bef949bd1923afad95290281deecdd4d85e409');
INSERT INTO condor.audit VALUES (7, 'run_01m8ntxdm0000000pdc7cf2tpz', 1, '{"actor":"ann","at":"2026-11-30T09:00:00.000Z","decision":"run-started","runId":"run_01m8ntxdm0000000pdc7cf2tpz","sessionId":"parked","tenantId":"default"}', '', '076a2371c2add0e9deb6e7f70baba65e22b1e5c275961e93160c9a03bb8eff94');
INSERT INTO condor.audit VALUES (8, 'run_01m8ntxdm0000000pdc7cf2tpz', 2, '{"actor":"ann","approvalId":"r","at":"2026-11-30T09:00:00.000Z","decision":"executed","policyClass":"read","ruleId":"read.allow","runId":"run_01m8ntxdm0000000pdc7cf2tpz","sessionId":"parked","stepId":"r","tenantId":"default","tool":"book.read"}', '076a2371c2add0e9deb6e7f70baba65e22b1e5c275961e93160c9a03bb8eff94', '0eabb2a7dfb2e19da02bc7df41621bd787105e3a8bd19d174a00edb170627f7b');
INSERT INTO condor.audit VALUES (9, 'run_01m8ntxdm0000000pdc7cf2tpz', 3, '{"actor":"ann","approvalId":"w","at":"2026-11-30T09:00:00.000Z","contractHash":"sha256:94ff5a206d9f31ded1b520aec09cf50afaa36a8c676dce4ce897c5c140344a65","decision":"suspended","effectiveTier":"high","hitlTier":"high","origin":"tool_policy","payloadDigest":"sha256:38795b8885f1e1d38b141995ad955d8a0cd7db0d2b9c757e2130fcbc6f8bf1f9","policyClass":"mutate","reasonCode":"approval","ruleId":"mutate.high-tier-always-approval","runId":"run_01m8ntxdm0000000pdc7cf2tpz","sessionId":"parked","stepId":"w","suspendId":"sus_w32y33u7xqhbtx5xyyqwbboxch","tenantId":"default","tool":"book.write"}', '0eabb2a7dfb2e19da02bc7df41621bd787105e3a8bd19d174a00edb170627f7b', 'e8e3fcb316ce736df7ab97c8cb44d3ded3027be34800049edd0394be26420b54');
INSERT INTO condor.audit VALUES (10, 'run_01m8ntxdm0000000rg4z1rdey4', 1, '{"actor":"ann","at":"2026-11-30T09:00:00.000Z","decision":"run-started","runId":"run_01m8ntxdm0000000rg4z1rdey4","sessionId":"at-work","tenantId":"default"}', '', '8bb43f1bd286d2bb895936cd51f7f3cd68c5762b4287ba3ad23f8cc4e6ca1c71');
INSERT INTO condor.audit VALUES (11, 'run_01m8ntxdm0000000rg4z1rdey4', 2, '{"actor":"ann","approvalId":"r","at":"2026-11-30T09:00:00.000Z","decision":"executed","policyClass":"read","ruleId":"read.allow","runId":"run_01m8ntxdm0000000rg4z1rdey4","sessionId":"at-work","stepId":"r","tenantId":"default","tool":"book.read"}', '8bb43f1bd286d2bb895936cd51f7f3cd68c5762b4287ba3ad23f8cc4e6ca1c71', '38c26891a2a68160e6738e39a85c6c68ab450f64c4ba81d81bb1cd23131a0d82');
INSERT INTO condor.audit VALUES (12, 'run_01m8ntxdm0000000rg4z1rdey4', 3, '{"actor":"ann","approvalId":"w","at":"2026-11-30T09:00:00.000Z","contractHash":"sha256:ca0da934731b87031bb6a229759bdbee1f6b33e22cd61bf90f3a9d3d31d7fc1a","decision":"suspended","effectiveTier":"high","hitlTier":"high","origin":"tool_policy","payloadDigest":"sha256:6a2f1da3bdbacd6c18b7d5603fc209c7312ab4998618f40ccb141a80216340f1","policyClass":"mutate","reasonCode":"approval","ruleId":"mutate.high-tier-always-approval","runId":"run_01m8ntxdm0000000rg4z1rdey4","sessionId":"at-work","stepId":"w","suspendId":"sus_k6j5jrlqf73hcrdalyihy5bwy3","tenantId":"default","tool":"gate.write"}', '38c26891a2a68160e6738e39a85c6c68ab450f64c4ba81d81bb1cd23131a0d82', 'a4a348099f1486c39e483cc4c82a08af38d6be56b17b80f7119375208d79506d');
INSERT INTO condor.audit VALUES (13, 'run_01m8ntxdm0000000rg4z1rdey4', 4, '{"actor":"bob","approvalId":"w","at":"2026-11-30T09:00:00.000Z","contractHash":"sha256:ca0da934731b87031bb6a229759bdbee1f6b33e22cd61bf90f3a9d3d31d7fc1a","decision":"approved","effectiveTier":"high","hitlTier":"high","origin":"tool_policy","payloadDigest":"sha256:4f088cd77d03beead8c80e8f21f75c12cb13888fbd513950131e30b171b2280e","policyClass":"mutate","reasonCode":"approval","ruleId":"mutate.high-tier-always-approval","runId":"run_01m8ntxdm0000000rg4z1rdey4","sessionId":"at-work","stepId":"w","suspendId":"sus_k6j5jrlqf73hcrdalyihy5bwy3","tenantId":"default","tool":"gate.write"}', 'a4a348099f1486c39e483cc4c82a08af38d6be56b17b80f7119375208d79506d', '3e346c17a6f20893ee3e4de9393075f028ddc2e8737d684ab2ad8ee52d680811');
INSERT INTO condor.audit VALUES (14, 'run_01m8ntxdm0000000ewyktbxabk', 1, '{"actor":"ann","at":"2026-11-30T09:00:00.000Z","decision":"run-started","runId":"run_01m8ntxdm0000000ewyktbxabk","sessionId":"handed-over","tenantId":"default"}', '', '00e95151ac752aedf3a8dd82495f25aa8c5ddb7a32f68dcae380baef7db0bb40');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 1, 'run.started', '2026-11-30T09:00:00.000Z', '{"sessionId":"ended","autonomy":"guarded","requester":"ann"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 2, 'plan.ready', '2026-11-30T09:00:00.000Z', '{"revision":1,"digest":"sha256:f97318530b54d3cc36d85c9e309fbeb80d98e15c7556cff08c721d412b000655","steps":2,"plan":"plan","graph":"graph"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 3, 'step.started', '2026-11-30T09:00:00.000Z', '{"stepId":"r","tool":"book.read","args":"args:r"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 4, 'step.settled', '2026-11-30T09:00:00.000Z', '{"stepId":"r","status":"succeeded","attempt":1,"result":"result:r"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 5, 'approval.required', '2026-11-30T09:00:00.000Z', '{"id":"w","stepId":"w","suspendId":"sus_vnvw4aqmrtl72ylvhziyyjhxai","reasonCode":"approval","origin":"tool_policy","generation":1,"tool":"book.write","contractHash":"sha256:0f04a0e4dafd40259e611c87b63f883b88f070e7eabe324436885e226cac4f14","expiresAt":"2026-12-01T09:00:00.000Z","card":"card:sus_vnvw4aqmrtl72ylvhziyyjhxai"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 6, 'suspension.closed', '2026-11-30T09:00:00.000Z', '{"stepId":"w","suspendId":"sus_vnvw4aqmrtl72ylvhziyyjhxai","status":"approved","by":"bob","answer":"answer:sus_vnvw4aqmrtl72ylvhziyyjhxai"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 7, 'step.started', '2026-11-30T09:00:00.000Z', '{"stepId":"w","tool":"book.write","args":"args:w"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 8, 'step.settled', '2026-11-30T09:00:00.000Z', '{"stepId":"w","status":"succeeded","attempt":1,"result":"result:w"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 9, 'text.done', '2026-11-30T09:00:00.000Z', '{"text":"closing"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 10, 'run.ended', '2026-11-30T09:00:00.000Z', '{"status":"succeeded","cause":"nothing-left"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 1, 'run.started', '2026-11-30T09:00:00.000Z', '{"sessionId":"parked","autonomy":"guarded","requester":"ann"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 2, 'plan.ready', '2026-11-30T09:00:00.000Z', '{"revision":1,"digest":"sha256:2d3c18a8144dc754de6bd113a8537dc5aa9c6176ac7cb1c6f6612210f69dc1fc","steps":2,"plan":"plan","graph":"graph"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 3, 'step.started', '2026-11-30T09:00:00.000Z', '{"stepId":"r","tool":"book.read","args":"args:r"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 4, 'step.settled', '2026-11-30T09:00:00.000Z', '{"stepId":"r","status":"succeeded","attempt":1,"result":"result:r"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 5, 'approval.required', '2026-11-30T09:00:00.000Z', '{"id":"w","stepId":"w","suspendId":"sus_w32y33u7xqhbtx5xyyqwbboxch","reasonCode":"approval","origin":"tool_policy","generation":1,"tool":"book.write","contractHash":"sha256:94ff5a206d9f31ded1b520aec09cf50afaa36a8c676dce4ce897c5c140344a65","expiresAt":"2026-12-01T09:00:00.000Z","card":"card:sus_w32y33u7xqhbtx5xyyqwbboxch"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 1, 'run.started', '2026-11-30T09:00:00.000Z', '{"sessionId":"at-work","autonomy":"guarded","requester":"ann"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 2, 'plan.ready', '2026-11-30T09:00:00.000Z', '{"revision":1,"digest":"sha256:329d5a5f541e8b6e4806ee7b0f7a8a24ef8c97de3777042551c1bfcb5369f7dd","steps":2,"plan":"plan","graph":"graph"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 3, 'step.started', '2026-11-30T09:00:00.000Z', '{"stepId":"r","tool":"book.read","args":"args:r"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 4, 'step.settled', '2026-11-30T09:00:00.000Z', '{"stepId":"r","status":"succeeded","attempt":1,"result":"result:r"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 5, 'approval.required', '2026-11-30T09:00:00.000Z', '{"id":"w","stepId":"w","suspendId":"sus_k6j5jrlqf73hcrdalyihy5bwy3","reasonCode":"approval","origin":"tool_policy","generation":1,"tool":"gate.write","contractHash":"sha256:ca0da934731b87031bb6a229759bdbee1f6b33e22cd61bf90f3a9d3d31d7fc1a","expiresAt":"2026-12-01T09:00:00.000Z","card":"card:sus_k6j5jrlqf73hcrdalyihy5bwy3"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 6, 'suspension.closed', '2026-11-30T09:00:00.000Z', '{"stepId":"w","suspendId":"sus_k6j5jrlqf73hcrdalyihy5bwy3","status":"approved","by":"bob","answer":"answer:sus_k6j5jrlqf73hcrdalyihy5bwy3"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 7, 'step.started', '2026-11-30T09:00:00.000Z', '{"stepId":"w","tool":"gate.write","args":"args:w"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000ewyktbxabk', 1, 'run.started', '2026-11-30T09:00:00.000Z', '{"sessionId":"handed-over","autonomy":"guarded","requester":"ann"}');
INSERT INTO condor.event VALUES ('run_01m8ntxdm0000000ewyktbxabk', 2, 'plan.ready', '2026-11-30T09:00:00.000Z', '{"revision":1,"digest":"sha256:d9a475b5dc91b8231330ed2f91e8360f537ce9deb8cdbc732e3ebe8f64ad9e6d","steps":2,"plan":"plan","graph":"graph"}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'plan', '{"steps":[{"id":"r","tool":"book.read","after":[],"args":{}},{"id":"w","tool":"book.write","after":["r"],"args":{"record":"ended","value":"x"}}]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'graph', '{"revision":1,"digest":"sha256:f97318530b54d3cc36d85c9e309fbeb80d98e15c7556cff08c721d412b000655","nodes":[{"id":"r","kind":"tool","after":[],"tool":"book.read","args":{}},{"id":"w","kind":"tool","after":["r"],"tool":"book.write","args":{"record":"ended","value":"x"}}]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'args:r', '{"args":{}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'result:r', '{"value":{"record":"a","version":"0","missing":null},"at":"2026-11-30T09:00:00.000Z"}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'card:sus_vnvw4aqmrtl72ylvhziyyjhxai', '{"kind":"approval","suspendId":"sus_vnvw4aqmrtl72ylvhziyyjhxai","runId":"run_01m8ntxdm0000000chpwh6bcfn","stepId":"w","contractHash":"sha256:0f04a0e4dafd40259e611c87b63f883b88f070e7eabe324436885e226cac4f14","reasonCode":"approval","origin":"tool_policy","generation":1,"toolName":"book.write","toolInput":{"record":"ended","value":"x"},"headline":"book.write","resumeSchema":{"type":"object","properties":{"approved":{"type":"boolean","title":"Approve"},"reason":{"type":"string","title":"Reason","maxLength":2000}},"required":["approved"],"additionalProperties":false},"expiresAt":"2026-12-01T09:00:00.000Z","policy":{"policyClass":"mutate","hitlTier":"high","effectiveTier":"high","promotions":[],"ruleId":"mutate.high-tier-always-approval"}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'answer:sus_vnvw4aqmrtl72ylvhziyyjhxai', '{"body":{"approved":true},"by":{"id":"bob","roles":["manager"],"kind":"person","display":"Bob Ode"},"at":"2026-11-30T09:00:00.000Z"}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'args:w', '{"args":{"record":"ended","value":"x"},"answers":{},"versions":{},"contractHash":"sha256:0f04a0e4dafd40259e611c87b63f883b88f070e7eabe324436885e226cac4f14","op":null,"approvedBy":{"id":"bob","roles":["manager"],"kind":"person","display":"Bob Ode"}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'result:w', '{"value":{"number":1},"at":"2026-11-30T09:00:00.000Z"}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'closing', '{"text":"book.read: done.\nbook.write: done.","notices":[]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'plan', '{"steps":[{"id":"r","tool":"book.read","after":[],"args":{}},{"id":"w","tool":"book.write","after":["r"],"args":{"record":"parked","value":"x"}}]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'graph', '{"revision":1,"digest":"sha256:2d3c18a8144dc754de6bd113a8537dc5aa9c6176ac7cb1c6f6612210f69dc1fc","nodes":[{"id":"r","kind":"tool","after":[],"tool":"book.read","args":{}},{"id":"w","kind":"tool","after":["r"],"tool":"book.write","args":{"record":"parked","value":"x"}}]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'args:r', '{"args":{}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'result:r', '{"value":{"record":"a","version":"0","missing":null},"at":"2026-11-30T09:00:00.000Z"}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'card:sus_w32y33u7xqhbtx5xyyqwbboxch', '{"kind":"approval","suspendId":"sus_w32y33u7xqhbtx5xyyqwbboxch","runId":"run_01m8ntxdm0000000pdc7cf2tpz","stepId":"w","contractHash":"sha256:94ff5a206d9f31ded1b520aec09cf50afaa36a8c676dce4ce897c5c140344a65","reasonCode":"approval","origin":"tool_policy","generation":1,"toolName":"book.write","toolInput":{"record":"parked","value":"x"},"headline":"book.write","resumeSchema":{"type":"object","properties":{"approved":{"type":"boolean","title":"Approve"},"reason":{"type":"string","title":"Reason","maxLength":2000}},"required":["approved"],"additionalProperties":false},"expiresAt":"2026-12-01T09:00:00.000Z","policy":{"policyClass":"mutate","hitlTier":"high","effectiveTier":"high","promotions":[],"ruleId":"mutate.high-tier-always-approval"}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'plan', '{"steps":[{"id":"r","tool":"book.read","after":[],"args":{}},{"id":"w","tool":"gate.write","after":["r"],"args":{"record":"at-work","value":"x"}}]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'graph', '{"revision":1,"digest":"sha256:329d5a5f541e8b6e4806ee7b0f7a8a24ef8c97de3777042551c1bfcb5369f7dd","nodes":[{"id":"r","kind":"tool","after":[],"tool":"book.read","args":{}},{"id":"w","kind":"tool","after":["r"],"tool":"gate.write","args":{"record":"at-work","value":"x"}}]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'args:r', '{"args":{}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'result:r', '{"value":{"record":"a","version":"0","missing":null},"at":"2026-11-30T09:00:00.000Z"}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'card:sus_k6j5jrlqf73hcrdalyihy5bwy3', '{"kind":"approval","suspendId":"sus_k6j5jrlqf73hcrdalyihy5bwy3","runId":"run_01m8ntxdm0000000rg4z1rdey4","stepId":"w","contractHash":"sha256:ca0da934731b87031bb6a229759bdbee1f6b33e22cd61bf90f3a9d3d31d7fc1a","reasonCode":"approval","origin":"tool_policy","generation":1,"toolName":"gate.write","toolInput":{"record":"at-work","value":"x"},"headline":"gate.write","resumeSchema":{"type":"object","properties":{"approved":{"type":"boolean","title":"Approve"},"reason":{"type":"string","title":"Reason","maxLength":2000}},"required":["approved"],"additionalProperties":false},"expiresAt":"2026-12-01T09:00:00.000Z","policy":{"policyClass":"mutate","hitlTier":"high","effectiveTier":"high","promotions":[],"ruleId":"mutate.high-tier-always-approval"}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'answer:sus_k6j5jrlqf73hcrdalyihy5bwy3', '{"body":{"approved":true},"by":{"id":"bob","roles":["manager"],"kind":"person","display":"Bob Ode"},"at":"2026-11-30T09:00:00.000Z"}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'args:w', '{"args":{"record":"at-work","value":"x"},"answers":{},"versions":{},"contractHash":"sha256:ca0da934731b87031bb6a229759bdbee1f6b33e22cd61bf90f3a9d3d31d7fc1a","op":null,"approvedBy":{"id":"bob","roles":["manager"],"kind":"person","display":"Bob Ode"}}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000ewyktbxabk', 'plan', '{"steps":[{"id":"r","tool":"book.read","after":[],"args":{}},{"id":"w","tool":"book.write","after":["r"],"args":{"record":"handed-over","value":"x"}}]}');
INSERT INTO condor.payload VALUES ('run_01m8ntxdm0000000ewyktbxabk', 'graph', '{"revision":1,"digest":"sha256:d9a475b5dc91b8231330ed2f91e8360f537ce9deb8cdbc732e3ebe8f64ad9e6d","nodes":[{"id":"r","kind":"tool","after":[],"tool":"book.read","args":{}},{"id":"w","kind":"tool","after":["r"],"tool":"book.write","args":{"record":"handed-over","value":"x"}}]}');
INSERT INTO condor.procrastinate_events VALUES (1, 1, 'deferred', '2026-11-30 23:31:24.14654+00');
INSERT INTO condor.procrastinate_jobs VALUES (1, 'condor', 'segment', 0, NULL, NULL, '{"epoch": 0, "run_id": "run_01m8ntxdm0000000ewyktbxabk"}', 'todo', NULL, 0, false, NULL);
INSERT INTO condor.run VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'default', 'ended', 'succeeded', 1, 5, 10, 1, 6, 'c10e9215842733171ab6f383b7bef949bd1923afad95290281deecdd4d85e409', '{"id":"ann","roles":["clerk"],"kind":"person","display":"Ann Ito"}', 'guarded', NULL, '2026-11-30T09:00:00.000Z', '2026-11-30T09:00:00.000Z', 0, 1);
INSERT INTO condor.run VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'default', 'parked', 'suspended', 0, 2, 5, 0, 3, 'e8e3fcb316ce736df7ab97c8cb44d3ded3027be34800049edd0394be26420b54', '{"id":"ann","roles":["clerk"],"kind":"person","display":"Ann Ito"}', 'guarded', NULL, '2026-11-30T09:00:00.000Z', '2026-11-30T09:00:00.000Z', 0, 1);
INSERT INTO condor.run VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'default', 'at-work', 'executing', 1, 4, 7, 1, 4, '3e346c17a6f20893ee3e4de9393075f028ddc2e8737d684ab2ad8ee52d680811', '{"id":"ann","roles":["clerk"],"kind":"person","display":"Ann Ito"}', 'guarded', NULL, '2026-11-30T09:00:00.000Z', '2026-11-30T09:00:00.000Z', 0, 1);
INSERT INTO condor.run VALUES ('run_01m8ntxdm0000000ewyktbxabk', 'default', 'handed-over', 'executing', 0, 1, 2, 0, 1, '00e95151ac752aedf3a8dd82495f25aa8c5ddb7a32f68dcae380baef7db0bb40', '{"id":"ann","roles":["clerk"],"kind":"person","display":"Ann Ito"}', 'guarded', NULL, '2026-11-30T09:00:00.000Z', '2026-11-30T09:00:00.000Z', 0, 0);
INSERT INTO condor.schema_version VALUES (1, '2026-11-30 23:31:22.657077+00');
INSERT INTO condor.schema_version VALUES (2, '2026-11-30 23:31:22.657077+00');
INSERT INTO condor.schema_version VALUES (3, '2026-11-30 23:31:22.657077+00');
INSERT INTO condor.schema_version VALUES (4, '2026-11-30 23:31:22.657077+00');
INSERT INTO condor.seal VALUES ('default', 1, '{"at":"2026-11-30T09:00:00.000Z","heads":[["run_01m8ntxdm0000000chpwh6bcfn",6,"c10e9215842733171ab6f383b7bef949bd1923afad95290281deecdd4d85e409"],["run_01m8ntxdm0000000pdc7cf2tpz",3,"e8e3fcb316ce736df7ab97c8cb44d3ded3027be34800049edd0394be26420b54"],["run_01m8ntxdm0000000rg4z1rdey4",4,"3e346c17a6f20893ee3e4de9393075f028ddc2e8737d684ab2ad8ee52d680811"]],"tenantId":"default"}', '', '817d35dd9fa7aaee6bc59e43a67cac39980d048dbf9f111db7663a37337aac5a');
INSERT INTO condor.sealed VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 6);
INSERT INTO condor.sealed VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 3);
INSERT INTO condor.sealed VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 4);
INSERT INTO condor.step VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'r', 'succeeded', 1, NULL, '');
INSERT INTO condor.step VALUES ('run_01m8ntxdm0000000chpwh6bcfn', 'w', 'succeeded', 1, 'idem_iuweovrixc4bwq3cuhg3ziasew', '');
INSERT INTO condor.step VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'r', 'succeeded', 1, NULL, '');
INSERT INTO condor.step VALUES ('run_01m8ntxdm0000000pdc7cf2tpz', 'w', 'suspended', 1, NULL, '');
INSERT INTO condor.step VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'r', 'succeeded', 1, NULL, '');
INSERT INTO condor.step VALUES ('run_01m8ntxdm0000000rg4z1rdey4', 'w', 'started', 1, 'idem_hg3fbwg3de2f3l4cbht6kn7dkp', '');
INSERT INTO condor.suspension OVERRIDING SYSTEM VALUE VALUES (1, 'sus_vnvw4aqmrtl72ylvhziyyjhxai', 'run_01m8ntxdm0000000chpwh6bcfn', 'default', 'w', 1, 'approval', 'tool_policy', 'sha256:0f04a0e4dafd40259e611c87b63f883b88f070e7eabe324436885e226cac4f14', 'book.write', '2026-11-30T09:00:00.000Z', '2026-12-01T09:00:00.000Z', '{"policy":{"policyClass":"mutate","hitlTier":"high","effectiveTier":"high","promotions":[],"ruleId":"mutate.high-tier-always-approval"},"op":null,"requester":"ann","answerRoles":[],"requesterMayAnswer":false,"requesterExcluded":false,"versions":{},"evidence":"sha256:643d5437104296e21d906ecb15b2c96ad278f20cfc4af53b12bb6069bd853726","call":"sha256:b8e5c37472a0de6d1abfb342a3b507b8054d90d66bb5b26976c807c0ffec39d0","effects":[],"descriptor":"sha256:1920c1a982c83719db97ee5916b3b3eb2564accd3ae9a1344bc4de86970458a3"}', 'approved', 'bob', '2026-11-30T09:00:00.000Z', true, 'high', 'ann', '');
INSERT INTO condor.suspension OVERRIDING SYSTEM VALUE VALUES (2, 'sus_w32y33u7xqhbtx5xyyqwbboxch', 'run_01m8ntxdm0000000pdc7cf2tpz', 'default', 'w', 1, 'approval', 'tool_policy', 'sha256:94ff5a206d9f31ded1b520aec09cf50afaa36a8c676dce4ce897c5c140344a65', 'book.write', '2026-11-30T09:00:00.000Z', '2026-12-01T09:00:00.000Z', '{"policy":{"policyClass":"mutate","hitlTier":"high","effectiveTier":"high","promotions":[],"ruleId":"mutate.high-tier-always-approval"},"op":null,"requester":"ann","answerRoles":[],"requesterMayAnswer":false,"requesterExcluded":false,"versions":{},"evidence":"sha256:643d5437104296e21d906ecb15b2c96ad278f20cfc4af53b12bb6069bd853726","call":"sha256:0ea0ca64b5aa920304d04c8e84cc13650b1843e74c11e00a3a50033182e69cf4","effects":[],"descriptor":"sha256:1920c1a982c83719db97ee5916b3b3eb2564accd3ae9a1344bc4de86970458a3"}', 'pending', NULL, NULL, false, 'high', 'ann', '');
INSERT INTO condor.suspension OVERRIDING SYSTEM VALUE VALUES (3, 'sus_k6j5jrlqf73hcrdalyihy5bwy3', 'run_01m8ntxdm0000000rg4z1rdey4', 'default', 'w', 1, 'approval', 'tool_policy', 'sha256:ca0da934731b87031bb6a229759bdbee1f6b33e22cd61bf90f3a9d3d31d7fc1a', 'gate.write', '2026-11-30T09:00:00.000Z', '2026-12-01T09:00:00.000Z', '{"policy":{"policyClass":"mutate","hitlTier":"high","effectiveTier":"high","promotions":[],"ruleId":"mutate.high-tier-always-approval"},"op":null,"requester":"ann","answerRoles":[],"requesterMayAnswer":false,"requesterExcluded":false,"versions":{},"evidence":"sha256:643d5437104296e21d906ecb15b2c96ad278f20cfc4af53b12bb6069bd853726","call":"sha256:5d4a59a7c057816471536660180dd3b4b75a6f32a8ae2c269cffe658ed1e5774","effects":[],"descriptor":"sha256:321aba58d953f1866730ccf95b1eee418d3d457f4eafcd54b8b42eaf488e3484"}', 'approved', 'bob', '2026-11-30T09:00:00.000Z', true, 'high', 'ann', '');
INSERT INTO condor.writer VALUES (0, '', 0, 0, '', NULL, false);
INSERT INTO condor.writer VALUES (1, '2026-11-30T09:00:00.000Z', 1, 11, 'ok 7 7 4 1 1
', NULL, false);
INSERT INTO condor.writer VALUES (2, '2026-11-30T09:00:00.000Z', 1, 1, 'ok 1 2 1 0 0
', NULL, false);
SELECT pg_catalog.setval('condor.audit_position_seq', 14, true);
SELECT pg_catalog.setval('condor.procrastinate_events_id_seq', 1, true);
SELECT pg_catalog.setval('condor.procrastinate_jobs_id_seq', 1, true);
SELECT pg_catalog.setval('condor.procrastinate_periodic_defers_id_seq', 1, false);
SELECT pg_catalog.setval('condor.procrastinate_workers_id_seq', 1, false);
SELECT pg_catalog.setval('condor.suspension_opened_seq', 3, true);
SELECT pg_catalog.setval('condor.writer_writer_id_seq', 2, true);
ALTER TABLE ONLY condor.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY ("position");
ALTER TABLE ONLY condor.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (run_id, seq);
ALTER TABLE ONLY condor.payload
    ADD CONSTRAINT payload_pkey PRIMARY KEY (run_id, key);
ALTER TABLE ONLY condor.procrastinate_events
    ADD CONSTRAINT procrastinate_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY condor.procrastinate_jobs
    ADD CONSTRAINT procrastinate_jobs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY condor.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY condor.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_unique UNIQUE (task_name, periodic_id, defer_timestamp);
ALTER TABLE ONLY condor.procrastinate_workers
    ADD CONSTRAINT procrastinate_workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY condor.request
    ADD CONSTRAINT request_pkey PRIMARY KEY (tenant_id, principal_id, key);
ALTER TABLE ONLY condor.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY condor.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY condor.seal
    ADD CONSTRAINT seal_pkey PRIMARY KEY (tenant_id, seq);
ALTER TABLE ONLY condor.sealed
    ADD CONSTRAINT sealed_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY condor.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (run_id, step_id);
ALTER TABLE ONLY condor.suspension
    ADD CONSTRAINT suspension_pkey PRIMARY KEY (opened);
ALTER TABLE ONLY condor.suspension
    ADD CONSTRAINT suspension_suspend_id_key UNIQUE (suspend_id);
ALTER TABLE ONLY condor.token
    ADD CONSTRAINT token_hash_key UNIQUE (hash);
ALTER TABLE ONLY condor.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (token_id);
ALTER TABLE ONLY condor.tool_kernel
    ADD CONSTRAINT tool_kernel_pkey PRIMARY KEY (tenant_id, tool, rev);
ALTER TABLE ONLY condor.writer
    ADD CONSTRAINT writer_pkey PRIMARY KEY (writer_id);
CREATE INDEX audit_by_run ON condor.audit USING btree (run_id, seq);
CREATE INDEX event_lately ON condor.event USING brin (at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX idx_procrastinate_jobs_worker_not_null ON condor.procrastinate_jobs USING btree (worker_id) WHERE ((worker_id IS NOT NULL) AND (status = 'doing'::condor.procrastinate_job_status));
CREATE INDEX idx_procrastinate_workers_last_heartbeat ON condor.procrastinate_workers USING btree (last_heartbeat);
CREATE INDEX procrastinate_events_job_id_fkey_v1 ON condor.procrastinate_events USING btree (job_id);
CREATE INDEX procrastinate_jobs_id_lock_idx_v1 ON condor.procrastinate_jobs USING btree (id, lock) WHERE (status = ANY (ARRAY['todo'::condor.procrastinate_job_status, 'doing'::condor.procrastinate_job_status]));
CREATE UNIQUE INDEX procrastinate_jobs_lock_idx_v1 ON condor.procrastinate_jobs USING btree (lock) WHERE (status = 'doing'::condor.procrastinate_job_status);
CREATE INDEX procrastinate_jobs_priority_idx_v1 ON condor.procrastinate_jobs USING btree (priority DESC, id) WHERE (status = 'todo'::condor.procrastinate_job_status);
CREATE INDEX procrastinate_jobs_queue_name_idx_v1 ON condor.procrastinate_jobs USING btree (queue_name);
CREATE UNIQUE INDEX procrastinate_jobs_queueing_lock_idx_v1 ON condor.procrastinate_jobs USING btree (queueing_lock) WHERE (status = 'todo'::condor.procrastinate_job_status);
CREATE INDEX procrastinate_periodic_defers_job_id_fkey_v1 ON condor.procrastinate_periodic_defers USING btree (job_id);
CREATE INDEX run_by_session ON condor.run USING btree (session_id, run_id);
CREATE INDEX run_by_status ON condor.run USING btree (status, run_id);
CREATE INDEX suspension_by_run ON condor.suspension USING btree (run_id, opened);
CREATE INDEX suspension_by_status ON condor.suspension USING btree (status, opened);
CREATE INDEX suspension_due ON condor.suspension USING btree (expires_at) WHERE (status = 'pending'::text);
CREATE INDEX suspension_open_opened_at ON condor.suspension USING btree (opened_at, opened) WHERE (status = 'pending'::text);
CREATE INDEX suspension_open_origin ON condor.suspension USING btree (origin, opened) WHERE (status = 'pending'::text);
CREATE INDEX suspension_open_reason_code ON condor.suspension USING btree (reason_code, opened) WHERE (status = 'pending'::text);
CREATE INDEX suspension_open_requester ON condor.suspension USING btree (requester, opened) WHERE (status = 'pending'::text);
CREATE INDEX suspension_open_subject ON condor.suspension USING btree (subject, opened) WHERE (status = 'pending'::text);
CREATE INDEX suspension_open_tier ON condor.suspension USING btree (tier, opened) WHERE (status = 'pending'::text);
CREATE INDEX suspension_open_tool ON condor.suspension USING btree (tool, opened) WHERE (status = 'pending'::text);
CREATE TRIGGER procrastinate_jobs_notify_queue_job_aborted_v1 AFTER UPDATE OF abort_requested ON condor.procrastinate_jobs FOR EACH ROW WHEN (((old.abort_requested = false) AND (new.abort_requested = true) AND (new.status = 'doing'::condor.procrastinate_job_status))) EXECUTE FUNCTION condor.procrastinate_notify_queue_abort_job_v1();
CREATE TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1 AFTER INSERT ON condor.procrastinate_jobs FOR EACH ROW WHEN ((new.status = 'todo'::condor.procrastinate_job_status)) EXECUTE FUNCTION condor.procrastinate_notify_queue_job_inserted_v1();
CREATE TRIGGER procrastinate_trigger_abort_requested_events_v1 AFTER UPDATE OF abort_requested ON condor.procrastinate_jobs FOR EACH ROW WHEN ((new.abort_requested = true)) EXECUTE FUNCTION condor.procrastinate_trigger_abort_requested_events_procedure_v1();
CREATE TRIGGER procrastinate_trigger_delete_jobs_v1 BEFORE DELETE ON condor.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION condor.procrastinate_unlink_periodic_defers_v1();
CREATE TRIGGER procrastinate_trigger_scheduled_events_v1 AFTER INSERT OR UPDATE ON condor.procrastinate_jobs FOR EACH ROW WHEN (((new.scheduled_at IS NOT NULL) AND (new.status = 'todo'::condor.procrastinate_job_status))) EXECUTE FUNCTION condor.procrastinate_trigger_function_scheduled_events_v1();
CREATE TRIGGER procrastinate_trigger_status_events_insert_v1 AFTER INSERT ON condor.procrastinate_jobs FOR EACH ROW WHEN ((new.status = 'todo'::condor.procrastinate_job_status)) EXECUTE FUNCTION condor.procrastinate_trigger_function_status_events_insert_v1();
CREATE TRIGGER procrastinate_trigger_status_events_update_v1 AFTER UPDATE OF status ON condor.procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION condor.procrastinate_trigger_function_status_events_update_v1();
ALTER TABLE ONLY condor.procrastinate_events
    ADD CONSTRAINT procrastinate_events_job_id_fkey FOREIGN KEY (job_id) REFERENCES condor.procrastinate_jobs(id) ON DELETE CASCADE;
ALTER TABLE ONLY condor.procrastinate_jobs
    ADD CONSTRAINT procrastinate_jobs_worker_id_fkey FOREIGN KEY (worker_id) REFERENCES condor.procrastinate_workers(id) ON DELETE SET NULL;
ALTER TABLE ONLY condor.procrastinate_periodic_defers
    ADD CONSTRAINT procrastinate_periodic_defers_job_id_fkey FOREIGN KEY (job_id) REFERENCES condor.procrastinate_jobs(id);
