"""THE ONE JOIN: the leaf of a tool call, where the plan meets the tool policy.

Law 1: per step, in this order: role, closed arguments, policy, approval, execution.
Law 2: ``answer.approved`` (exactly ``approved is True``), read here, is the sole authority on whether
a gated tool runs; and only for the contract hash that was shown.
Law 3: the verdict is made again on every pass. An approval satisfies it once, for its own contract.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from condor.core.compiler.leaves.arguments import NOT_RUN, as_field, faulty_arguments, unknown_arguments
from condor.core.compiler.leaves.step import Execute, LeafStep, NeedEvidence, Settle, Suspend
from condor.core.ids import Digest, Json, SuspendId, digest_of
from condor.core.outcome import InputField, NeedInput, StepOutcome, failed, skipped
from condor.core.policy.classes import HitlTier, PolicyClass
from condor.core.policy.descriptor import ArgSpec, ToolDescriptor, is_missing, who_may_answer
from condor.core.policy.resolve import policy_call
from condor.core.policy.verdict import PolicyCall, PolicyContext, PolicyVerdict, evaluate_tool_policy
from condor.core.recovery.substitution import CallFacts
from condor.core.suspend.clarification_schema import clarification_resume_schema
from condor.core.suspend.edit import CallEdit, edit_form
from condor.core.suspend.evidence import NO_EVIDENCE, CardEvidence
from condor.core.suspend.identity import tool_contract
from condor.core.suspend.payload import SuspendRequest
from condor.core.suspend.reason import Origin, ReasonCode
from condor.core.suspend.resume import Answer, resume_schema
from condor.core.values import dataclass

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping

    from condor.core.graph.compiled import Node
    from condor.core.run.principal import Principal

#: Promotions that say that a call takes something away, or may.
_TAKES_AWAY = frozenset({"destructive-op", "destructive-content", "op-unknown"})
_SEVERITY_RANK = {"info": 0, "warning": 1, "critical": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenApproval:
    """An unconsumed answer to this step's approval card."""

    suspend_id: SuspendId
    contract_hash: str
    answer: Answer
    #: The alerts that the card showed.
    alerts: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallInput:
    """Everything the leaf decides on; all of it is server state."""

    node: Node
    tool: ToolDescriptor
    #: Effect class by the static registry.
    registered: object = None
    #: References resolved, answers merged in.
    args: Mapping[str, Json]
    #: Answers to the tool's own ``NeedInput``.
    answers: Mapping[str, Json] = field(default_factory=dict)
    #: Arguments that the plan gives by a reference which found nothing: asked for, never dropped.
    #: Each with where the plan looked for it.
    unresolved: Mapping[str, str] = field(default_factory=dict)
    requester: Principal
    #: As dispatched; server state, never an argument.
    autonomy: str
    #: ``verb target`` of effects a human has denied in this run.
    denied_effects: frozenset[str] = frozenset()
    #: The plan was made after untrusted text entered the run.
    untrusted_plan: bool = False
    #: Arguments that a model made anew, because the plan's could not be used.
    made_anew: tuple[str, ...] = ()
    today: datetime.date
    #: Digests of calls (``call_digest``) that a human has denied in this run.
    denied_calls: frozenset[Digest] = frozenset()
    #: What the record looks like now; None: not read yet.
    evidence: CardEvidence | None = None
    approval: GivenApproval | None = None
    #: Names of what a person filled in, where that was the last thing that the step asked.
    answered: frozenset[str] = frozenset()
    #: Names of every argument that a person gave this step, on a question or by an edit of a card.
    heard: frozenset[str] = frozenset()
    #: Edits that people made of this call, oldest first; they are in ``args`` already.
    edits: tuple[CallEdit, ...] = ()
    #: A card has asked whether this step may make a call of this tool: from then on a person decides.
    was_gated: bool = False
    #: A card of this step that another has superseded showed it as high: it does not fall.
    was_high: bool = False


