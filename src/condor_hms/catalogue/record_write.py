"""A record write as a tool: it composes what would be written, and one place shows, writes and tells it.

Rule 1: a tool composes from the record and the arguments, and writes nothing itself; the card and the
transaction are of the same composition.
Rule 2: a call looks for its own earlier try first. It then composes from the version before that try, so that
a repetition tells what the first one told.
Rule 3: a resource is changed on the version that a person saw; if it moved since, a person looks again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from condor import (
    CardEvidence,
    Effect,
    HitlTier,
    InputField,
    NeedInput,
    PolicyClass,
    Reconciled,
    ToolContext,
    ToolDescriptor,
    ToolError,
    ToolResult,
    tool,
)
from condor.core.policy import is_destructive_op
from condor_hms.catalogue.evidence import PATIENT_STATE, alert_rows
from condor_hms.catalogue.hospital import Hospital, reference_of, require, require_patient, version_of
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.plausible import refuse_after_death
from condor_hms.catalogue.signing import signature, signature_rows
from condor_hms.catalogue.writing import (
    Activity,
    Edit,
    Written,
    find_own,
    moved,
    own_version,
    state_change,
    versions_of,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from condor import ArgSpec
    from condor.tools.decorator import ToolOptions
    from condor_hms.fhir.port import Resource

__all__ = ["Call", "Composed", "Composer", "call_of", "composed_card", "record_write", "without"]


#: Stands in ``Composed.done`` for the patient.
_WHO = "{who}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """What a call would write, how its card shows it, and how it is told when it is done."""

    #: Who it is about, as ``identity`` gives it; empty where it is about nobody.
    subject: Mapping[str, Any]
    #: The card's line: ``Stop Celecoxib 200 mg oral, once daily``.
    summary: str
    #: What is told when it is done: ``Allergy resolved: wheat``. The patient is at ``{who}``, or after it.
    done: str
    #: New resources, without ids; the first is the one that is told of.
    new: Sequence[Resource] = ()
    #: Changed resources; without a new one, the first is told of.
    edits: Sequence[Edit] = ()
    #: Why, for the Provenance.
    reason: str = ""
    #: Whether it takes something out of use that should never have been.
    removes: bool = False
    #: Signed by the approver; a meaning of ``signing.MEANINGS``, or "" for author or verification.
    signed: str | None = None
    before: Any = None
    after: Any = None
    alerts: Sequence[Mapping[str, Any]] = ()
    context: Sequence[Mapping[str, Any]] = ()
    #: Arguments that the state of the record makes necessary.
    requires: Sequence[str | InputField] = ()
    #: It is on record already: told, and nothing is written.
    known: str = ""
    #: From which state to which, where FHIR's words for it mean something else to a reader.
    state: str = ""
    #: Told after the reference.
    notes: Sequence[str] = ()
    #: Further facts of the tool's value.
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Call:
    """One call while it is composed."""

    hospital: Hospital
    ctx: ToolContext
    args: Mapping[str, Any]
    #: The version that an earlier try of this call wrote, once ``target`` has found it.
    own: Resource | None = None

    def given(self, name: str) -> str:
        """A text argument, stripped; empty where it was not given."""
        return str(self.args.get(name) or "").strip()

    async def patient(self, name: str = "patient") -> dict[str, Any]:
        """Who an argument names; see ``identity``."""
        return identity(await require_patient(self.hospital, self.args.get(name)), self.hospital.today)

    async def subject_of(self, resource: Resource, element: str = "subject") -> dict[str, Any]:
        """Who a resource is about."""
        reference = (resource.get(element) or {}).get("reference")
        return identity(await require_patient(self.hospital, reference), self.hospital.today)

    async def target(self, reference: object, resource_type: str) -> Resource:
        """The resource to change, as it was before this call.

        Raises:
            RecordMoved: it is not what the card showed.
        """
        now = await require(self.hospital, reference, resource_type)
        name = reference_of(now)
        seen = self.ctx.record_versions.get(name)
        if not self.ctx.idempotency_key or seen == version_of(now):
            return now
        versions = await versions_of(self.hospital, name)
        own = own_version(versions, self.ctx.idempotency_key)
        if own is not None:
            self.own = self.own or own
            return versions[min(versions.index(own) + 1, len(versions) - 1)]
        if seen is not None:
            raise moved(_version(versions, seen, resource_type), now)
        return now


def _version(versions: Sequence[Resource], seen: str, resource_type: str) -> Resource:
    """The version a person saw; where it is not kept, one that says only its version."""
    unknown: Resource = {"resourceType": resource_type, "meta": {"versionId": seen}}
    return next((row for row in versions if version_of(row) == seen), unknown)


Composer: TypeAlias = "Callable[[Call], Awaitable[Composed | NeedInput]]"


def call_of(hospital: Hospital, ctx: ToolContext, args: Mapping[str, Any]) -> Call:
    """A call, and its arguments without those that nobody gave."""
    given = {name: value for name, value in args.items() if value is not None}
    return Call(hospital=hospital, ctx=ctx, args=given)


def composed_card(composed: Composed | NeedInput) -> CardEvidence:
    """What the card of a composed call shows."""
    if isinstance(composed, NeedInput):
        return CardEvidence(summary=composed.message)
    context = composed.context
    if composed.known:
        context = ({"label": "Duplicate", "text": composed.known}, *context)
    alerts = [*composed.alerts]
    if not any(row["id"] == PATIENT_STATE for row in alerts):
        alerts += alert_rows((), composed.subject)
    return CardEvidence(
        subject=composed.subject,
        summary=composed.summary,
        before=composed.before,
        after=composed.after,
        alerts=tuple(alerts),
        context=tuple(context),
        versions={reference_of(edit.before): version_of(edit.before) for edit in composed.edits},
        requires=tuple(composed.requires),
    )


def without(resource: Resource, *names: str, **changes: Any) -> Resource:
    """A copy without its version, without the named elements, and with the changes."""
    kept = {name: part for name, part in resource.items() if name not in (*names, *changes)}
    return {**kept, **changes}


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordWrite:
    """The three hooks of a tool that writes what is composed."""

    hospital: Hospital
    compose: Composer
    creates: str
    target: tuple[str, str] | None

    async def run(self, ctx: ToolContext, **given: Any) -> Any:
        """Compose and write, once for the call's key."""
        call = call_of(self.hospital, ctx, given)
        composed = await self.compose(call)
        if isinstance(composed, NeedInput):
            return composed
        if call.own is None:
            _check_living(composed)
        if composed.known and call.own is None:
            return ToolResult(outcome="skipped", value=composed.known)
        return _value(composed, await _written(call, composed, self.creates))

    async def show(self, ctx: ToolContext, **given: Any) -> CardEvidence:
        """Compose for the card."""
        composed = await self.compose(call_of(self.hospital, ctx, given))
        if isinstance(composed, Composed):
            _check_living(composed)
        if isinstance(composed, Composed) and composed.signed is not None:
            rows = signature_rows(ctx, composed.signed)
            composed = replace(composed, context=(*composed.context, *rows))
        return composed_card(composed)

    async def reconcile(self, ctx: ToolContext, **given: Any) -> Reconciled:
        """Whether an earlier try was written: its key is in the record or it is not."""
        call = call_of(self.hospital, ctx, given)
        try:
            own = await _earlier(call, self.creates, self.target)
            if own is None:
                return Reconciled(happened=False)
            composed = await self.compose(call)
        except ToolError as error:
            if error.may_retry:
                return Reconciled(happened=None)
            raise
        assert isinstance(composed, Composed), "INVARIANT: what was written was composed"
        return Reconciled(happened=True, value=_value(composed, Written.again(own)))


