"""Dose limits of one medicine, proposed or standing; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_hms.alerts.model import Alert, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from condor_hms.alerts.model import MedicineOrder, ProposedMedication
    from condor_hms.alerts.rules import DoseRule

__all__ = ["dose_alerts", "order_dose_alerts"]

#: Relative slack of a limit: 3 x 0.1 g is not above 300 mg.
_SLACK = 1 + 1e-9


def dose_alerts(
    medicine: MedicineOrder,
    proposed: ProposedMedication,
    others: Sequence[MedicineOrder],
    rules: Iterable[DoseRule],
) -> Iterator[Alert]:
    """Limits that a proposed dose exceeds, standing orders of the same drug added to its day."""
    for rule in rules:
        if not rule.drug.named_in(medicine.names):
            continue
        same = [order for order in others if rule.drug.named_in(order.names) and order.daily_mg is not None]
        daily = medicine.daily_mg
        if daily is not None:
            daily += sum(order.daily_mg or 0.0 for order in same)
        alert = _exceeded(rule, medicine.single_mg, daily)
        if alert is not None:
            yield _alert(rule, alert, same)
        elif proposed.dose_value is not None and medicine.single_mg is None:
            yield _not_checked(rule, medicine, proposed)


def order_dose_alerts(order: MedicineOrder, rules: Iterable[DoseRule]) -> Iterator[Alert]:
    """Limits that a standing order exceeds by itself."""
    for rule in rules:
        if rule.drug.named_in(order.names):
            excess = _exceeded(rule, order.single_mg, order.daily_mg)
            if excess is not None:
                yield _alert(rule, excess, [order])


def _exceeded(rule: DoseRule, single_mg: float | None, daily_mg: float | None) -> str | None:
    """What is exceeded, in words; None if nothing known is."""
    for given, limit, words in (
        (single_mg, rule.max_single_mg, "at once"),
        (daily_mg, rule.max_daily_mg, "a day"),
        (daily_mg, rule.max_maintenance_daily_mg, "a day as maintenance"),
        # A single dose above the limit of a day exceeds it however often it is taken.
        (single_mg, rule.max_daily_mg, "a day"),
    ):
        if given is not None and limit is not None and given > limit * _SLACK:
            return f"{given:g} mg {words} is above {limit:g} mg"
    return None


def _alert(rule: DoseRule, excess: str, orders: Iterable[MedicineOrder]) -> Alert:
    about = rule.drug.label.removeprefix("@").capitalize()
    summary = rule.verdict.summary or f"{about} above its limit"
    return Alert(
        rule_id=rule.verdict.rule_id,
        severity=rule.verdict.severity,
        summary=f"{summary}: {excess}",
        action=rule.verdict.action,
        source=rule.verdict.source,
        evidence=tuple(
            Evidence(reference=order.reference, name=f"{order.name} {order.dosage}".strip())
            for order in orders
        ),
    )


def _not_checked(rule: DoseRule, medicine: MedicineOrder, proposed: ProposedMedication) -> Alert:
    unit = proposed.dose_unit or "no unit"
    return Alert(
        rule_id=rule.verdict.rule_id,
        severity="info",
        summary=f"The dose limit of {medicine.name} was not checked: {unit} is not a weight",
        action="Check the dose by the strength of the product",
        source=rule.verdict.source,
    )
