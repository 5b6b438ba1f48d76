"""Treatment plans: what stands, a new one, a change, an end.

Rule: a plan is never deleted: it is put on hold, completed or revoked, and stays in the record so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor import ArgSpec, NeedInput, PolicyClass, ToolContext, ToolDescriptor, ToolError, tool
from condor_hms.catalogue.hospital import Hospital, reading, reference_of, require_patient
from condor_hms.catalogue.identity import identity
from condor_hms.catalogue.record_write import Call, Composed, record_write, without
from condor_hms.catalogue.specs import (
    CLINICIANS,
    code_arg,
    date_arg,
    patient_arg,
    record_arg,
    text_arg,
    why_arg,
)
from condor_hms.catalogue.words import concept_text, day, joined, plural
from condor_hms.catalogue.writing import Edit, person, record_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor_hms.fhir.port import Resource

__all__ = ["care_plan_tools"]

_ACTIONS = {"update": "Add or change activity", "hold": "Put on hold", "complete": "Complete"}
#: Action → the state it leads to and the states it may be taken from.
_MOVES = {
    "update": ("", ("active", "on-hold")),
    "hold": ("on-hold", ("active",)),
    "complete": ("completed", ("active", "on-hold")),
}
_STANDING = ("active", "on-hold")
#: Letters of a word that name it: “rehab” is rehabilitation.
_WORD_CHARS_MIN = 3


def care_plan_tools(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    """``treatment.list.card``, ``.create``, ``.update`` and ``.cancel`` over an open record."""

    async def list_plans(_ctx: ToolContext, patient: str) -> dict[str, Any]:
        """The patient's treatment plans, active and on hold, with their activities and goals."""
        who = identity(await require_patient(hospital, patient), hospital.today)
        with reading():
            plans = await hospital.fhir.search(
                "CarePlan", {"subject": patient, "status": ",".join(_STANDING)}
            )
            goals = await hospital.fhir.search("Goal", {"subject": patient})
        texts = {reference_of(goal): concept_text(goal.get("description")) for goal in goals}
        rows = [_row(plan, texts) for plan in plans]
        return {"patient": who, "plans": rows, "byTitle": _by_word(rows)}

    return (
        tool(
            "treatment.list.card",
            policy_class=PolicyClass.READ,
            title="Treatment plans",
            description=list_plans.__doc__ or "",
            ops={"read"},
            lookups={"byTitle"},
            roles=CLINICIANS,
            ui_card=True,
            args=(patient_arg(),),
            noun="the list of treatment plans",
            report=_report,
        )(list_plans),
        *_writes(hospital),
    )


def _writes(hospital: Hospital) -> tuple[ToolDescriptor, ...]:
    return (
        record_write(
            hospital,
            "treatment.create",
            _create,
            title="Start a treatment plan",
            noun="the treatment plan",
            roles={"doctor"},
            creates="CarePlan",
            editable={"title", "goal", "activities"},
            args=(
                patient_arg(),
                text_arg("title", "Title", required=True, area=False, min_length=3),
                text_arg("goal", "Goal"),
                ArgSpec(
                    name="activities", label="Activities", type="array", required=True, hint={"multi": True}
                ),
                date_arg("start", "Start", "today-30d", "today+365d"),
            ),
        ),
        record_write(
            hospital,
            "treatment.update",
            _update,
            title="Update a treatment plan",
            noun="the change of the treatment plan",
            roles={"doctor", "nurse"},
            target=("plan", "CarePlan"),
            ops=set(_ACTIONS),
            op_arg="action",
            editable={"activity"},
            args=(
                record_arg("plan", "Plan", "treatment.list.card"),
                code_arg("action", "Action", _ACTIONS, required=True),
                ArgSpec(
                    name="activity",
                    label="Activity",
                    type="string",
                    hint={"textarea": True},
                    required_if={"action": ("update",)},
                ),
            ),
        ),
        record_write(
            hospital,
            "treatment.cancel",
            _cancel,
            title="Cancel a treatment plan",
            noun="the cancellation of the treatment plan",
            roles={"doctor"},
            target=("plan", "CarePlan"),
            ops={"cancel"},
            editable={"reason"},
            args=(record_arg("plan", "Plan", "treatment.list.card"), why_arg()),
        ),
    )


def _row(plan: Resource, goals: Mapping[str, str]) -> dict[str, Any]:
    named = [goals.get(goal.get("reference", ""), "") for goal in plan.get("goal") or []]
    return {
        "reference": reference_of(plan),
        "title": _title(plan),
        "status": plan.get("status", ""),
        "since": str((plan.get("period") or {}).get("start") or "")[:10],
        "activities": [text for text, _ in _activities(plan)],
        "goals": [text for text in (*named, str(plan.get("description") or "")) if text],
    }


