"""Sentences that ask about the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, step

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["READING"]

_SIGNS = {
    r"(?:bp|blood pressure)": "85354-9",
    r"(?:heart rate|pulse|hr)": "8867-4",
    r"(?:temperature|temp)": "8310-5",
    r"(?:spo2|sats|oxygen saturation)": "59408-5",
    r"weight": "29463-7",
}
_SIGN = r"(?P<sign>bp|blood pressure|heart rate|pulse|temperature|spo2|sats|oxygen saturation|weight)"
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
    sign = said.code("sign", _SIGNS)
    args = {"patient": PATIENT, "sign": [sign] if sign else None, "since": said.past()}
    return plan(said.search(), step("s2", "vitals.trend.card", args, after=("s1",)))


def _appointments(said: Said) -> Plan:
    day = said.coming()
    args = {"patient": PATIENT, "from": day or said.today.isoformat(), "to": day}
    return plan(said.search(), step("s2", "appointment.search.card", args, after=("s1",)))


def _documents(said: Said) -> Plan:
    args = {"patient": PATIENT, "doc_type": said.documents()}
    return plan(said.search(), step("s2", "document.search", args, after=("s1",)))


def _read(said: Said) -> Plan:
    args = {"patient": PATIENT, "doc_type": said.documents()}
    return plan(
        said.search(),
        step("s2", "document.search", args, after=("s1",)),
        step("s3", "document.read", {"document": reference("s2", "latest", "reference")}, after=("s2",)),
    )


def _times(tool: str) -> Callable[[Said], Plan]:
    def build(said: Said) -> Plan:
        return plan(step("s1", tool, {"practitioner": said.clinician(), "from": said.coming()}))

    return build


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

READING: tuple[Formula, ...] = (
    _read_only(
        "patient.everything",
        _of("patient.everything", since="date"),
        rf"{{show}} (?:everything|the (?:whole|full|entire|complete) record) (?:on|of|about|for) "
        rf"{{who}}{_SINCE}",
        rf"{{show}} {{whose}} (?:whole|full|entire|complete) record{_SINCE}",
    ),
    _read_only(
        "medication.statement.list",
        _of("medication.statement.list"),
        r"what does {who} (?:say|report)(?: that)? {they} (?:takes?|is taking)",
        r"(?:{show} )?(?:the )?reported (?:medicines|medications|meds) (?:of|for) {who}",
        r"{show} {whose} reported (?:medicines|medications|meds)",
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
        rf"(?:{{show}}|trend) {{whose}} (?:vitals?(?: signs)?|{_SIGN})(?: trend| over time)?{_SINCE}",
        rf"how (?:has|is) {{whose}} {_SIGN} (?:been|doing|going){_SINCE}",
        rf"(?:{{show}} )?(?:the )?(?:vital signs|vitals|{_SIGN}) (?:trend )?(?:of|for) {{who}}{_SINCE}",
    ),
    _read_only(
        "imaging.search",
        _of("imaging.search", since="date"),
        rf"{{show}} {{whose}} (?:imaging|scans|x-?rays){_SINCE}",
        r"what (?:imaging|scans) (?:has|did) {who} (?:had|have)",
        rf"(?:{{show}} )?(?:the )?(?:imaging|scans) (?:of|for) {{who}}{_SINCE}",
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
        _appointments,
        r"{show} {whose} appointments?(?: (?:on |for )?{when})?",
        r"when is {whose} next appointment",
        r"does {who} have an appointment(?: (?:on )?{when})?",
    ),
    _read_only(
        "schedule.slots",
        _times("schedule.slots"),
        r"{show} (?:the )?free slots (?:of|for|with) {clinician} (?:from|on|after) {when}",
        r"when is {clinician} free (?:on|from|after) {when}",
    ),
    _read_only(
        "schedule.availability",
        _times("schedule.availability"),
        r"(?:compute|work out|{show}) (?:the )?availability of {clinician} (?:from|on|after) {when}",
        r"(?:{show} )?{clinician}'s availability (?:from|on|after) {when}",
    ),
    _read_only(
        "document.search",
        _documents,
        r"{show} {whose} (?:documents|notes|letters)",
        r"{show} (?:the )?{document} (?:of|for) {who}",
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
        r"have {whose} orders been (?:done|carried out)",
    ),
    _read_only(
        "billing.summary.card",
        _of("billing.summary.card"),
        r"{show} {whose} (?:bill|account|invoices|bill summary)",
        r"what does {who} owe(?: us)?",
        r"(?:{show} )?(?:the )?bill (?:of|for|summary of|summary for) {who}",
    ),
    _read_only(
        "audit.trail",
        _trail,
        rf"(?:{{show}} )?(?:the )?audit trail (?:of|for) {{ref}}{_SINCE}",
        rf"who (?:changed|touched|wrote|has changed) {{ref}}{_SINCE}",
    ),
    Formula.of(
        "analytics.run",
        _analysis,
        rf"run (?:the )?(?:saved )?analysis(?: of| on|:)? (?P<analysis>overdue hba1c|high "
        rf"potassium|antibiotic (?:use|usage)){_SINCE}",
        rf"run (?:the )?(?P<analysis>overdue hba1c|high potassium|antibiotic (?:use|usage)) "
        rf"(?:analysis|report|query){_SINCE}",
    ),
    _read_only("analytics.run", _overdue, rf"which patients are overdue (?:for )?(?:an? )?hba1c{_SINCE}"),
)