def _context(given: ToolCallInput) -> PolicyContext:
    return PolicyContext(
        autonomy=given.autonomy, denied_effects=given.denied_effects, untrusted_plan=given.untrusted_plan
    )


def _judged(given: ToolCallInput) -> tuple[PolicyCall, PolicyVerdict]:
    """The call and what the policy says of it; an edit or a drift makes no call of a step less risky."""
    call = policy_call(given.tool, given.args, registered=given.registered)
    if given.was_high:
        call = replace(call, hitl_tier=HitlTier.HIGH)
    return call, evaluate_tool_policy(call, _context(given))


def call_digest(tool: str, args: Mapping[str, Json]) -> Digest:
    """One call, whoever makes it and however often."""
    return digest_of([tool, args])


def tool_call_leaf(given: ToolCallInput) -> LeafStep:
    """The next move of a tool call."""
    refusal = _role_refusal(given)
    if refusal is not None:
        return Settle(outcome=refusal)
    unknown = unknown_arguments(given.tool, given.args)
    if unknown:
        return Settle(
            outcome=failed("unknown_argument", f"{given.tool.name} has no argument {', '.join(unknown)}")
        )
    faults = faulty_arguments(given.tool, given.args, given.today, tuple(given.unresolved))
    if faults:
        return ask_for_arguments(given, faults)
    call, verdict = _judged(given)
    if verdict.allowed and not given.was_gated:
        # Nobody approves a read, so it has no contract.
        is_read = verdict.policy_class is PolicyClass.READ
        contract = Digest("") if is_read else _contract(given, call, verdict, {})
        return _execute(given, call, verdict, contract, versions={}, approval=None)
    return _gated(given, call, verdict)


def _role_refusal(given: ToolCallInput) -> StepOutcome | None:
    roles = given.tool.roles
    if not roles or roles & given.requester.roles:
        return None
    return skipped("role", f"needs {_one_of(roles)}")


def _one_of(roles: frozenset[str]) -> str:
    return " or ".join(f"{'an' if role[:1] in 'aeiou' else 'a'} {role}" for role in sorted(roles))


def _gated(given: ToolCallInput, call: PolicyCall, verdict: PolicyVerdict) -> LeafStep:
    """The policy says, or has said of this step: a person decides."""
    # Where a person has said yes to this very step, the no to its twin is not about it.
    if given.approval is None and was_denied(given):
        return Settle(outcome=skipped("denied_before", "a person has declined exactly this call in this run"))
    if given.evidence is None and given.tool.preview is not None:
        return NeedEvidence(args=given.args)
    evidence = given.evidence or NO_EVIDENCE
    if evidence.requires:
        names = tuple(name for name in evidence.requires if isinstance(name, str))
        asked, unsaid = (*names, *given.unresolved), frozenset(names) - given.heard
        faults = faulty_arguments(given.tool, given.args, given.today, asked, unsaid)
        if faults:
            return ask_for_arguments(given, faults, evidence=evidence)
        beside = [item for item in evidence.requires if isinstance(item, InputField)]
        unanswered = [item for item in beside if is_missing(given.answers.get(item.name))]
        if unanswered:
            said = "; ".join(f"{item.label or item.name} is missing" for item in unanswered)
            return _clarification(given, unanswered, said, evidence)
    contract, approval = _contract(given, call, verdict, evidence.versions), given.approval
    if approval is None or not approval.answer.approved:
        return Suspend(request=_approval_request(given, call, verdict, contract, evidence))
    if approval.contract_hash != contract:
        why = "what was approved has changed since: look at the record as it is now and decide again"
    elif alerts_worsened(approval.alerts, evidence.alerts):
        why = "an alert has appeared or become more severe since the approval: decide again"
    else:
        return _execute(
            given, call, verdict, contract, versions=evidence.versions, approval=approval.suspend_id
        )
    return Suspend(request=_approval_request(given, call, verdict, contract, evidence, message=NOT_RUN + why))