def record_write(
    hospital: Hospital,
    name: str,
    compose: Composer,
    *,
    title: str,
    noun: str,
    roles: Collection[str],
    args: Sequence[ArgSpec],
    tier: HitlTier | None = HitlTier.LOW,
    approver_roles: Collection[str] = (),
    editable: Collection[str] = (),
    creates: str = "",
    target: tuple[str, str] | None = None,
    ops: Collection[str] = ("create",),
    op_arg: str | None = None,
    verb: str = "",
    ends: Collection[str] = (),
    may_ask: Collection[str] = (),
    ui_card: bool = False,
    alias: tuple[str | None, Literal["equal", "degraded"] | None] = (None, None),
    alias_args: Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None] | None = None,
) -> ToolDescriptor:
    """A tool that writes what ``compose`` composes; its docstring is the tool's description.

    Args:
        creates: the type of its first new resource.
        editable: what may be edited on its card: how and when, never whom it is about or what.
        tier: None: it says only that it writes, as tools did before there were classes.
        target: the argument that names the resource to change, and that resource's type.
        verb: what it does to the target, where the op does not say it.
        ends: ops that take something out of what the patient is protected by; they ask as a removal does.
        may_ask: names of what it asks beside its arguments where the record makes it necessary.
        alias: the groups it can stand in, and how good it is there.
    """
    made = _RecordWrite(hospital=hospital, compose=compose, creates=creates, target=target)
    options: ToolOptions = {
        "title": title,
        "description": _sentence(compose),
        "ops": frozenset(ops),
        "op_arg": op_arg,
        "roles": roles,
        "approver_roles": approver_roles,
        "editable": editable,
        "alias_group": alias[0],
        "alias_fidelity": alias[1],
        "alias_args": alias_args,
        "idempotent": True,
        "ui_card": ui_card,
        "args": args,
        "metadata": {"mutating": True},
        "may_ask": may_ask,
        "noun": noun,
        "effect_of": None if target is None else _effects(target[0], verb, ops, op_arg, ends),
        "report": _report,
        "preview": made.show,
        "reconcile": made.reconcile,
    }
    if tier is None:
        return tool(name, **options)(made.run)
    return tool(name, policy_class=PolicyClass.MUTATE, hitl_tier=tier, **options)(made.run)


