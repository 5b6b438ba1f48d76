"""Sentences that write to the clinical record: allergies, problems, plans, orders, vital signs, notes."""

from __future__ import annotations

import re
from typing import Any

from condor_hms.catalogue.terms import ingredient_key, problem_name
from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.priorities import PRIORITY, without_priority
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, step

__all__ = ["RECORD", "plan_of"]

_SPECIALTIES = {
    r"cardiolog(?:y|ist)|heart clinic": "394579002",
    r"nephrolog(?:y|ist)|renal": "394589003",
    r"endocrinolog(?:y|ist)|diabetes clinic": "394583002",
    r"gastroenterolog(?:y|ist)|gastro|gi": "394584008",
    r"dietetics|(?:the )?dietiti?c?ian": "722165004",
}
_MODALITIES = {
    r"x-?ray|radiograph": "CR",
    r"ct(?: scan)?": "CT",
    r"mri?(?: scan)?": "MR",
    r"ultrasound(?: scan)?|us": "US",
    r"nuclear medicine scan": "NM",
}
_VACCINES = {
    r"flu|influenza": "140",
    r"covid(?:-19)?(?: mrna)?": "208",
    r"pneumococcal|ppv23": "33",
    r"td|tetanus(?: diphtheria)?": "113",
    r"zoster|shingles": "187",
}
_SITES = {
    r"left (?:upper )?arm|left deltoid": "LA",
    r"right (?:upper )?arm|right deltoid": "RA",
    r"left thigh": "LT",
    r"right thigh": "RT",
}
_GIVEN = (
    r"(?:,? (?:on )?{date})?(?:,? lot (?P<lot>[\w-]{2,20}))?"
    rf"(?:,? (?:in(?:to)? the )?(?P<site>{'|'.join(_SITES)}))?"
)
_SIDES = {r"left": "left", r"right": "right", r"both": "both"}
_CERTAINTY = r"(?P<certainty>confirmed|provisional|differential)"
_PLAN = r"(?P<plan>[^\W\d_][\w -]{1,40}?)"
_NAMED = r"(?P<problem>[^\W_][\w' /-]{1,50}?)"
_VACCINE = rf"(?P<vaccine>{'|'.join(_VACCINES)})"
_MODALITY = rf"(?P<modality>{'|'.join(_MODALITIES)})"
_SPECIALTY = rf"(?P<specialty>{'|'.join(_SPECIALTIES)})"
_PRIORITY = rf"(?P<priority>{PRIORITY})"
#: Words of a plan's name that many plans have.
_COMMON = frozenset({"the", "care", "treatment", "plan", "programme", "program", "post"})


def plan_of(said: Said, step_id: str) -> dict[str, str]:
    """The plan whose title has the word that tells it apart."""
    words = [word for word in re.split(r"[ -]", said.text("plan").lower()) if word not in _COMMON]
    return reference(step_id, "byTitle", words[0] if words else "*", "reference")


def _allergy(action: str) -> Any:
    def build(said: Said) -> Plan:
        found = reference("s2", "bySubstance", ingredient_key(said.text("substance")), "reference")
        args = {
            "allergy": found,
            "action": action,
            "criticality": said.text("level").lower() or None,
            "reason": said.why(),
        }
        return plan(
            said.search(),
            step("s2", "allergy.list.card", {"patient": PATIENT}, after=("s1",)),
            step("s3", "allergy.update", args, after=("s2",)),
        )

    return build


def _problem(said: Said) -> Plan:
    args = {
        "patient": PATIENT,
        "problem": problem_name(said.entry("problem")),
        "verification": said.text("certainty").lower() or None,
        "onset": said.past(),
    }
    return plan(
        said.search(),
        step("s2", "condition.list.card", {"patient": PATIENT}, after=("s1",)),
        step("s3", "condition.record", args, after=("s2",)),
    )


def _problem_change(action: str) -> Any:
    def build(said: Said) -> Plan:
        # An entry that should never have been is removed under the name that it has.
        name = said.text("problem") if action == "remove" else said.entry("problem")
        found = reference("s2", "byName", problem_name(name).casefold(), "reference")
        args = {"condition": found, "action": action, "abatement": said.past(), "reason": said.why()}
        return plan(
            said.search(),
            step("s2", "condition.list.card", {"patient": PATIENT}, after=("s1",)),
            step("s3", "condition.update", args, after=("s2",)),
        )

    return build


