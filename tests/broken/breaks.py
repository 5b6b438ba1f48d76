"""Planted breaks: for each behaviour that approvals rest on, a change of the source that takes it away.

A break is data: file, the exact text that stands there once, and what is put in its place. ``test_breaks``
applies it to a copy of the source and runs the tests that hold the behaviour; one that still passes is blind.
Where two guards hold one behaviour, a break takes both.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of one file below ``src``."""

    file: str
    #: Stands in the file exactly once.
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """One behaviour taken away."""

    #: What the source does then, in words.
    name: str
    edits: tuple[Edit, ...]
    #: ``file::function`` below ``tests``; each must fail.
    tests: tuple[str, ...]


def broken(name: str, file: str, old: str, new: str, *tests: str) -> Break:
    """A break of one change."""
    return Break(name=name, edits=(Edit(file=f"condor/{file}", old=old, new=new),), tests=tests)


_REFUSALS = "condor/pump/phases/refusals.py"
_UNITS = "condor/store/sqlite_units.py"
_CALL = "condor/pump/call.py"

#: Nothing but the store's compare-and-set and a look before it stand between two answers.
_EVERY_ANSWER_COUNTS = (
    Edit(
        file=_REFUSALS,
        old='    if row.status != "pending":\n        raise',
        new="    if False:\n        raise",
    ),
    Edit(file=_UNITS, old='        if status != "pending":', new="        if False:"),
)
#: Any yes to a call of this tool, used or not, whatever it was for.
_ANY_YES_COUNTS = (
    Edit(
        file=_CALL,
        old="        for row in state.suspensions_of(node.step_id)\n        if read_reason_code",
        new="        for row in state.suspensions.values()\n        if read_reason_code",
    ),
    Edit(file=_CALL, old=" or cards[-1].consumed:", new=":"),
    Edit(
        file="condor/core/compiler/leaves/tool_call.py",
        old="    if approval.contract_hash != contract:",
        new="    if False:",
    ),
)
#: The card of an edit is told from that of the call by its tool, its origin, its use and its contract.
_YES_TO_AN_EDIT_COUNTS = (
    Edit(
        file=_CALL,
        old="        and row.tool == node.tool\n        and row.origin != Origin.PLAN_MUTATION\n",
        new="",
    ),
    Edit(file=_CALL, old=" or cards[-1].consumed:", new=":"),
    Edit(
        file="condor/core/compiler/leaves/tool_call.py",
        old="    if approval.contract_hash != contract:",
        new="    if False:",
    ),
)

