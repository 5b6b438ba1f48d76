"""Sentences about the work around a patient: documents, bookings, tasks, bills, reports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from condor_hms.playbook.draft import Draft, normalise
from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.names import take_identifiers, take_who
from condor_hms.playbook.priorities import PRIORITY
from condor_hms.playbook.refusals import refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, search_step, step
from condor_hms.playbook.vocabulary import FILLERS

if TYPE_CHECKING:
    from condor_hms.playbook.steps import Step

__all__ = ["OFFICE", "which_appointment"]

_TEMPLATES = {
    r"discharge (?:summary|letter)": "discharge",
    r"clinic letter": "clinic-letter",
    r"medication chart|drug chart": "medication-chart",
}
_TEMPLATE = rf"(?P<template>{'|'.join(_TEMPLATES)})"
_FORMATS = {r"pdf": "pdf", r"html|web page": "html", r"word(?: file| document)?|docx": "docx"}
_FORMAT = r"(?P<output>pdf|html|word(?: document)?|docx)"
_ROLES = {
    r"nurses?": "nurse",
    r"pharmacists?|pharmacy": "pharmacist",
    r"front desk|receptionists?|reception": "receptionist",
    r"lab(?:oratory)?": "lab",
    r"billing(?: office)?": "billing",
}
_ROLE = rf"(?P<role>{'|'.join(_ROLES)})"
_CANCEL_REASONS = {
    r"(?:the )?patient(?: asked| request(?:ed it)?)?|(?:she|he|they) asked"
    r"|(?:the patient|she|he|they) (?:is|are) (?:unwell|ill|sick)": "pat",
    r"(?:the )?(?:provider|doctor|clinician)(?: is (?:ill|away))?": "prov",
    r"(?:the )?equipment(?: is (?:broken|down))?": "maint",
    r"other(?: reasons?)?": "other",
}
_CANCEL_REASON = rf"(?:{{because}}(?P<reason>{'|'.join(_CANCEL_REASONS)}))?"


def _documents(said: Said, status: str | None = None, step_id: str = "s2") -> dict[str, Any]:
    args = {"patient": PATIENT, "doc_type": said.documents(), "doc_status": status}
    return step(step_id, "document.search", args, after=("s1",))


def _sign(said: Said) -> Plan:
    args = {"document": reference("s2", "draft", "reference"), "meaning": said.signing()}
    return plan(
        said.search(), _documents(said, "preliminary"), step("s3", "document.sign", args, after=("s2",))
    )


def _report(said: Said) -> dict[str, Any]:
    args = {
        "patient": PATIENT,
        "template": said.code("template", _TEMPLATES),
        "output": said.code("output", _FORMATS),
    }
    return step("s2", "report.generate", args, after=("s1",))


def _generate(said: Said) -> Plan:
    return plan(said.search(), _report(said))


def _generate_and_sign(said: Said) -> Plan:
    """The file, and the draft of that kind in the record: what is signed is the record's document."""
    found = step(
        "s3a",
        "document.search",
        {"patient": PATIENT, "doc_type": ["18842-5"], "doc_status": "preliminary"},
        after=("s2",),
    )
    args = {"document": reference("s3a", "draft", "reference"), "meaning": said.signing()}
    return plan(said.search(), _report(said), found, step("s3", "document.sign", args, after=("s3a",)))


def _draft(said: Said) -> Plan:
    args = {"patient": PATIENT, "doc_type": said.document(), "text": said.text("text")}
    return plan(said.search(), step("s2", "note.draft", args, after=("s1",)))


def _draft_change(action: str) -> Any:
    def build(said: Said) -> Plan:
        args = {
            "document": reference("s2", "draft", "reference"),
            "action": action,
            "text": said.text("text") or None,
        }
        return plan(
            said.search(), _documents(said, "preliminary"), step("s3", "note.update", args, after=("s2",))
        )

    return build


def _archive(said: Said) -> Plan:
    # Of several, a person says which.
    args = {"document": reference("s2", "only", "reference"), "reason": said.why()}
    return plan(said.search(), _documents(said), step("s3", "document.archive", args, after=("s2",)))


def _slot(said: Said, step_id: str) -> dict[str, str]:
    return reference(step_id, "byStart", f"{said.coming()}T{said.time()}", "slot")


