"""Sentences that ask about the record."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from condor_hms.playbook.formulas.second import is_medicine
from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.formulas.vitals import SIGN_NAME, SIGNS
from condor_hms.playbook.refusals import refuse_part
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, step

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["READING"]

_ANALYSES = {
    r"overdue hba1c": "overdue-hba1c",
    r"high potassium": "high-potassium",
    r"antibiotic (?:use|usage)": "antibiotic-use",
}


def _of(tool: str, **given: str) -> Callable[[Said], Plan]:
    """Find the patient, then one tool over them; ``given`` names the parts that are arguments."""

    def build(said: Said) -> Plan:
        args: dict[str, Any] = {"patient": PATIENT}
        for name, part in given.items():
            args[name] = said.past(part)
        return plan(said.search(), step("s2", tool, args, after=("s1",)))

    return build


def _vitals(said: Said) -> Plan:
    sign = said.code("sign", SIGNS)
    args = {"patient": PATIENT, "sign": [sign] if sign else None, "since": said.past()}
    return plan(said.search(), step("s2", "vitals.trend.card", args, after=("s1",)))


def _appointments(said: Said) -> Plan:
    day = said.coming()
    args = {"patient": PATIENT, "from": day or said.today.isoformat(), "to": day}
    return plan(said.search(), step("s2", "appointment.search.card", args, after=("s1",)))


def _of_clinician(said: Said) -> Plan:
    day = said.coming()
    who = said.clinician()
    if who is None:
        raise refuse_part(said.text("clinician"), "no clinician here is called so")
    args = {"practitioner": who, "from": day or said.today.isoformat(), "to": day}
    return plan(step("s1", "appointment.search.card", args))


def _documents(said: Said) -> Plan:
    args = {
        "patient": PATIENT,
        "doc_type": said.documents(),
        "doc_status": "preliminary" if said.has("drafts") else None,
    }
    return plan(said.search(), step("s2", "document.search", args, after=("s1",)))


def _read(said: Said) -> Plan:
    args = {"patient": PATIENT, "doc_type": said.documents()}
    return plan(
        said.search(),
        step("s2", "document.search", args, after=("s1",)),
        step("s3", "document.read", {"document": reference("s2", "latest", "reference")}, after=("s2",)),
    )


def _slots(said: Said) -> Plan:
    """“On” a day is that day alone, “after” it begins on the next."""
    begin, end = said.coming(), None
    if begin and said.text("since").lower() == "on":
        end = begin
    if begin and said.text("since").lower() == "after":
        begin = (datetime.date.fromisoformat(begin) + datetime.timedelta(days=1)).isoformat()
    return plan(step("s1", "schedule.slots", {"practitioner": said.clinician(), "from": begin, "to": end}))


def _availability(said: Said) -> Plan:
    args = {"practitioner": said.clinician(), "from": said.coming()}
    return plan(step("s1", "schedule.availability", args))


def _may_have(said: Said) -> Plan:
    """“Can she have tramadol?” is answered by the check; a doctor decides."""
    drug = said.text("drug")
    if not is_medicine(drug):
        raise refuse_part(drug, "it is no medicine that I know")
    dose = {"dose_value": said.number("value"), "dose_unit": said.text("unit") or None}
    args = {"patient": PATIENT, "medication": drug[:1].upper() + drug[1:], **dose}
    return plan(said.search(), step("s2", "interaction.check", args, after=("s1",)))


def _trail_of_patient(said: Said) -> Plan:
    return plan(
        said.search(), step("s2", "audit.trail", {"target": PATIENT, "since": said.past()}, after=("s1",))
    )


def _trail(said: Said) -> Plan:
    return plan(step("s1", "audit.trail", {"target": said.text("ref"), "since": said.past()}))


def _analysis(said: Said) -> Plan:
    args = {"script": said.code("analysis", _ANALYSES), "since": said.past()}
    return plan(step("s1", "analytics.run", args))


def _overdue(said: Said) -> Plan:
    return plan(step("s1", "analytics.run", {"script": "overdue-hba1c", "since": said.past()}))


def _read_only(name: str, build: Callable[[Said], Plan], *sentences: str) -> Formula:
    return Formula.of(name, build, *sentences, does=False)


_SINCE = r"(?: since {date})?"
_MEDICINES = r"(?:medicines|medications|meds)"
_UNORDERED = r"(?:over-the-counter|otc|non-prescription|herbal)"
_REPORTED = r"(?:(?:self-|patient-)?reported)"
#: With the title a clinician, without it a patient.
_CLINICIAN = r"(?P<clinician>(?:dr\.?|doctor) [^\W\d_][\w'-]*?)"

READING: tuple[Formula, ...] = (
    _read_only(
        "patient.everything",
        _of("patient.everything", since="date"),
        rf"{{show}} (?:everything|the (?:whole|full|entire|complete) "
        rf"(?:record|chart|file)) (?:on|of|about|for) {{who}}{_SINCE}",
        rf"{{show}} {{whose}} (?:whole|full|entire|complete) (?:record|chart|file){_SINCE}",
        rf"(?:{{show}} )?everything (?:on (?:file|record) )?(?:for|about|of|on) {{who}}{_SINCE}",
    ),
    _read_only(
        "medication.statement.list",
        _of("medication.statement.list"),
        r"what does {who} (?:say|report)(?: that)? {they} (?:takes?|is taking)",
        rf"what (?:{_UNORDERED} )?{_MEDICINES} does {{who}} (?:say|report)(?: that)? {{they}} "
        r"(?:takes?|is taking)",
        rf"(?:{{show}} )?(?:the )?{_REPORTED} {_MEDICINES} (?:of|for) {{who}}",
        rf"{{show}} {{whose}} {_REPORTED} {_MEDICINES}",
    ),
    _read_only(
        "allergy.list.card",
        _of("allergy.list.card"),
        r"is {who} allergic to anything",
        r"does {who} have (?:any )?(?:known )?allergies",
    ),
    _read_only(
        "interaction.check",
        _may_have,
        r"(?:can|could|may) {who} (?:have|take|be given|be started on) {drug}"
        r"(?: (?P<value>\d+(?:\.\d+)?) ?(?P<unit>mg|g))?",
    ),
    _read_only(
        "treatment.list.card",
        _of("treatment.list.card"),
        r"{show} {whose} (?:treatment|care) plans?",
        r"what (?:treatment|care) plans? (?:does|has) {who}(?: have| got)?",
        r"(?:{show} )?(?:the )?(?:treatment|care) plans? (?:of|for) {who}",
    ),
    _read_only(
        "labs.report.search",
        _of("labs.report.search", since="date"),
        rf"{{show}} {{whose}} lab(?:oratory)? reports{_SINCE}",
        rf"(?:{{show}} )?(?:the )?lab(?:oratory)? reports (?:of|for) {{who}}{_SINCE}",
    ),
    _read_only(
        "vitals.trend.card",
        _vitals,
        rf"(?:{{show}}|trend) {{whose}} (?:vitals?(?: signs)?|{SIGN_NAME})(?: trend| over time)?{_SINCE}",
        rf"how (?:has|have|is|are) {{whose}} {SIGN_NAME} (?:been|doing|going){_SINCE}",
        rf"(?:{{show}} )?(?:the )?(?:vital signs|vitals|{SIGN_NAME}) (?:trend )?(?:of|for) {{who}}{_SINCE}",
    ),
    _read_only(
        "imaging.search",
        _of("imaging.search", since="date"),
        rf"{{show}} {{whose}} (?:imaging|scans|x-?rays){_SINCE}",
        r"what (?:imaging|scans) (?:has|did) {who} (?:had|have)",
        rf"(?:{{show}} |any )?(?:the )?(?:imaging|scans)(?: reports?)? (?:of|for|on) {{who}}{_SINCE}",
        rf"{{show}} (?:the )?(?:x-?rays?|radiology|imaging|scan)(?: reports?)? (?:of|for|on) {{who}}{_SINCE}",
    ),
    _read_only(
        "encounter.list",
        _of("encounter.list", since="date"),
        rf"{{show}} {{whose}} (?:visits|stays|admissions|encounters)(?: and stays)?{_SINCE}",
        r"when was {who} last (?:seen|here|admitted)",
        rf"(?:{{show}} )?(?:the )?(?:visits|admissions) (?:of|for) {{who}}{_SINCE}",
    ),
    _read_only(
        "appointment.search.card",
        _of_clinician,
        rf"{{show}} {_CLINICIAN}'s appointments(?: (?:on |for )?{{when}})?",
        rf"{{show}} (?:the )?appointments (?:of|with) {_CLINICIAN}(?: (?:on |for )?{{when}})?",
    ),
    _read_only(
        "appointment.search.card",
        _appointments,
        r"{show} {whose} appointments?(?: (?:on |for )?{when})?",
        r"when is {whose} next appointment",
        r"does {who} have an appointment(?: (?:on )?{when})?",
    ),
    _read_only(
        "schedule.slots",
        _slots,
        r"(?:{show} )?(?:the )?free slots (?:of|for|with) {clinician} (?P<since>from|on|after) {when}",
        r"when is {clinician} free (?P<since>from|on|after) {when}",
    ),
    _read_only(
        "schedule.availability",
        _availability,
        r"(?:compute|work out|{show}) (?:the )?availability of {clinician} from {when}",
        r"(?:{show} )?{clinician}'s availability from {when}",
    ),
    _read_only(
        "document.search",
        _documents,
        r"{show} {whose} (?:documents|notes|letters)",
        r"{show} (?:the )?{document} (?:of|for) {who}",
        r"(?:{show}|any) (?:the )?(?:documents|(?P<drafts>drafts?)) (?:of|for|on) {who}",
        r"{show} {whose} (?P<drafts>drafts)",
        r"what documents (?:are there|do we have) (?:on|of|for|about) {who}",
    ),
    _read_only(
        "document.read",
        _read,
        r"read(?: me)? {whose} (?:latest |last )?{document}",
        r"read(?: me)? the (?:latest |last )?{document} (?:of|for) {who}",
        r"what does {whose} (?:latest |last )?{document} say",
    ),
    _read_only(
        "order.status",
        _of("order.status"),
        r"(?:what is |show(?: me)? )?the status of {whose} orders",
        r"where do {whose} orders stand",
        r"what (?:has )?(?:happened to|became of|is happening with) {whose} (?:lab |imaging )?orders",
        r"have {whose} orders been (?:done|carried out)",
    ),
    _read_only(
        "billing.summary.card",
        _of("billing.summary.card"),
        r"{show} {whose} (?:bill|account|invoices|bill(?:ing)? summary)",
        r"(?:{show} )?(?:the )?billing summary (?:of|for) {who}",
        r"what does {who} owe(?: us)?",
        r"(?:{show} )?(?:the )?bill (?:of|for|summary of|summary for) {who}",
    ),
    _read_only(
        "audit.trail",
        _trail,
        rf"(?:{{show}} )?(?:the )?audit trail (?:of|for) {{ref}}{_SINCE}",
        rf"who (?:changed|touched|wrote|has changed) {{ref}}{_SINCE}",
    ),
    _read_only(
        "audit.trail",
        _trail_of_patient,
        rf"who (?:changed|touched|wrote (?:to|in)|has changed) {{whose}} (?:record|chart|file){_SINCE}",
        rf"(?:{{show}} )?(?:the )?audit trail (?:of|for) {{who}}{_SINCE}",
    ),
    Formula.of(
        "analytics.run",
        _analysis,
        rf"run (?:the )?(?:saved )?analysis(?: of| on|:)? (?P<analysis>overdue hba1c|high "
        rf"potassium|antibiotic (?:use|usage)){_SINCE}",
        rf"run (?:the )?(?P<analysis>overdue hba1c|high potassium|antibiotic (?:use|usage)) "
        rf"(?:analysis|report|query){_SINCE}",
    ),
    _read_only(
        "analytics.run",
        _overdue,
        r"which (?:patients|diabetics|diabetic patients|patients with diabetes) are overdue "
        rf"(?:for )?(?:an? |their )?hba1c{_SINCE}",
    ),
)