def _new_plan(said: Said) -> Plan:
    activities = [
        part.strip() for part in re.split(r",| and (?=[^,]+$)|;", said.text("text")) if part.strip()
    ]
    args = {
        "patient": PATIENT,
        "title": said.text("title").strip("\"'"),
        "goal": said.why("goal"),
        "activities": activities or None,
    }
    return plan(said.search(), step("s2", "treatment.create", args, after=("s1",)))


def _plan_change(tool: str, action: str | None) -> Any:
    def build(said: Said) -> Plan:
        args = {"plan": plan_of(said, "s2"), "action": action, "activity": said.text("activity") or None}
        if tool == "treatment.cancel":
            args = {"plan": args["plan"], "reason": said.why()}
        return plan(
            said.search(),
            step("s2", "treatment.list.card", {"patient": PATIENT}, after=("s1",)),
            step("s3", tool, args, after=("s2",)),
        )

    return build


def _imaging(said: Said) -> Plan:
    site = said.entry("site")
    args = {
        "patient": PATIENT,
        "modality": said.code("modality", _MODALITIES),
        "body_site": site[:1].upper() + site[1:],
        "laterality": said.code("side", _SIDES),
        "priority": said.priority("why"),
        "indication": _without_priority(said.why()),
    }
    return plan(said.search(), step("s2", "order.imaging.create", args, after=("s1",)))


def _cancel_order(said: Said) -> Plan:
    order = reference("s2", "byName", said.text("test").lower(), "reference")
    return plan(
        said.search(),
        step("s2", "order.status", {"patient": PATIENT}, after=("s1",)),
        step("s3", "order.cancel", {"order": order, "reason": said.why()}, after=("s2",)),
    )


def _without_priority(why: str | None) -> str | None:
    return (without_priority(why) or None) if why else None


def _refer(said: Said) -> Plan:
    args = {
        "patient": PATIENT,
        "specialty": said.code("specialty", _SPECIALTIES),
        "priority": said.priority("why"),
        "question": _without_priority(said.why()),
    }
    return plan(said.search(), step("s2", "referral.create", args, after=("s1",)))


def _vaccine(said: Said) -> Plan:
    args = {
        "patient": PATIENT,
        "vaccine": said.code("vaccine", _VACCINES),
        "given_on": said.past(),
        "lot": said.text("lot").upper() or None,
        "site": said.code("site", _SITES),
    }
    return plan(said.search(), step("s2", "immunization.record", args, after=("s1",)))


