"""Sentences that write to somebody, alone or at the end of other things.

Rule: a message that tells of what else was done quotes the record. Where a part of it was declined,
no message goes out.
"""

from __future__ import annotations

from typing import Any

from condor_hms.playbook.formulas.medicines import CHANGE, NOW, dose_reason, medicine_list, new_dose
from condor_hms.playbook.formulas.office import which_appointment
from condor_hms.playbook.formulas.record import plan_of
from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.refusals import refuse
from condor_hms.playbook.steps import PATIENT, Plan, plan, reference, step

__all__ = ["LETTERS"]

_WRITE = r"(?P<channel>text|sms|e-?mail|message)"
_DO = r"(?: and (?:that )?{they} should (?P<do>[^\0]{3,80}?))?"
_WITH = r"(?: with (?P<other>[a-z]{4,30}))?"
_STILL_ON = r"(?:still on|confirmed)"
_VISIT = r"(?:to an appointment with|to see) {clinician} (?:on )?{when} at {time} by {channel}"
_VERB = rf"(?P<verb>{CHANGE})"
_DOSE = r"(?P<value>\d+(?:\.\d+)?)(?: ?(?P<unit>mg|mcg|g))?"


def _text(*parts: Any) -> dict[str, Any]:
    """A text made of parts; see docs/plans.md."""
    return {"$text": list(parts)}


def _message(said: Said) -> Plan:
    args = {"recipient": PATIENT, "channel": said.channel(), "message": said.text("text")}
    return plan(said.search(), step("s2", "communication.send", args, after=("s1",)))


def _still_on(said: Said) -> Plan:
    day = said.coming()
    # A time that was said is that of the appointment, or a person is asked.
    which = ("byStart", f"{day}T{said.time()}") if said.has("time") else ("only",)
    found = {"patient": PATIENT, "from": day, "to": day}
    wanted = said.why("do")
    tail = f" Please {wanted}." if wanted else ""
    message = _text(
        "Your appointment on ",
        reference("s2", *which, "said"),
        " with ",
        reference("s2", *which, "with"),
        f" is confirmed.{tail}",
    )
    args = {"recipient": PATIENT, "channel": said.channel(), "message": message}
    return plan(
        said.search(),
        step("s2", "appointment.search.card", found, after=("s1",)),
        step("s3", "communication.send", args, after=("s2",)),
    )


def _dose_reason(said: Said) -> str | None:
    return f"With {said.text('other')}" if said.has("other") else said.why("why")


def _change_cancel_and_tell(said: Said) -> Plan:
    """A new dose, the end of a plan, and a letter about both."""
    update = {
        **new_dose(said),
        "reason": dose_reason(said, _dose_reason(said)),
    }
    checked = {
        "patient": PATIENT,
        "medication": said.text("drug").capitalize(),
        "dose_value": update["dose_value"],
        "dose_unit": update["dose_unit"],
    }
    message = _text(reference("s4", "forPatient"), " ", reference("s5", "forPatient"))
    cancel = {"plan": plan_of(said, "s5a"), "reason": said.why()}
    letter = {"recipient": PATIENT, "channel": said.channel(), "message": message}
    return plan(
        said.search(),
        medicine_list(),
        step("s3", "interaction.check", checked, after=("s2",)),
        step("s4", "medication.update", update, after=("s3",)),
        step("s5a", "treatment.list.card", {"patient": PATIENT}, after=("s1",)),
        # A no to the cancellation is no reason to leave the dose as it is.
        {**step("s5", "treatment.cancel", cancel, after=("s5a",)), "onDeny": "skip"},
        step("s6", "communication.send", letter, after=("s4", "s5")),
    )


def _remind(said: Said) -> Plan:
    found = {"patient": PATIENT, "from": said.today.isoformat()}
    args = {"appointment": reference("s2", which_appointment(said), "reference"), "channel": said.channel()}
    return plan(
        said.search(),
        step("s2", "appointment.search.card", found, after=("s1",)),
        step("s3", "appointment.remind", args, after=("s2",)),
    )