def _book(said: Said) -> Plan:
    clinician = said.clinician()
    slots = {"practitioner": clinician, "from": said.coming(), "to": said.coming()}
    args = {"patient": PATIENT, "practitioner": clinician, "slot": _slot(said, "s2"), "reason": said.why()}
    return plan(
        said.search(),
        step("s2", "schedule.slots", slots, after=("s1",)),
        step("s3", "appointment.book", args, after=("s2",)),
    )


def which_appointment(said: Said) -> str:
    """The next one where that was said; else the only one that is to come, or a person says which."""
    return "next" if said.has("next") else "only"


def _next_appointment(said: Said) -> dict[str, Any]:
    args = {"patient": PATIENT, "from": said.today.isoformat()}
    return step("s2", "appointment.search.card", args, after=("s1",))


def _cancel(said: Said) -> Plan:
    args = {
        "appointment": reference("s2", which_appointment(said), "reference"),
        "action": "cancel",
        "cancel_reason": said.code("reason", _CANCEL_REASONS),
    }
    return plan(said.search(), _next_appointment(said), step("s3", "appointment.update", args, after=("s2",)))


def _cancel_on(said: Said) -> Plan:
    """The appointment of a day that was said, where there is one alone."""
    day = said.coming()
    args = {
        "appointment": reference("s2", "only", "reference"),
        "action": "cancel",
        "cancel_reason": said.code("reason", _CANCEL_REASONS),
    }
    return plan(
        said.search(),
        step("s2", "appointment.search.card", {"patient": PATIENT, "from": day, "to": day}, after=("s1",)),
        step("s3", "appointment.update", args, after=("s2",)),
    )


def _move(said: Said) -> Plan:
    slots = {
        "practitioner": reference("s2", which_appointment(said), "clinician"),
        "from": said.coming(),
        "to": said.coming(),
    }
    args = {
        "appointment": reference("s2", which_appointment(said), "reference"),
        "action": "reschedule",
        "slot": _slot(said, "s3"),
    }
    return plan(
        said.search(),
        _next_appointment(said),
        step("s3", "schedule.slots", slots, after=("s2",)),
        step("s4", "appointment.update", args, after=("s3",)),
    )


def _task(said: Said) -> Plan:
    args = {
        "description": said.text("text"),
        "owner_role": said.code("role", _ROLES),
        "due": said.coming(),
        "priority": said.priority("text"),
    }
    who = said.search() if said.has("who") else _patient_in(said)
    if who is None:
        return plan(step("s1", "task.create", args))
    return plan(who, step("s2", "task.create", {"patient": PATIENT, **args}, after=("s1",)))


#: “Ward Brown”, “Brown's”, “Mrs Brown”, a record number: somebody, and not the start of a sentence.
_SOMEBODY = re.compile(
    r"[A-Z][\w'-]*[a-z] [A-Z][\w'-]*[a-z]|[A-Z][\w-]+(?:'s|s')(?!\w)|(?i:mrs?|ms|miss)\.? [A-Z]"
    r"|[A-Z]{2,6}-\d{3,12}"
)


def _patient_in(said: Said) -> Step | None:
    """The patient whom the text of a task names; None where it names nobody.

    Raises:
        RequestNotUnderstood: two, or no capitals to tell a name by.
    """
    text = said.text("text")
    if text in (text.lower(), text.upper()) and re.search(r"\w's(?!\w)", text, re.IGNORECASE):
        raise refuse_part(text, "say whom it is about: “a task for the nurse about Melissa Smith: …”")
    text = text[:1].lower() + text[1:]
    if not _SOMEBODY.search(text):
        return None
    draft = Draft(normalise(text))
    for name in said.staff:
        draft.take_all(re.compile(rf"(?:(?:dr\.?|doctor) )?(?<!\w){re.escape(name)}(?:'s)?(?!\w)"))
    found = take_who(draft, take_identifiers(draft, said.today), FILLERS)
    return search_step(found.query, found.birth_date) if found.query else None


def _invoice(action: str, state: str) -> Any:
    def build(said: Said) -> Plan:
        args = {
            "invoice": reference("s2", "byStatus", state, "reference"),
            "action": action,
            "reason": said.why(),
        }
        return plan(
            said.search(),
            step("s2", "billing.summary.card", {"patient": PATIENT}, after=("s1",)),
            step("s3", "billing.invoice.update", args, after=("s2",)),
        )

    return build