RECORD: tuple[Formula, ...] = (
    Formula.of(
        "allergy.update",
        _allergy("resolve"),
        r"mark {whose} (?P<substance>[\w ]{2,40}?) allergy (?:as )?resolved(?:{because}{why})?",
        r"resolve {whose} (?P<substance>[\w ]{2,40}?) allergy(?:{because}{why})?",
    ),
    Formula.of(
        "allergy.update",
        _allergy("remove"),
        r"(?:remove|delete) {whose} (?P<substance>[\w ]{2,40}?) allergy(?:{because}{why})?",
        r"(?:remove|delete) the (?P<substance>[\w ]{2,40}?) allergy (?:of|from) {who}(?:{because}{why})?",
    ),
    Formula.of(
        "allergy.update",
        _allergy("update"),
        r"change the criticality of {whose} (?P<substance>[\w ]{2,40}?) allergy to (?P<level>low|high)",
        r"change {whose} (?P<substance>[\w ]{2,40}?) allergy to (?P<level>low|high) criticality",
    ),
    Formula.of(
        "condition.update",
        _problem_change("resolve"),
        rf"mark {{whose}} {_NAMED} (?:as )?resolved(?: (?:on |since |as of )?{{date}})?",
        rf"resolve {{whose}} {_NAMED}(?: (?:on |since |as of )?{{date}})?",
    ),
    Formula.of(
        "condition.update",
        _problem_change("remove"),
        rf"(?:remove|delete) {_NAMED} from {{whose}} problem list(?:{{because}}{{why}})?",
        rf"(?:remove|delete) the problem {_NAMED} (?:of|from) {{who}}(?:{{because}}{{why}})?",
    ),
    Formula.of(
        "condition.record",
        _problem,
        rf"add {_NAMED} to {{whose}} problem list(?:(?: as|,)(?: a)? {_CERTAINTY}(?: problem| "
        rf"diagnosis)?)?(?:,? since {{date}})?",
        rf"diagnose {{who}} with {_NAMED}(?:(?: as|,)(?: a)? {_CERTAINTY}(?: problem| "
        rf"diagnosis)?)?(?:,? since {{date}})?",
        rf"record {_NAMED} as a (?:{_CERTAINTY} )?(?:problem|diagnosis) (?:of|for) {{who}}(?:,? since "
        rf"{{date}})?",
    ),
    Formula.of(
        "treatment.create",
        _new_plan,
        r"(?:start|create|make) a (?:treatment|care) plan (?:called )?(?P<title>[\"'][^\"']{3,60}[\"']) "
        r"for {who}: {text}",
        r"(?:start|create|make) a (?:treatment|care) plan for {who} called (?P<title>[^:]{3,60}?)(?: "
        r"with|:) {text}",
        r"(?:start|create|make) a (?:treatment|care) plan for {who}: (?P<title>[^\0:,;.]{3,60}?), "
        r"goal:? (?P<goal>[^\0;]{3,120}?)",
    ),
    Formula.of(
        "treatment.update",
        _plan_change("treatment.update", "hold"),
        rf"put {{whose}} {_PLAN} plan on hold",
        rf"hold {{whose}} {_PLAN} plan",
    ),
    Formula.of(
        "treatment.update",
        _plan_change("treatment.update", "complete"),
        rf"complete {{whose}} {_PLAN} plan",
        rf"mark {{whose}} {_PLAN} plan (?:as )?complete[d]?",
    ),
    Formula.of(
        "treatment.update",
        _plan_change("treatment.update", "update"),
        rf"add (?P<activity>[^\0]{{3,120}}?) to {{whose}} {_PLAN} plan",
        rf"add to {{whose}} {_PLAN} plan: (?P<activity>[^\0]{{3,120}})",
    ),
    Formula.of(
        "treatment.cancel",
        _plan_change("treatment.cancel", None),
        rf"cancel {{whose}} {_PLAN} plan(?:{{because}}{{why}})?",
        rf"cancel the {_PLAN} plan (?:of|for) {{who}}(?:{{because}}{{why}})?",
    ),
    Formula.of(
        "order.imaging.create",
        _imaging,
        rf"(?:order|request) an? (?:{_PRIORITY} )?{_MODALITY} of (?:the |her |his |their "
        rf")?(?:(?P<side>left|right|both) )?"
        rf"(?P<site>[a-z]{{3,30}}(?: [a-z]{{3,20}})?) for {{who}}(?:{{because}}{{why}})?",
        rf"(?:order|request) an? (?:{_PRIORITY} )?(?:(?P<side>left|right) )?(?P<site>[a-z]{{3,30}}) "
        rf"{_MODALITY} "
        rf"(?:for|on|of) {{who}}(?:{{because}}{{why}})?",
        rf"(?:order|request) an? (?:{_PRIORITY} )?{_MODALITY} of (?:the |her |his |their "
        rf")?(?:(?P<side>left|right|both) )?"
        rf"(?P<site>[a-z]{{3,30}}(?: [a-z]{{3,20}})?) for {{who}} (?P<because>to) "
        rf"(?P<why>(?:look for|rule out|exclude) [^\0]{{3,120}}?)",
    ),
    Formula.of(
        "order.cancel",
        _cancel_order,
        r"cancel {whose} (?P<test>[\w ]{2,40}?) order(?:{because}{why})?",
        r"cancel the order (?:for|of) (?:an? )?(?P<test>[\w ]{2,40}?) (?:of|for|on) {who}(?:{because}{why})?",
    ),
    Formula.of(
        "referral.create",
        _refer,
        rf"refer {{who}} (?:{_PRIORITY} )?to (?:the )?{_SPECIALTY}(?:{{because}}{{why}})?",
        rf"(?:make|send) an? (?:{_PRIORITY} )?referral to (?:the )?{_SPECIALTY} for "
        rf"{{who}}(?:{{because}}{{why}})?",
    ),
    Formula.of(
        "immunization.record",
        _vaccine,
        rf"record an? {_VACCINE} (?:vaccination|vaccine|jab|shot) for {{who}}(?:,? given)?" + _GIVEN,
        rf"(?:gave|administered) {{who}} (?:the|an?|{{their}}) {_VACCINE} (?:vaccination|vaccine|jab|shot)"
        + _GIVEN,
        rf"record that {{who}} (?:had|got|received) (?:her|his|their|an?) {_VACCINE} "
        rf"(?:vaccination|vaccine|jab|shot)" + _GIVEN,
    ),
)
