"""Sentences about one record that is named by its reference, ``Invoice/inv-5002``.

Law: the type of the reference decides the tool. A verb that the type does not know is refused, and nothing is
planned for another tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor_hms.playbook.formulas.sentence import Formula, Said
from condor_hms.playbook.refusals import refuse_part
from condor_hms.playbook.steps import Plan, plan, step

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NAMED"]

#: What is done instead with what cannot be voided.
_NOT_VOIDED = {
    "MedicationRequest": "a medicine is stopped: say “Stop Helen Coleman's celecoxib because …”",
    "ServiceRequest": "an order is cancelled: say “Cancel ServiceRequest/… because …”",
    "DocumentReference": "a document is archived: say “Archive DocumentReference/… because …”",
}


def _on(tool: str, arg: str, resource_type: str, **args: Any) -> Callable[[Said], Plan]:
    def build(said: Said) -> Plan:
        given = {arg: said.reference_to(resource_type), **args}
        return plan(step("s1", tool, given | ({"reason": said.why()} if said.has("why") else {})))

    return build


def _void(said: Said) -> Plan:
    kind = said.text("ref").partition("/")[0]
    if kind == "Invoice":
        return _on("billing.invoice.update", "invoice", kind, action="void")(said)
    if kind == "Observation":
        return _on("vitals.correct", "observation", kind, action="void")(said)
    raise refuse_part(said.text("ref"), _NOT_VOIDED.get(kind, "only a reading or an invoice can be voided"))


def _correct(said: Said) -> Plan:
    return _on("vitals.correct", "observation", "Observation", action="amend", value=said.number("value"))(
        said
    )


def _sign(said: Said) -> Plan:
    meaning = said.signing()
    return _on("document.sign", "document", "DocumentReference", **({"meaning": meaning} if meaning else {}))(
        said
    )


_WHY = r"(?:{because}{why})?"

NAMED: tuple[Formula, ...] = (
    Formula.of(
        "vitals.correct billing.invoice.update",
        _void,
        rf"void (?:the )?(?:reading |observation |invoice )?{{ref}}{_WHY}",
    ),
    Formula.of(
        "vitals.correct",
        _correct,
        rf"correct (?:the )?(?:reading |observation )?{{ref}} to (?P<value>\d+(?:\.\d+)?){_WHY}",
    ),
    Formula.of(
        "billing.invoice.update",
        _on("billing.invoice.update", "invoice", "Invoice", action="issue"),
        r"issue (?:the )?(?:draft )?(?:invoice )?{ref}",
    ),
    Formula.of(
        "order.cancel",
        _on("order.cancel", "order", "ServiceRequest"),
        rf"cancel (?:the )?(?:order )?{{ref}}{_WHY}",
    ),
    Formula.of(
        "document.archive",
        _on("document.archive", "document", "DocumentReference"),
        rf"archive (?:the )?(?:document )?{{ref}}{_WHY}",
    ),
    Formula.of("document.sign", _sign, r"sign (?:the )?(?:document )?{ref}{meaning}"),
    Formula.of(
        "document.read",
        _on("document.read", "document", "DocumentReference"),
        r"(?:open|read|show)(?: me)? (?:the )?(?:document )?{ref}",
        does=False,
    ),
)
