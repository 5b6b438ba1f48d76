"""Alerts over a snapshot of the live record: interactions, allergies, conditions and doses; pure.

Rule 1: computed from the record, never from what a model says.
Rule 2: a number that a rule needs and nobody stated makes a warning that says so, not silence.
Rule 3: the most severe first; among equals in the order of the rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from condor_hms.alerts.check_doses import dose_alerts, order_dose_alerts
from condor_hms.alerts.doses import to_mg
from condor_hms.alerts.labs import lab_number
from condor_hms.alerts.model import SEVERITIES, Alert, Evidence, MedicineOrder
from condor_hms.alerts.names import allergen_words, core_words, is_beta_lactam, is_denial, mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from condor_hms.alerts.model import Allergy, LabValue, MedicationRecord, Problem, ProposedMedication
    from condor_hms.alerts.rules import AllergyRule, ConditionRule, PairRule, Rules, Verdict

__all__ = ["check_allergy", "check_medication", "check_orders"]

#: Groups by effect or enzyme, not by substance: an allergy to one member says nothing about another.
_NOT_CROSS_REACTIVE = frozenset({"k_raising", "macrolide_strong_3a4", "anticoag"})
#: A rule whose action says so speaks against every class of them.
_BETA_LACTAM = "non-beta-lactam"
_RECORDED = "the patient's own record"
#: The proposed medicine stands as an order of its own in the checks, under this reference.
_PROPOSED = ""


def check_medication(
    record: MedicationRecord, proposed: ProposedMedication, rules: Rules, today: date
) -> tuple[Alert, ...]:
    """What speaks against ordering this medicine for this patient now; empty if no rule fires.

    Besides the proposed medicine itself, the doses of standing orders that interact with it are checked.

    Args:
        record: the live record.
        proposed: what is to be ordered; orders that it replaces no longer count.
        rules: the knowledge base.
        today: to tell how old a result is.
    """
    others = [order for order in record.orders if order.reference not in proposed.replaces]
    medicine = _as_order(proposed)
    alerts = [
        *_pair_alerts(medicine, others, rules.pairs),
        *_allergy_alerts(medicine, record.allergies, rules),
        *_condition_alerts([medicine], record, rules, today),
        *dose_alerts(medicine, proposed, others, rules.doses),
        *_partner_doses(medicine, others, rules),
        *_duplicates(medicine, others),
    ]
    return _sorted(alerts)


def check_orders(record: MedicationRecord, rules: Rules, today: date) -> tuple[Alert, ...]:
    """What speaks against the orders that stand, each rule told once."""
    alerts: list[Alert] = []
    for place, order in enumerate(record.orders):
        alerts.extend(_pair_alerts(order, record.orders[place + 1 :], rules.pairs))
        alerts.extend(_allergy_alerts(order, record.allergies, rules))
        alerts.extend(order_dose_alerts(order, rules.doses))
    alerts.extend(_condition_alerts(record.orders, record, rules, today))
    return _sorted(_merged(alerts))


def check_allergy(record: MedicationRecord, substance: str, rules: Rules) -> tuple[Alert, ...]:
    """Active orders that a newly recorded allergy to this substance speaks against, each told once."""
    alerts = [
        alert for order in record.orders if (alert := _order_against(order, substance, rules)) is not None
    ]
    return _sorted(alerts)


def _as_order(proposed: ProposedMedication) -> MedicineOrder:
    single = to_mg(proposed.dose_value, proposed.dose_unit)
    times = proposed.frequency_per_day
    return MedicineOrder(
        reference=_PROPOSED,
        name=proposed.medication,
        names=(proposed.medication,),
        status="proposed",
        single_mg=single,
        daily_mg=None if single is None or times is None else single * times,
    )


def _sorted(alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    return tuple(sorted(alerts, key=lambda alert: SEVERITIES.index(alert.severity)))


def _merged(alerts: Iterable[Alert]) -> list[Alert]:
    """One alert per rule and wording, with all the evidence."""
    merged: dict[tuple[str, str, str], Alert] = {}
    for alert in alerts:
        key = (alert.rule_id, alert.severity, alert.summary)
        before = merged.get(key)
        evidence = alert.evidence if before is None else (*before.evidence, *alert.evidence)
        merged[key] = replace(alert, evidence=tuple(dict.fromkeys(evidence)))
    return list(merged.values())


def _fire(verdict: Verdict, evidence: Iterable[Evidence]) -> Alert:
    return Alert(
        rule_id=verdict.rule_id,
        severity=verdict.severity,
        summary=verdict.summary,
        action=verdict.action,
        source=verdict.source,
        evidence=tuple(evidence),
    )


def _of_orders(orders: Iterable[MedicineOrder]) -> list[Evidence]:
    """Evidence of those that are in the record; the proposed medicine is not."""
    return [
        Evidence(reference=order.reference, name=f"{order.name} {order.dosage}".strip())
        for order in orders
        if order.reference != _PROPOSED
    ]


def _pair_alerts(
    medicine: MedicineOrder, others: Iterable[MedicineOrder], pairs: Iterable[PairRule]
) -> Iterator[Alert]:
    others = tuple(others)
    for rule in pairs:
        fired: list[Alert] = []
        for other in others:
            if _is_pair(rule, medicine, other):
                alert = _fire(rule.verdict, _of_orders((medicine, other)))
                fired.extend(_limited(rule, alert, (medicine, other)))
        yield from _merged(fired)


def _is_pair(rule: PairRule, one: MedicineOrder, other: MedicineOrder) -> bool:
    """Whether one is `a` and the other `b`, as two different drugs."""
    for left, right in ((one, other), (other, one)):
        a, b = rule.a.named_in(left.names), rule.b.named_in(right.names)
        if a and b and len(a | b) > 1:
            return True
    return False


def _limited(rule: PairRule, alert: Alert, medicines: tuple[MedicineOrder, ...]) -> Iterator[Alert]:
    """The alert if the rule's dose condition holds; a warning if the dose it needs is not known."""
    if rule.when is None:
        yield alert
        return
    drug, comparison = rule.when
    for medicine in medicines:
        if not drug.named_in(medicine.names):
            continue
        # One dose is at least what is taken on a day on which it is taken.
        least = medicine.daily_mg if medicine.daily_mg is not None else medicine.single_mg
        if least is not None and comparison.holds(least):
            yield alert
        elif medicine.daily_mg is None:
            summary = f"{alert.summary} (daily dose of {drug.label} not known: check it)"
            severity = "warning" if alert.severity == "critical" else alert.severity
            yield replace(alert, severity=severity, summary=summary)