def alerts_worsened(shown: tuple[Mapping[str, Json], ...], now: tuple[Mapping[str, Json], ...]) -> bool:
    """Whether an alert has appeared or become more severe since the card was shown."""
    before = {alert.get("id"): _SEVERITY_RANK.get(str(alert.get("severity")), 2) for alert in shown}
    return any(
        alert.get("id") not in before
        or _SEVERITY_RANK.get(str(alert.get("severity")), 2) > before[alert.get("id")]
        for alert in now
    )


def resolved_input(given: ToolCallInput) -> Mapping[str, Json]:
    """Arguments, and what a person answered beside them: what the contract and the key are over."""
    return {**given.args, "$answers": given.answers} if given.answers else given.args


def _contract(
    given: ToolCallInput, call: PolicyCall, verdict: PolicyVerdict, versions: Mapping[str, str]
) -> Digest:
    return tool_contract(
        tool=given.tool.name,
        descriptor=given.tool.digest,
        op=call.op,
        resolved_input=resolved_input(given),
        policy_class=call.policy_class,
        effective_tier=verdict.effective_tier,
        versions=versions,
    )


def _execute(
    given: ToolCallInput,
    call: PolicyCall,
    verdict: PolicyVerdict,
    contract: Digest,
    *,
    versions: Mapping[str, str],
    approval: SuspendId | None,
) -> Execute:
    return Execute(
        args=given.args,
        op=call.op if isinstance(call.op, str) else None,
        verdict=verdict,
        contract_hash=contract,
        versions=versions,
        approval=approval,
    )


def _approval_request(
    given: ToolCallInput,
    call: PolicyCall,
    verdict: PolicyVerdict,
    contract: Digest,
    evidence: CardEvidence,
    message: str = "",
) -> SuspendRequest:
    tool = given.tool
    edit_schema, edit_ui = edit_form_of(given)
    return SuspendRequest(
        step_id=given.node.step_id,
        reason=ReasonCode.APPROVAL,
        origin=Origin.TOOL_POLICY,
        contract_hash=contract,
        tool=tool.name,
        op=call.op if isinstance(call.op, str) else None,
        args=resolved_input(given),
        verdict=verdict,
        hitl_tier=tool.hitl_tier,
        resume_schema=resume_schema(ReasonCode.APPROVAL),
        headline=tool.title or tool.name,
        message=message or _about_inputs(given),
        evidence=evidence.to_json(),
        versions=evidence.versions,
        evidence_digest=evidence.digest,
        answer_roles=who_may_answer(tool),
        requester_excluded=tool.requester_excluded,
        call_digest=call_digest(tool.name, resolved_input(given)),
        effects=call.effects,
        descriptor_digest=tool.digest,
        edit_schema=edit_schema,
        edit_ui=edit_ui,
        edits=given.edits,
    )


def _about_inputs(given: ToolCallInput) -> str:
    names = [given.tool.args_by_name[name].label or name for name in given.made_anew]
    return f"a model made {' and '.join(names)} anew; the plan's could not be used" if names else ""


def edit_form_of(given: ToolCallInput) -> tuple[dict[str, object], dict[str, object]]:
    """JSON Schema and uiSchema of an edit of this call; empty where its tool allows none."""
    specs = [spec for spec in given.tool.args if spec.name in given.tool.editable]
    required = frozenset(spec.name for spec in specs if spec.required)
    return edit_form([as_field(spec) for spec in specs], required, given.today)


def was_denied(given: ToolCallInput) -> bool:
    """Whether a person has declined exactly this call in this run."""
    return bool(given.denied_calls) and (
        call_digest(given.tool.name, resolved_input(given)) in given.denied_calls
    )