def _check_living(composed: Composed) -> None:
    refuse_after_death(composed.subject, composed.new, composed.edits)


def _effects(
    argument: str, verb: str, ops: Collection[str], op_arg: str | None, ends: Collection[str]
) -> Callable[[Mapping[str, Any]], tuple[Effect, ...]]:
    def effects(given: Mapping[str, Any]) -> tuple[Effect, ...]:
        op = str(given.get(op_arg)) if op_arg else next(iter(ops))
        destructive = is_destructive_op(op) or op in ends
        return (Effect(verb=verb or op, target=str(given.get(argument)), destructive=destructive),)

    return effects


def _sentence(compose: Composer) -> str:
    return " ".join((compose.__doc__ or "").split())


async def _written(call: Call, composed: Composed, creates: str) -> Written:
    if call.own is not None:
        if not creates or not composed.new:
            return Written.again(call.own)
        made = await find_own(call.hospital, composed.new[0]["resourceType"], call.ctx.idempotency_key)
        return Written.again(made or call.own)
    signed = None
    if composed.signed is not None:
        subject = composed.new[0] if composed.new else composed.edits[0].after
        signed = await signature(call.hospital, call.ctx, subject, composed.signed)
    activity: Activity = "DELETE" if composed.removes else "CREATE" if composed.new else "UPDATE"
    written = await write(
        call.hospital,
        call.ctx,
        new=composed.new,
        edits=composed.edits,
        activity=activity,
        reason=composed.reason,
        signed=signed,
    )
    return written[0]


async def _earlier(call: Call, creates: str, target: tuple[str, str] | None) -> Resource | None:
    """What an earlier try of this call wrote: its new resource, else its version of the target."""
    if creates:
        made = await find_own(call.hospital, creates, call.ctx.idempotency_key)
        if made is not None or target is None:
            return made
    assert target is not None, "INVARIANT: a record write creates something or has a target"
    now = await require(call.hospital, call.args.get(target[0]), target[1])
    return own_version(await versions_of(call.hospital, reference_of(now)), call.ctx.idempotency_key)


def _value(composed: Composed, written: Written) -> dict[str, Any]:
    who = composed.subject.get("text", "")
    head, here, tail = composed.done.partition(_WHO)
    said = head + who + tail if here else head + (f" for {who}" if who else "")
    state = composed.state
    if not state and composed.edits and not composed.new:
        state = state_change(composed.edits[0])
    return {
        **written.to_json(),
        **composed.facts,
        "patient": who,
        "done": said,
        "change": state,
        "notes": list(composed.notes),
    }


def _report(args: Mapping[str, Any], value: Any) -> str:
    change = f"{value['change']}, " if value["change"] else ""
    said = f"{value['done']} ({value['reference']} {change}version {value['version']})."
    return " ".join([said, *value["notes"]])