def _allergy_alerts(medicine: MedicineOrder, allergies: Iterable[Allergy], rules: Rules) -> Iterator[Alert]:
    told: set[str] = set()
    active = [allergy for allergy in allergies if allergy.is_active]
    for rule in rules.allergies:
        against = [allergy for allergy in active if _names_allergen(rule, allergy.names)]
        if against and rule.drug.named_in(medicine.names):
            told.update(allergy.reference for allergy in against)
            yield _fire(rule.verdict, [*_of_allergies(against), *_of_orders([medicine])])
        elif against and _BETA_LACTAM in rule.verdict.action and any(map(is_beta_lactam, medicine.names)):
            told.update(allergy.reference for allergy in against)
            yield _cross_reaction(rule, medicine, against)
    for allergy in active:
        if allergy.reference in told:
            continue
        verdict = _own_verdict(medicine, allergy.names, rules)
        if verdict is not None:
            yield replace(verdict, evidence=(*_of_allergies([allergy]), *_of_orders([medicine])))


def _cross_reaction(rule: AllergyRule, medicine: MedicineOrder, against: Iterable[Allergy]) -> Alert:
    """A beta-lactam of another class, where the rule says to choose none of them."""
    return Alert(
        rule_id="own-beta-lactam",
        severity="warning",
        summary=f"{rule.verdict.summary}, and {medicine.name} is a beta-lactam too",
        action=rule.verdict.action,
        source=rule.verdict.source,
        evidence=(*_of_allergies(against), *_of_orders([medicine])),
    )


def _names_allergen(rule: AllergyRule, names: Iterable[str]) -> bool:
    return any(
        mentions(name, allergen) for name in names if not is_denial(name) for allergen in rule.allergens
    )


def _of_allergies(allergies: Iterable[Allergy]) -> list[Evidence]:
    found = []
    for allergy in allergies:
        remarks = [
            allergy.verification,
            f"criticality {allergy.criticality}" if allergy.criticality else None,
        ]
        told = ", ".join(remark for remark in remarks if remark)
        name = f"allergy to {allergy.name}" + (f" ({told})" if told else "")
        found.append(Evidence(reference=allergy.reference, name=name))
    return found


