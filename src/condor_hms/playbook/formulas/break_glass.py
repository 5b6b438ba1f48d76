"""Sentences about emergency reads and their reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.steps import PATIENT, plan, step

if TYPE_CHECKING:
    from condor_hms.playbook.steps import Plan

__all__ = ["BREAK_GLASS"]

_FINDINGS = {r"justified": "justified", r"not justified|unjustified": "not-justified"}
_OPEN = r"(?:break-?glass|emergency) (?:reads?|reviews?|accesses)"


def _break(said: Said) -> Plan:
    args = {"patient": PATIENT, "reason": said.why()}
    return plan(said.search(), step("s2", "patient.breakglass", args, after=("s1",)))


def _list(said: Said) -> Plan:
    return plan(step("s1", "breakglass.list", {}))


def _close(said: Said) -> Plan:
    finding = said.code("finding", _FINDINGS)
    args = {"review": said.reference_to("Task"), "finding": finding, "comment": said.why()}
    return plan(step("s1", "breakglass.close", args))


BREAK_GLASS = (
    Formula.of(
        "patient.breakglass",
        _break,
        r"break (?:the )?glass (?:for|on) {who}(?:{because}{why})?",
        r"emergency (?:access|read)(?: to| of| for)? {whose} record(?:{because}{why})?",
        r"emergency (?:access|read)(?: to| of| for)? {who}(?:{because}{why})?",
        does=False,
    ),
    Formula.of(
        "breakglass.list",
        _list,
        rf"{{show}} (?:the )?(?:open |unreviewed )?{_OPEN}(?: to review| that wait)?",
        rf"(?:which )?{_OPEN} (?:wait|are waiting)(?: for (?:a )?review)?",
        rf"which {_OPEN} (?:have not(?: yet)? been|haven't been|have yet to be|are not(?: yet)?) "
        r"(?:reviewed|closed)",
        does=False,
    ),
    Formula.of(
        "breakglass.close",
        _close,
        r"close (?:the )?(?:review )?{ref} as (?P<finding>justified|not justified|unjustified)"
        r"(?:{because}{why})?",
        r"{ref} was (?P<finding>justified|not justified|unjustified)(?:{because}{why})?",
    ),
)