OFFICE: tuple[Formula, ...] = (
    Formula.of(
        "report.generate document.sign",
        _generate_and_sign,
        rf"(?:generate|make|print) (?:the |a )?{_TEMPLATE} (?:as (?:a )?)?{_FORMAT} (?:for|of) {{who}} "
        rf"and sign it{{meaning}}",
        rf"(?:generate|make|print) {{whose}} {_TEMPLATE} (?:as (?:a )?)?{_FORMAT} and sign it{{meaning}}",
    ),
    Formula.of(
        "report.generate",
        _generate,
        rf"(?:generate|make|print) (?:the |a )?{_TEMPLATE}(?: (?:as (?:a )?)?{_FORMAT})? (?:for|of) {{who}}",
        rf"(?:generate|make|print) {{whose}} {_TEMPLATE}(?: (?:as (?:a )?)?{_FORMAT})?",
    ),
    Formula.of(
        "document.sign",
        _sign,
        r"sign {whose} (?:draft )?(?:{document}|draft|note){meaning}",
        r"sign the (?:draft )?{document} (?:of|for) {who}{meaning}",
    ),
    Formula.of(
        "note.draft",
        _draft,
        r"(?:draft|write) an? {document} (?:for|of|on) {who}: {text}",
        r"(?:draft|write) {whose} {document}: {text}",
        r"(?:draft|write) an? (?:draft )?(?:{document}|(?:clinic )?note) (?:for|of|on) {who}"
        r"(?:: | saying:? | that says:? ){text}",
    ),
    Formula.of(
        "note.update",
        _draft_change("delete"),
        r"delete {whose} draft(?: {document}| note)?",
        r"delete the draft(?: {document}| note)? (?:of|for) {who}",
    ),
    Formula.of(
        "note.update",
        _draft_change("update"),
        r"change {whose} draft(?: {document})? to: {text}",
        r"change the draft {document} (?:of|for) {who} to: {text}",
    ),
    Formula.of(
        "document.archive",
        _archive,
        r"archive {whose} {document}(?:{because}{why})?",
        r"archive the {document} (?:of|for) {who}(?:{because}{why})?",
    ),
    Formula.of(
        "appointment.book",
        _book,
        r"book {who} (?:in )?with {clinician} (?:on |for )?{when} at {time}(?:{because}{why})?",
        r"(?:make|book) an appointment for {who} with {clinician} (?:on |for )?{when} at "
        r"{time}(?:{because}{why})?",
    ),
    Formula.of(
        "appointment.update",
        _cancel,
        rf"cancel {{whose}} (?P<next>next )?appointment{_CANCEL_REASON}",
        rf"cancel the (?P<next>next )?appointment of {{who}}{_CANCEL_REASON}",
    ),
    Formula.of(
        "appointment.update",
        _cancel_on,
        rf"cancel {{whose}} appointment (?:on )?{{when}}{_CANCEL_REASON}",
        rf"cancel the appointment of {{who}} (?:on )?{{when}}{_CANCEL_REASON}",
    ),
    Formula.of(
        "appointment.update",
        _move,
        r"(?:move|reschedule) {whose} (?P<next>next )?appointment to {when} at {time}",
        r"(?:move|reschedule) the (?P<next>next )?appointment of {who} to {when} at {time}",
    ),
    Formula.of(
        "task.create",
        _task,
        rf"(?:give|leave) the {_ROLE} an? (?:(?P<priority>{PRIORITY}) )?task(?: for "
        rf"{{who}})?(?:,? due {{when}})?: {{text}}",
        rf"remind the {_ROLE} to {{text}}(?: by {{when}})?",
        rf"create an? (?:(?P<priority>{PRIORITY}) )?task for the {_ROLE}(?: about {{who}})?(?:,? "
        rf"due {{when}})?: {{text}}",
    ),
    Formula.of(
        "billing.invoice.update",
        _invoice("issue", "draft"),
        r"issue {whose} (?:draft )?invoice",
        r"issue the (?:draft )?invoice (?:of|for) {who}",
    ),
    Formula.of(
        "billing.invoice.update",
        _invoice("void", "issued"),
        r"void {whose} (?:issued )?invoice(?:{because}{why})?",
        r"void the (?:issued )?invoice (?:of|for) {who}(?:{because}{why})?",
    ),
)
