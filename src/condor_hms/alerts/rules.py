"""Alert rules as data, parsed once: `interactions.demo.json` and whatever has its form.

Rule: what is not understood is refused by name; a rule that is silently skipped is an alert that never comes.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_args

import orjson

from condor_hms.alerts.model import Severity
from condor_hms.alerts.names import is_penicillin, mentions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "AllergyRule",
    "Comparison",
    "ConditionRule",
    "DoseRule",
    "DrugSet",
    "PairRule",
    "Rules",
    "RulesRefused",
    "Verdict",
    "demo_rules",
    "parse_rules",
]

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_WHEN = re.compile(r"([a-z][a-z /-]*)\.daily_mg (>=|<=|>|<) (\d+(?:\.\d+)?)")
#: The class that is known by its stem as well as by its members.
_PENICILLINS = "@penicillin"
_NO_SOURCE = "demonstration rule, source not stated"
_NO_ACTION = "Check the dose"


class RulesRefused(ValueError):
    """the rules are not of a form that can be evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrugSet:
    """One drug, or the members of a class."""

    #: As in the data: `@nsaid` or `ticagrelor`.
    label: str
    #: Names of the drugs; `a/b` is a combination.
    members: tuple[str, ...]

    def named_in(self, names: Iterable[str]) -> frozenset[str]:
        """The members that a medicine with these names is."""
        names = tuple(names)
        found = _named(self.members, names)
        if not found and self.label == _PENICILLINS:
            return frozenset(name for name in names if is_penicillin(name))
        return found


@lru_cache(maxsize=8192)
def _named(members: tuple[str, ...], names: tuple[str, ...]) -> frozenset[str]:
    # One check asks the same classes about the same orders for rule after rule.
    return frozenset(member for member in members if any(mentions(name, member) for name in names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A number against a limit."""

    #: One of > >= < <=.
    op: str
    #: The limit.
    limit: float

    def holds(self, value: float) -> bool:
        """Whether `value op limit`."""
        return _OPERATORS[self.op](value, self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a rule says when it fires."""

    #: Id of the rule.
    rule_id: str
    #: How bad.
    severity: Severity
    #: What is wrong; empty if the data has none.
    summary: str
    #: What to do about it.
    action: str
    #: Where the rule comes from.
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRule:
    """Two drugs that do not go together."""

    #: What it says.
    verdict: Verdict
    #: One side.
    a: DrugSet
    #: The other side; of one class with `a` it must be another drug.
    b: DrugSet
    #: The drug whose daily mg decides, and the limit; None: always.
    when: tuple[DrugSet, Comparison] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AllergyRule:
    """A drug that an allergy speaks against."""

    #: What it says.
    verdict: Verdict
    #: Names of the allergen.
    allergens: tuple[str, ...]
    #: The drug.
    drug: DrugSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionRule:
    """A drug that a condition or a laboratory result speaks against."""

    #: What it says.
    verdict: Verdict
    #: The drug.
    drug: DrugSet
    #: Names of the condition; empty for a rule on a result.
    conditions: tuple[str, ...] = ()
    #: LOINC code and limit of the latest result; None for a rule on a condition.
    lab: tuple[str, Comparison] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DoseRule:
    """The most of a drug, in mg; None where there is no such limit."""

    #: What it says.
    verdict: Verdict
    #: The drug.
    drug: DrugSet
    #: At once.
    max_single_mg: float | None = None
    #: In a day.
    max_daily_mg: float | None = None
    #: In a day, once it is given regularly.
    max_maintenance_daily_mg: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A knowledge base, in the order of its data."""

    #: Version as the data names it.
    version: str
    #: Drug classes by name, without `@`.
    classes: dict[str, DrugSet]
    #: Drug and drug.
    pairs: tuple[PairRule, ...]
    #: Drug and allergy.
    allergies: tuple[AllergyRule, ...]
    #: Drug and condition or result.
    conditions: tuple[ConditionRule, ...]
    #: Dose limits.
    doses: tuple[DoseRule, ...]


@lru_cache(maxsize=1)
def demo_rules() -> Rules:
    """The 24 demonstration rules. Not a drug knowledge base, not reviewed by a pharmacist."""
    data = files("condor_hms.demo").joinpath("data/interactions.demo.json").read_bytes()
    return parse_rules(orjson.loads(data))


def parse_rules(data: dict[str, Any]) -> Rules:
    """Understand a knowledge base; raises `RulesRefused` with the id of the rule at fault."""
    classes = {
        name: DrugSet(label=f"@{name}", members=tuple(members)) for name, members in data["classes"].items()
    }
    return Rules(
        version=str(data["version"]),
        classes=classes,
        pairs=tuple(_pair(row, classes) for row in data["drug_drug"]),
        allergies=tuple(
            AllergyRule(
                verdict=_verdict(row), allergens=tuple(row["allergen"]), drug=_drug(row, row["drug"], classes)
            )
            for row in data["drug_allergy"]
        ),
        conditions=tuple(_condition(row, classes) for row in data["drug_condition"]),
        doses=tuple(_dose(row, classes) for row in data["dose_limits"]),
    )


def _verdict(row: dict[str, Any]) -> Verdict:
    if row["severity"] not in get_args(Severity):
        raise RulesRefused(f"{row['id']}: severity {row['severity']!r} is not critical, warning or info")
    return Verdict(
        rule_id=row["id"],
        severity=row["severity"],
        summary=row.get("summary", ""),
        action=row.get("action", _NO_ACTION),
        source=row.get("source", _NO_SOURCE),
    )


def _drug(row: dict[str, Any], label: str, classes: dict[str, DrugSet]) -> DrugSet:
    if not label.startswith("@"):
        return DrugSet(label=label, members=(label,))
    if label[1:] not in classes:
        raise RulesRefused(f"{row['id']}: there is no drug class {label!r}")
    return classes[label[1:]]


def _pair(row: dict[str, Any], classes: dict[str, DrugSet]) -> PairRule:
    when = None
    if "when" in row:
        match = _WHEN.fullmatch(row["when"])
        if match is None:
            raise RulesRefused(f"{row['id']}: condition {row['when']!r} is not `drug.daily_mg > number`")
        when = _drug(row, match.group(1), classes), Comparison(op=match.group(2), limit=float(match.group(3)))
    return PairRule(
        verdict=_verdict(row), a=_drug(row, row["a"], classes), b=_drug(row, row["b"], classes), when=when
    )


def _condition(row: dict[str, Any], classes: dict[str, DrugSet]) -> ConditionRule:
    lab = None
    if "lab" in row:
        test = row["lab"]
        if test["op"] not in _OPERATORS:
            raise RulesRefused(f"{row['id']}: {test['op']!r} is not one of {' '.join(_OPERATORS)}")
        lab = test["loinc"], Comparison(op=test["op"], limit=float(test["value"]))
    names = tuple(row.get("condition", ()))
    if bool(names) == (lab is not None):
        raise RulesRefused(f"{row['id']}: give either a condition or a lab")
    return ConditionRule(
        verdict=_verdict(row), drug=_drug(row, row["drug"], classes), conditions=names, lab=lab
    )


def _dose(row: dict[str, Any], classes: dict[str, DrugSet]) -> DoseRule:
    return DoseRule(
        verdict=_verdict(row),
        drug=_drug(row, row["drug"], classes),
        max_single_mg=row.get("max_single_mg"),
        max_daily_mg=row.get("max_daily_mg"),
        max_maintenance_daily_mg=row.get("max_maintenance_daily_mg"),
    )