BREAKS: tuple[Break, ...] = (
    # -- the gate itself -----------------------------------------------------------------------
    broken(
        "no call asks",
        "core/compiler/leaves/tool_call.py",
        "    if verdict.allowed and not given.was_gated:",
        "    if True:",
        "pump/test_gates.py::test_a_gated_tool_inside_a_wrapper_that_retries",
        "pump/test_gates.py::test_a_gate_two_levels_down_is_one_card_at_the_root",
        "pump/test_gates.py::test_one_free_and_one_gated_call_give_one_card",
        "pump/test_denials.py::test_a_tool_that_ignores_its_context_is_not_entered",
    ),
    broken(
        "every call asks",
        "core/compiler/leaves/tool_call.py",
        "    if verdict.allowed and not given.was_gated:",
        "    if False:",
        "pump/test_gates.py::test_one_free_and_one_gated_call_give_one_card",
        "pump/test_reports.py::test_fatigue_a_read_never_asks",
    ),
    broken(
        "a call's arguments set its tier",
        "core/policy/resolve.py",
        "        hitl_tier=tool.hitl_tier,\n        op=op,",
        '        hitl_tier=args.get("hitlTier", tool.hitl_tier),\n        op=op,',
        "core/policy/test_adversarial.py::test_a12_a_model_cannot_approve_itself",
    ),
    broken(
        "programs are autonomous",
        "runtime/edge.py",
        'return "guarded" if autonomy == "autonomous" and principal.kind != "person" else autonomy',
        "return autonomy",
        "runtime/test_running.py::test_only_a_person_is_autonomous",
    ),
    broken(
        "a substitute may lower the gate",
        "core/recovery/substitution.py",
        "candidate.effective_tier == failed.effective_tier and not candidate.destructive",
        "True",
        "core/recovery/test_substitution_properties.py::test_a_substitute_never_lowers_the_gate",
    ),
    broken(
        "a high call is replaced",
        "core/recovery/substitution.py",
        'if failed.effective_tier == "high" or failed.declared_tier == "high" or failed.destructive:',
        "if False:",
        "pump/test_recovery.py::test_a_high_tool_is_never_replaced",
    ),
    Break(
        name="a yes to an edit of the plan is a yes to the call",
        edits=_YES_TO_AN_EDIT_COUNTS,
        tests=("pump/test_recovery.py::test_an_approved_edit_does_not_approve_the_call",),
    ),
    # -- what an answer is ---------------------------------------------------------------------
    broken(
        "a text and a one are yes",
        "core/suspend/resume.py",
        '_need(isinstance(value, bool), value, "true or false", path)',
        '_need(value in (True, False, "true", 1), value, "true or false", path)',
        "pump/test_answers.py::test_a_bad_answer_changes_nothing",
    ),
    broken(
        "the last of two keys counts",
        "ports/encoding.py",
        "    if len(found) < len(pairs):",
        "    if False:",
        "pump/test_answers.py::test_a_doubled_key_is_refused_before_anything_reads_it",
    ),
    broken(
        "keys that nobody asked for are passed over",
        "core/suspend/resume.py",
        "    for key in data:\n        if key not in properties:",
        "    data = {key: value for key, value in data.items() if key in properties}\n"
        "    for key in data:\n        if key not in properties:",
        "pump/test_reports.py::test_nobody_approves_by_a_name_in_the_body",
    ),
    broken(
        "the answer says what kind of card it is",
        "pump/phases/suspend_resume.py",
        "    reason = read_reason_code(row.reason_code)\n    schema:",
        "    reason = read_reason_code(row.reason_code)\n"
        '    if isinstance(resume.data, dict) and "approved" in resume.data:\n'
        "        reason = ReasonCode.APPROVAL\n    schema:",
        "pump/test_answers.py::test_arguments_cannot_play_the_answer",
    ),
    broken(
        "an attempt on a card that never was leaves no trace",
        "pump/phases/suspend_resume.py",
        'await _reject(ports, stored, resume.principal, suspend_id=None, why="unknown_card")',
        "pass",
        "pump/test_answers.py::test_a_card_that_was_never_issued_is_refused_and_audited",
    ),
    broken(
        "any card will do",
        "pump/phases/suspend_resume.py",
        "    if row is None:\n        await _reject",
        "    row = row or await ports.store.suspension(resume.suspend_id)\n"
        "    if row is None:\n        await _reject",
        "pump/test_gates.py::test_cards_of_one_run_are_not_those_of_another",
    ),
    broken(
        "a reason stands in the history",
        "pump/phases/suspend_resume.py",
        "reason_digest=digest_of(reason) if reason else None",
        "reason_digest=reason or None",
        "pump/test_answers.py::test_the_reason_is_a_payload_and_its_digest_the_history",
    ),
    broken(
        "what was left here counts, whatever came since",
        "pump/segment.py",
        "                rev=state.left_at,\n",
        "                rev=None,\n",
        "pump/test_left_runs.py::test_a_run_that_somebody_touched_is_read",
        "pump/test_faults.py::test_erased_payloads_leave_the_history",
    ),
    broken(
        "who is refused on the ground of memory is told nothing",
        "pump/phases/suspend_resume.py",
        "    except (StateUnreadable, AnswerRefused, Conflict, LookAgain, RunLost):\n        return None",
        "    except (StateUnreadable, Conflict, LookAgain, RunLost):\n        return None",
        "pump/test_left_runs.py::test_who_is_refused_is_told_by_who_has_read_the_run",
    ),
    broken(
        "only what is in memory can be answered",
        "runtime/runtime.py",
        "        accepted = await self._in_time(wanted.suspend_id, answer(wanted, self._ports))",
        "        if wanted.run_id not in self._driving.live:\n"
        '            raise UnknownId("run", str(wanted.run_id))\n'
        "        accepted = await self._in_time(wanted.suspend_id, answer(wanted, self._ports))",
        "pump/test_gates.py::test_cards_keep_their_ids_over_a_restart",
    ),
    # -- who may answer ------------------------------------------------------------------------
    broken(
        "any role answers",
        "pump/phases/refusals.py",
        "    if not roles or roles & principal.roles or",
        "    if True or",
        "pump/test_answers.py::test_roles_decide_who_may_answer",
    ),
    broken(
        "the requester approves their own",
        "pump/phases/refusals.py",
        '    if facts["requesterExcluded"] and is_requester:',
        "    if False:",
        "pump/test_answers.py::test_roles_decide_who_may_answer",
    ),
    broken(
        "programs answer",
        "pump/phases/refusals.py",
        '    if principal.kind != "person":',
        "    if False:",
        "pump/test_answers.py::test_roles_decide_who_may_answer",
    ),
    broken(
        "the requester is told to be the approver",
        "pump/effects.py",
        "        approver = decided_by(state, state.suspensions[leaf.approval])",
        "        approver = state.requester",
        "pump/test_reports.py::test_who_approved_is_told_to_the_tool",
    ),
    # -- one winner ----------------------------------------------------------------------------
    Break(
        name="every answer counts",
        edits=_EVERY_ANSWER_COUNTS,
        tests=(
            "pump/test_races.py::test_a_hundred_answers_have_one_winner",
            "pump/test_reports.py::test_the_same_answer_again_after_a_tool_that_returned_none",
            "server/test_races.py::test_a_hundred_answers_from_two_processes_have_one_winner",
        ),
    ),
    broken(
        "a verdict that was overtaken is acted on",
        "pump/segment.py",
        "        if seen is not None and seen != self.state.answers:",
        "        if False:",
        "pump/test_races.py::test_a_verdict_that_was_overtaken_is_made_again",
    ),
    # -- time ----------------------------------------------------------------------------------
    broken(
        "an expired card is answered",
        "store/sqlite_units.py",
        "if decide.refuse_expired and expires_at is not None and expires_at <= self._now:",
        "if False:",
        "pump/test_answers.py::test_a_late_answer_is_refused_and_nothing_runs",
        "pump/test_races.py::test_expiry_and_an_answer_at_the_same_moment",
        "runtime/test_sweep.py::test_expiry_and_answers_race",
    ),
    broken(
        "expiry believes the clock",
        "store/sqlite_units.py",
        "_Cards(cursor, unit, max(at, clock))",
        "_Cards(cursor, unit, at)",
        "pump/test_answers.py::test_a_clock_set_back_revives_nothing",
    ),
    broken(
        "a timeout is a person's no",
        "pump/phases/halt.py",
        '            "expired",\n            step_id=row.step_id,',
        '            "denied",\n            step_id=row.step_id,',
        "pump/test_answers.py::test_the_sweep_aborts_as_the_system",
    ),
    broken(
        "a parked run keeps its place in memory",
        "runtime/driving.py",
        "                del self.live[run_id]",
        "                pass",
        "runtime/test_running.py::test_a_parked_run_holds_nothing",
    ),
    # -- workers -------------------------------------------------------------------------------
    broken(
        "a run is taken up as it was, not as it is",
        "runtime/driving.py",
        "expect = Expect(epoch=run.epoch, rev=run.rev, ",
        "expect = Expect(epoch=run.epoch, ",
        "postgres/workers/test_workers.py::test_what_is_let_go_while_it_is_taken_is_loaded_again",
    ),
    broken(
        "who wrote last has the run",
        "store/postgres_apply.py",
        "WHEN p_raise > 0 THEN p_writer ELSE writer END",
        "ELSE p_writer END",
        "effects/store/test_conformance.py::test_conforms[postgres-a_run_is_handed_over_or_refused]",
    ),
    broken(
        "what may be stored is sent again",
        "pump/segment.py",
        "            if not fault.in_doubt:\n",
        "            if True:\n",
        "runtime/test_running.py::test_what_may_be_stored_is_not_stored_twice",
    ),
    broken(
        "idle is whatever waits long",
        "pump/phases/halt.py",
        "    if any(True for _ in state.open_suspensions()):\n        return False\n",
        "",
        "runtime/test_sweep.py::test_a_woken_run_is_not_idle",
    ),
    broken(
        "an idle end has no reason",
        "pump/run_evidence.py",
        '        case "idle":\n            return f"The run',
        '        case "idle":\n            return f"Something of the run',
        "runtime/test_sweep.py::test_an_idle_park_ends_with_its_reason",
    ),
    # -- identity and binding ------------------------------------------------------------------
    broken(
        "a wait has the id of the one before it",
        "core/suspend/identity.py",
        '                "generation": generation,',
        '                "generation": 1,',
        "pump/test_gates.py::test_an_answer_to_an_earlier_wait_never_answers_a_later_one",
    ),
    broken(
        "cards of a run share an id",
        "core/suspend/identity.py",
        '                "step": step_id,\n                "contract": contract_hash,',
        "",
        "pump/test_gates.py::test_cards_keep_their_ids_over_a_restart",
        "pump/test_gates.py::test_parallel_gates_are_answered_once_each_in_any_order",
    ),
    broken(
        "what is approved is not what is shown",
        "core/suspend/identity.py",
        '            "input": resolved_input,\n            "policyClass"',
        '            "input": {},\n            "policyClass"',
        "pump/test_reports.py::test_a_changed_byte_is_another_call",
    ),
    broken(
        "drift is not looked for",
        "pump/card_drift.py",
        '    if contract_now(given, facts["versions"]) == row.contract_hash:',
        "    if True:",
        "pump/test_gates.py::test_a_stale_card_names_the_one_that_took_its_place",
    ),
    broken(
        "an approval outlives its contract",
        "core/compiler/leaves/tool_call.py",
        "    if approval.contract_hash != contract:",
        "    if False:",
        "pump/test_drift.py::test_an_approval_of_roles_that_approve_no_more_runs_nothing",
    ),
    Break(
        name="any yes counts",
        edits=_ANY_YES_COUNTS,
        tests=(
            "pump/test_gates.py::test_the_same_call_twice_is_asked_twice",
            "pump/test_gates.py::test_two_gates_in_sequence",
        ),
    ),
    # -- several gates -------------------------------------------------------------------------
    broken(
        "of gates that ask together only the last is drawn",
        "pump/phases/dispatch.py",
        "    asked = segment.asked.popleft()\n",
        "    asked = segment.asked.pop()\n    segment.asked.clear()\n",
        "pump/test_gates.py::test_parallel_gates_are_answered_once_each_in_any_order",
    ),
    broken(
        "what was done before a gate is forgotten",
        "pump/segment.py",
        "        self.state.put_step(row)\n        self.facts.step(row)\n        output = ",
        "        self.state.put_step(row)\n        output = ",
        "pump/test_gates.py::test_a_review_of_three_rounds_writes_three_times",
        "pump/test_reports.py::test_a_continuation_that_fails_keeps_what_was_done",
    ),
    broken(
        "results are forgotten",
        "pump/segment.py",
        '{"value": outcome.value, "at"',
        '{"value": None, "at"',
        "pump/test_reports.py::test_the_real_result_stays_under_the_real_step",
    ),
    broken(
        "every denial ends the run",
        "pump/phases/suspend_resume.py",
        '    return tool is None or tool.on_deny == "abort"',
        "    return True",
        "pump/test_gates.py::test_mixed_answers_have_one_continuation",
    ),
    # -- denials -------------------------------------------------------------------------------
    broken(
        "a no is stored as a yes",
        "pump/phases/suspend_resume.py",
        '        return "approved" if given.approved else "denied"',
        '        return "approved"',
        "pump/test_answers.py::test_deny_runs_nothing",
    ),
    broken(
        "a no to a card that drifted is not taken",
        "pump/phases/suspend_resume.py",
        "    drift = drift_of(segment, row) if given.approved else None",
        "    drift = drift_of(segment, row)",
        "pump/test_denials.py::test_deny_after_a_restart_under_another_policy_runs_nothing",
    ),
    broken(
        "a denied call is asked again",
        "core/compiler/leaves/tool_call.py",
        "    if given.approval is None and was_denied(given):",
        "    if False:",
        "pump/test_denials.py::test_a_denied_call_is_not_asked_again",
    ),
    broken(
        "a denied effect is forgotten",
        "pump/call.py",
        '            effects.update(facts.get("effects", ()))',
        "            effects.update(())",
        "pump/test_denials.py::test_the_same_effect_by_another_tool_is_promoted_and_asked",
    ),
    # -- effects -------------------------------------------------------------------------------
    broken(
        "an effect of unknown outcome is entered again",
        "pump/effects.py",
        "if may_again and given.tool.idempotent else None",
        "if may_again else None",
        "pump/test_effects.py::test_a_reconcile_hook_is_asked_before_anything_is_repeated",
        "simulation/test_crash.py::test_one_effect_whatever_happens",
        "simulation/test_restarts.py::test_a_server_that_dies_loses_and_doubles_nothing",
    ),
    broken(
        "an unknown outcome is a failure",
        "pump/effects.py",
        "outcome = classify_step_outcome(returned, effectful=True)",
        "outcome = classify_step_outcome(returned, effectful=False)",
        "pump/test_effects.py::test_an_effect_that_goes_wrong_is_unknown",
        "pump/test_recovery.py::test_a_timed_out_write_is_unknown",
    ),
    broken(
        "a full disk is no reason to stop",
        "pump/segment.py",
        "            self.facts, self.effect_at_stake = facts, at_stake or self.effect_at_stake\n"
        "            raise\n",
        "            committed = Committed(\n"
        "                first_seq=0, last_seq=0, rev=0, epoch=self.state.epoch, answers=self.state.answers\n"
        "            )\n",
        "runtime/test_running.py::test_a_decision_that_cannot_be_stored_is_no_decision",
    ),
    # -- what is shown and told ----------------------------------------------------------------
    broken(
        "a written text may claim anything",
        "core/observers/claim_guard.py",
        "    return tuple(guard.notices)",
        "    return ()",
        "core/observers/test_claim_guard.py::test_claims_that_the_evidence_contradicts_are_corrected",
        "pump/test_closing_writer.py::test_prose_is_told_in_parts_and_guarded",
    ),
    broken(
        "the plan writes the headline",
        "core/compiler/leaves/tool_call.py",
        "        headline=tool.title or tool.name,\n        message=message or _about_inputs(given),\n"
        "        evidence=evidence.to_json(),",
        "        headline=given.node.title or tool.title or tool.name,\n        message=message,\n"
        "        evidence=evidence.to_json(),",
        "pump/test_reports.py::test_a_card_shows_what_the_record_says_not_what_a_model_says",
    ),
    broken(
        "hidden characters are drawn",
        "cli/visible.py",
        "_named(code) if _is_hidden(code) else chr(code)",
        "chr(code)",
        "cli/test_drawing.py::test_nothing_hidden_reaches_the_terminal",
    ),
    broken(
        "secrets are masked at the top alone",
        "core/frames/masking.py",
        "else _walked(item, text)\n            for key",
        "else item\n            for key",
        "runtime/test_snapshot.py::test_secrets_are_masked_on_cards_but_bound_by_hash",
    ),
    broken(
        "arguments stand in the history",
        "pump/suspend_funnel.py",
        "        tool=request.tool or None,\n        contractHash=row.contract_hash,\n        expiresAt",
        "        tool=request.tool or None,\n        args=dict(request.args),\n"
        "        contractHash=row.contract_hash,\n        expiresAt",
        "runtime/test_snapshot.py::test_history_holds_no_record_data",
    ),
    broken(
        "what did not happen is not said",
        "core/observers/closing.py",
        "for step in evidence.steps if step.status is not StepStatus.SUCCEEDED]",
        "for step in evidence.steps if False]",
        "pump/test_closing.py::test_every_step_that_did_not_succeed_is_named",
        "pump/test_reports.py::test_nothing_is_claimed_that_was_not_done",
    ),
    broken(
        "a late joiner misses an event",
        "runtime/runtime.py",
        "self._ports.store.events(run_id, after=after, limit=_EVENTS_PAGE)",
        "self._ports.store.events(run_id, after=after + (after > 0), limit=_EVENTS_PAGE)",
        "runtime/test_watch.py::test_a_late_joiner_misses_nothing",
    ),
    broken(
        "calls are not opened in the log",
        "pump/effects.py",
        "    segment.event(\n        EventKind.STEP_STARTED,\n        moves,",
        "    segment.event(\n        EventKind.TEXT_DELTA,\n        moves,",
        "runtime/test_watch.py::test_every_settled_step_was_opened_in_the_log",
    ),
    broken(
        "a call that was cut off has no output",
        "pump/phases/close.py",
        "        if not told:\n",
        "        if False:\n",
        "runtime/test_watch.py::test_every_call_has_one_output_however_it_ends",
    ),
    broken(
        "a continuation opens old calls again",
        "core/frames/ag_ui.py",
        "begun + self._said(chunks) if event.seq > self._after else begun",
        "begun + self._said(chunks)",
        "core/frames/test_ag_ui.py::test_the_continuing_run_sends_the_old_calls_result_and_no_second_opener",
    ),
    broken(
        "a chain made anew is held against its last seal alone",
        "core/audit/seals.py",
        "self.marks.setdefault(run_id, []).append(Mark(number, seq, head))",
        "self.marks[run_id] = [Mark(number, seq, head)]",
        "core/audit/test_seals.py::test_every_head_is_kept",
    ),
    broken(
        "a checkpoint counts whoever signed it",
        "cli/audit_seals.py",
        "        if signed_with != trusted:",
        "        if False:",
        "cli/test_seals.py::test_only_a_checkpoint_of_the_right_key_counts",
    ),
)