def _remind_of(said: Said) -> Plan:
    """Of the appointment on a day that was said."""
    day = said.coming()
    args = {"appointment": reference("s2", "only", "reference"), "channel": said.channel()}
    return plan(
        said.search(),
        step("s2", "appointment.search.card", {"patient": PATIENT, "from": day, "to": day}, after=("s1",)),
        step("s3", "appointment.remind", args, after=("s2",)),
    )


def _not_word_for_word(said: Said) -> Plan:
    raise refuse("a message goes out word for word: write it after a colon, as the patient is to read it")


def _invite(said: Said) -> Plan:
    args = {
        "patient": PATIENT,
        "practitioner": said.clinician(),
        "start": f"{said.coming()}T{said.time()}:00Z",
        "channel": said.channel(),
    }
    return plan(said.search(), step("s2", "appointment.invite", args, after=("s1",)))


LETTERS: tuple[Formula, ...] = (
    Formula.of(
        "medication.update treatment.cancel communication.send",
        _change_cancel_and_tell,
        rf"{{who}} is on {{drug}} {NOW}{_WITH} - {_VERB} it to "
        rf"{_DOSE},? (?P<often>[a-z0-9 ]{{2,30}}?), cancel {{their}} (?P<plan>[a-z][a-z -]{{2,40}}?) plan "
        rf"(?:since|because) {{why}}, and let (?:her|him|them) know by {{channel}}",
        rf"{_VERB} {{whose}} {{drug}} to {_DOSE},? (?P<often>[a-z0-9 ]{{2,30}}?)"
        rf"{_WITH}, cancel {{their}} (?P<plan>[a-z][a-z -]{{2,40}}?) plan (?:since|because) {{why}},?"
        rf" and (?:tell (?:her|him|them)|let (?:her|him|them) know) by {{channel}}",
    ),
    Formula.of(
        "communication.send",
        _still_on,
        rf"{_WRITE} {{who}} that {{their}} appointment (?:on )?{{when}}(?: at {{time}})? is {_STILL_ON}{_DO}",
        rf"let {{who}} know by {{channel}} that {{their}} appointment (?:on )?{{when}}(?: at {{time}})? is "
        rf"{_STILL_ON}{_DO}",
    ),
    Formula.of(
        "appointment.remind",
        _remind,
        r"remind {who} (?:of|about) {their} (?P<next>next )?appointment by {channel}",
        r"send {who} a reminder (?:of|about|for) {their} (?P<next>next )?appointment by {channel}",
        r"send {who} an? {channel} reminder (?:of|about|for) {their} (?P<next>next )?appointment",
        r"send {who} a reminder {channel} (?:of|about|for) {their} (?P<next>next )?appointment",
    ),
    Formula.of(
        "appointment.remind",
        _remind_of,
        r"send {who} a reminder {channel} (?:of|about|for) {when}(?:'s)? appointment",
        r"send {who} a reminder {channel} (?:of|about|for) {their} appointment on {when}",
        r"remind {who} (?:of|about) {their} appointment on {when} by {channel}",
    ),
    Formula.of(
        "appointment.invite",
        _invite,
        r"invite {who} " + _VISIT,
        r"send {who} an invitation " + _VISIT,
    ),
    Formula.of(
        "communication.send",
        _message,
        rf"{_WRITE} {{who}}: {{text}}",
        r"send {who} an? {channel} (?:saying|that says):? {text}",
        r"(?:send|write) an? {channel} to {who}: {text}",
    ),
    Formula.of(
        "communication.send",
        _not_word_for_word,
        rf"{_WRITE} {{who}} (?:that|to say) [^\0]{{3,500}}",
        r"let {who} know (?:by {channel} )?that [^\0]{3,500}",
    ),
)