def _own_verdict(medicine: MedicineOrder, allergen_names: Iterable[str], rules: Rules) -> Alert | None:
    """The alert of an allergy to the medicine itself or to another of its class; None if it is neither."""
    allergens = [words for name in allergen_names if (words := allergen_words(name))]
    drugs = [words for name in medicine.names if (words := core_words(name))]
    if any(allergen in drug or drug in allergen for allergen in allergens for drug in drugs):
        return Alert(
            rule_id="own-allergy-same",
            severity="critical",
            summary=f"Allergy to {medicine.name} recorded",
            action="Choose another medicine",
            source=_RECORDED,
        )
    for name, members in rules.classes.items():
        of_allergy = members.named_in(allergens)
        of_drug = members.named_in(medicine.names)
        if name not in _NOT_CROSS_REACTIVE and of_allergy and of_drug:
            return Alert(
                rule_id="own-allergy-class",
                severity="warning",
                summary=f"{medicine.name} is of the same class ({name}) as {', '.join(sorted(of_allergy))}",
                action="Check what the reaction was; choose another class",
                source=f"{_RECORDED}; classes of the rules {rules.version}",
            )
    return None


def _order_against(order: MedicineOrder, substance: str, rules: Rules) -> Alert | None:
    """The alert that a new allergy to the substance makes of this order; rules before our own."""
    for rule in rules.allergies:
        if _names_allergen(rule, (substance,)) and rule.drug.named_in(order.names):
            return _fire(rule.verdict, _of_orders([order]))
    alert = _own_verdict(order, (substance,), rules)
    if alert is None:
        return None
    summary = f"On {order.name} now: {alert.summary[:1].lower()}{alert.summary[1:]}"
    if alert.rule_id == "own-allergy-same":
        summary = f"On {order.name} now: it is the medicine of the allergy"
    action = "Review the order: stop it or say why it goes on"
    return replace(alert, summary=summary, action=action, evidence=tuple(_of_orders([order])))


def _condition_alerts(
    medicines: Iterable[MedicineOrder], record: MedicationRecord, rules: Rules, today: date
) -> Iterator[Alert]:
    for medicine in medicines:
        for rule in rules.conditions:
            if rule.drug.named_in(medicine.names):
                reasons = [*_conditions_met(rule, record.problems), *_result_met(rule, record, today)]
                if reasons:
                    yield _fire(rule.verdict, [*reasons, *_of_orders([medicine])])


def _conditions_met(rule: ConditionRule, problems: Iterable[Problem]) -> Iterator[Evidence]:
    for problem in problems:
        if any(mentions(name, condition) for name in problem.names for condition in rule.conditions):
            yield Evidence(reference=problem.reference, name=problem.name)


def _result_met(rule: ConditionRule, record: MedicationRecord, today: date) -> Iterator[Evidence]:
    if rule.lab is None:
        return
    loinc, comparison = rule.lab
    result = record.labs.get(loinc)
    if result is not None and comparison.holds(result.value):
        yield Evidence(reference=result.reference, name=_result_text(result, today))


def _result_text(result: LabValue, today: date) -> str:
    days = (today - result.taken_on).days
    value = lab_number(result.loinc, result.unit, result.value)
    return f"{result.name} {value} {result.unit} on {result.taken_on} ({days} days ago)"


def _partner_doses(medicine: MedicineOrder, others: Iterable[MedicineOrder], rules: Rules) -> Iterator[Alert]:
    """Dose alerts of standing orders that share a rule with the medicine: whoever looks at one sees both."""
    for other in others:
        if any(_is_pair(rule, medicine, other) for rule in rules.pairs):
            yield from (replace(alert, stands=True) for alert in order_dose_alerts(other, rules.doses))


def _duplicates(medicine: MedicineOrder, others: Iterable[MedicineOrder]) -> Iterator[Alert]:
    wanted = core_words(medicine.name)
    same = [order for order in others if wanted and any(core_words(name) == wanted for name in order.names)]
    if same:
        yield Alert(
            rule_id="own-duplicate",
            severity="info",
            summary=f"There is an active order for {medicine.name} already",
            action="Change the order that stands, or say why a second one is needed",
            source=_RECORDED,
            evidence=tuple(_of_orders(same)),
        )