def call_facts(given: ToolCallInput, *, loses: bool = False) -> CallFacts:
    """This call as recovery sees it: what the policy says of it, in words that bind nobody.

    Args:
        loses: an argument of the call that it would stand in for has no place here.
    """
    tool = given.tool
    call = policy_call(tool, given.args, registered=given.registered)
    verdict = evaluate_tool_policy(call, _context(given))
    return CallFacts(
        tool=tool.name,
        alias_groups=tool.alias_groups,
        fidelity=tool.alias_fidelity,
        policy_class=str(call.policy_class),
        declared_tier=tool.hitl_tier,
        effective_tier=verdict.effective_tier,
        destructive=not _TAKES_AWAY.isdisjoint(verdict.promotions),
        effectful=verdict.policy_class is not PolicyClass.READ,
        permitted=_role_refusal(given) is None,
        args=given.args,
        complete=not (unknown_arguments(tool, given.args) or faulty_arguments(tool, given.args, given.today)),
        loses=loses,
    )


def contract_now(given: ToolCallInput, versions: Mapping[str, str]) -> Digest:
    """The contract of this call by today's descriptor and policy, for the record versions of a card."""
    return _contract(given, *_judged(given), versions)


def ask_for_arguments(
    given: ToolCallInput,
    faults: tuple[tuple[ArgSpec, str], ...],
    *,
    evidence: CardEvidence | None = None,
) -> Suspend:
    """A clarification for missing or invalid arguments."""
    fields = [as_field(spec) for spec, _ in faults]
    said = "; ".join(
        _what_is_wrong(item, why, given.unresolved) for item, (_, why) in zip(fields, faults, strict=True)
    )
    return _clarification(given, fields, said, evidence)


def ask_for_another(given: ToolCallInput, why: str) -> Suspend | None:
    """Ask anew for what a person looked up and the record does not take; None: they looked up nothing."""
    looked_up = [spec for spec in given.tool.args if spec.name in given.answered and spec.type == "reference"]
    return ask_for_arguments(given, tuple((spec, why) for spec in looked_up)) if looked_up else None


def _what_is_wrong(item: InputField, why: str, unresolved: Mapping[str, str]) -> str:
    label = item.label or item.name
    if why != "missing":
        return f"{label}: {why}"
    if item.name in unresolved:
        return f"{label} is missing: the plan takes it from {unresolved[item.name]}, and nothing is there"
    return f"{label} is missing"


def ask_for_input(given: ToolCallInput, need: NeedInput) -> Suspend:
    """A clarification that the tool itself asked for."""
    return _clarification(given, list(need.fields), need.message, None)


def _clarification(
    given: ToolCallInput, fields: list[InputField], message: str, evidence: CardEvidence | None
) -> Suspend:
    tool = given.tool
    schema, ui = clarification_resume_schema(fields, given.today)
    call, verdict = _judged(given)
    return Suspend(
        request=SuspendRequest(
            step_id=given.node.step_id,
            reason=ReasonCode.CLARIFICATION,
            origin=Origin.TOOL_INPUT,
            contract_hash=_contract(given, call, verdict, {}),
            tool=tool.name,
            op=call.op if isinstance(call.op, str) else None,
            args=given.args,
            verdict=verdict,
            hitl_tier=tool.hitl_tier,
            resume_schema=schema,
            ui_schema=ui,
            headline=tool.title or tool.name,
            message=NOT_RUN + message if given.approval and given.approval.answer.approved else message,
            evidence=evidence.to_json() if evidence is not None else {},
            answer_roles=tool.roles,
            requester_may_answer=True,
        )
    )


def reconcile_request(given: ToolCallInput, contract_hash: Digest, message: str) -> Suspend:
    """Ask a person whether an effect of unknown outcome happened."""
    tool = given.tool
    call, verdict = _judged(given)
    return Suspend(
        request=SuspendRequest(
            step_id=given.node.step_id,
            reason=ReasonCode.RECONCILE,
            origin=Origin.RECONCILE,
            contract_hash=contract_hash,
            tool=tool.name,
            op=call.op if isinstance(call.op, str) else None,
            args=given.args,
            verdict=verdict,
            hitl_tier=tool.hitl_tier,
            resume_schema=resume_schema(ReasonCode.RECONCILE),
            headline=f"Did it happen? {tool.title or tool.name}",
            message=message,
            answer_roles=who_may_answer(tool),
            requester_may_answer=not tool.requester_excluded,
            expires=False,
        )
    )