def _by_word(rows: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Each word of a title, or its beginning, that only one plan has → that plan; ``*``: the only one."""
    words: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        for word in str(row["title"]).casefold().replace("-", " ").split():
            for length in range(min(_WORD_CHARS_MIN, len(word)), len(word) + 1):
                words.setdefault(word[:length], {})[str(row["reference"])] = row
    found = {word: next(iter(same.values())) for word, same in words.items() if len(same) == 1}
    return {**found, **({"*": rows[0]} if len(rows) == 1 else {})}


def _title(plan: Resource) -> str:
    return str(plan.get("title") or concept_text(next(iter(plan.get("category") or []), None)) or "plan")


def _activities(plan: Resource) -> list[tuple[str, str]]:
    """What is done, and in which state it is."""
    details = [activity.get("detail") or {} for activity in plan.get("activity") or []]
    said = [
        (str(detail.get("description") or concept_text(detail.get("code"))), str(detail.get("status") or ""))
        for detail in details
    ]
    return [(text, status) for text, status in said if text]


def _report(args: Mapping[str, Any], value: Any) -> str:
    rows, name = value["plans"], value["patient"]["name"]
    if not rows:
        return f"{name}: no treatment plans on record."
    said = [
        f"{row['title']} ({row['status']}{', since ' + day(row['since']) if row['since'] else ''}"
        + (f": {joined(row['activities'])})" if row["activities"] else ")")
        for row in rows
    ]
    return f"{name}: {plural(len(rows), 'treatment plan')}: {'; '.join(said)}."


async def _create(call: Call) -> Composed:
    """Start a treatment plan for a patient: a title, what is done, and a goal where there is one."""
    who, title = await call.patient(), call.given("title")
    activities = [str(item).strip() for item in call.args["activities"] if str(item).strip()]
    if not activities:
        raise ToolError(
            "a treatment plan says what is done; nothing was written", effect="none", code="no_activity"
        )
    resource: Resource = {
        "resourceType": "CarePlan",
        "status": "active",
        "intent": "plan",
        "title": title,
        "subject": {"reference": who["reference"]},
        "period": {"start": call.args.get("start") or call.hospital.today.isoformat()},
        "created": record_time(call.hospital, call.ctx),
        "author": await person(call.hospital, call.ctx.principal),
        "activity": [_activity(text) for text in activities],
    }
    if call.given("goal"):
        resource["description"] = call.given("goal")
    return Composed(
        subject=who,
        summary=f"Start the treatment plan “{title}”: {joined(activities)}",
        done=f"Treatment plan started: “{title}” ({joined(activities)})",
        new=[resource],
        after={"plan": title, "activities": activities, "goal": call.given("goal")},
        facts={"title": title},
    )


def _activity(text: str) -> dict[str, Any]:
    return {"detail": {"status": "not-started", "description": text}}


async def _update(call: Call) -> Composed | NeedInput:
    """Add an activity to a treatment plan, put the plan on hold, or complete it."""
    action = str(call.args["action"])
    plan = await _standing(call, *_MOVES[action][1])
    title, status, activity = _title(plan), _MOVES[action][0], call.given("activity")
    before = {"plan": title, "status": plan["status"], "activities": [text for text, _ in _activities(plan)]}
    if status:
        after = without(plan, status=status)
        words = {"hold": "it is on hold", "complete": "it is complete"}[action]
    else:
        after = without(plan, activity=[*(plan.get("activity") or []), _activity(activity)])
        words = f"“{activity}” was added"
    return Composed(
        subject=await call.subject_of(plan),
        summary=f"{_ACTIONS[action]}: “{title}”" + (f", {activity}" if activity else ""),
        done=f"Plan updated, {words}: “{title}”",
        edits=[Edit(before=plan, after=after)],
        reason=activity,
        before=before,
        after={
            "plan": title,
            "status": after["status"],
            "activities": [text for text, _ in _activities(after)],
        },
        facts={"title": title},
    )


async def _cancel(call: Call) -> Composed:
    """Cancel a treatment plan, with the reason; it stays in the record as revoked."""
    plan = await _standing(call, *_STANDING)
    title, why = _title(plan), call.given("reason")
    note = {"time": record_time(call.hospital, call.ctx), "text": why}
    return Composed(
        subject=await call.subject_of(plan),
        summary=f"Cancel the treatment plan “{title}”. Reason: {why}",
        done=f"Plan cancelled: “{title}”",
        edits=[
            Edit(before=plan, after=without(plan, status="revoked", note=[*(plan.get("note") or []), note]))
        ],
        reason=why,
        before={
            "plan": title,
            "status": plan["status"],
            "activities": [text for text, _ in _activities(plan)],
        },
        after={"plan": title, "status": "revoked", "reason": why},
        facts={"title": title, "forPatient": f"Your treatment plan “{title}” has been cancelled."},
    )


async def _standing(call: Call, *wanted: str) -> Resource:
    plan = await call.target(call.args["plan"], "CarePlan")
    if plan.get("status") not in wanted:
        raise ToolError(
            f"{reference_of(plan)} (“{_title(plan)}”) is {plan.get('status')}, not {' or '.join(wanted)}; "
            "nothing was written",
            effect="none",
            code="not_standing",
        )
    return plan
