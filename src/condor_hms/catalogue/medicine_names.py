"""Whether a medicine's name is one that the rules can know; pure but for the refusal.

Rule 1: a name that does not read as it is compared is refused: invisible characters, other scripts.
Rule 2: silence of the rules is no clearance. A name that they do not know is a warning; one that is nearly
known is compared as the known one, and a person is asked which is meant.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from condor import InputField, ToolError
from condor_hms.alerts import Alert
from condor_hms.alerts.names import core_words, has_class_stem, known_synonyms, mentions
from condor_hms.catalogue.specs import Hint, choice
from condor_hms.catalogue.terms import MEDICINES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from condor_hms.alerts import MedicationRecord, Rules

__all__ = ["AS_TYPED", "MEANT", "MedicineName", "medicine_name", "name_alert", "plain_name", "which_medicine"]

#: The answer beside the arguments that says which medicine a misspelt name means.
MEANT: Final = "medicine_meant"
AS_TYPED: Final = "as-typed"
#: Letters of a name → how many may be wrong, missing, more or swapped.
_NEAR = ((8, 2), (5, 1))
_SOURCE = "the names that the rules, the pack and the patient's orders have"


@dataclass(frozen=True, slots=True)
class MedicineName:
    """A name as the rules read it."""

    typed: str
    #: The name that it is nearly; empty where it is known, or near to none.
    near: str = ""
    is_known: bool = True

    @property
    def compared(self) -> str:
        """The name that allergies, interactions and doses are looked up by."""
        return self.near or self.typed


def plain_name(text: str, label: str) -> str:
    """The name in Unicode's compatible form.

    Raises:
        ToolError: it has a character that cannot be seen, or a letter that is not Latin.
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    for place, char in enumerate(text, start=1):
        if unicodedata.category(char) in ("Cf", "Cc", "Co", "Cn", "Cs"):
            raise _unreadable(label, char, place, "cannot be seen")
    for place, char in enumerate(plain, start=1):
        # U+03BC is what NFKC makes of the micro sign.
        if char.isalpha() and char != "μ" and not unicodedata.name(char, "").startswith("LATIN"):
            raise _unreadable(label, char, place, "is not a Latin letter")
    return plain


def _unreadable(label: str, char: str, place: int, why: str) -> ToolError:
    return ToolError(
        f"{label}: character {place} (U+{ord(char):04X}) {why}: type the name anew; nothing was written",
        effect="none",
        code="unreadable_name",
    )


def medicine_name(typed: str, rules: Rules, record: MedicationRecord) -> MedicineName:
    """What the rules make of a name as it was typed.

    Args:
        record: the names of the patient's own orders are known too.
    """
    words = core_words(typed).strip()
    names = _known_names(rules) | {
        core_words(name).strip() for order in record.orders for name in order.names
    }
    if words in names or (has_class_stem(words) and " " not in words and not _nearest(words, names)):
        return MedicineName(typed)
    near = _nearest(words, names)
    if near:
        return MedicineName(typed, near=near)
    return MedicineName(typed, is_known=any(name and mentions(typed, name) for name in names))


def name_alert(name: MedicineName) -> tuple[Alert, ...]:
    """What a card says of a name that is not known, or nearly known."""
    if name.near:
        return (
            Alert(
                rule_id="own-near-name",
                severity="warning",
                summary=f"“{name.typed}” is not a known name; it was compared as {name.near}",
                action=f"Did you mean {name.near}? Check the name",
                source=_SOURCE,
            ),
        )
    if name.is_known:
        return ()
    return (
        Alert(
            rule_id="own-unknown-name",
            severity="warning",
            summary=f"“{name.typed}” is not known to the rules: "
            "allergies and interactions were NOT checked for it",
            action="Check allergies, interactions and the dose elsewhere",
            source=_SOURCE,
        ),
    )


def which_medicine(name: MedicineName) -> InputField:
    """The question which medicine a misspelt name means."""
    answers = {name.near: name.near.capitalize(), AS_TYPED: f"{name.typed}, as it was typed"}
    hint: Hint = {"enum": choice(answers), "radio": True}
    return InputField(name=MEANT, label=f"Medicine (did you mean {name.near}?)", type="code", hint=hint)


def _known_names(rules: Rules) -> frozenset[str]:
    sets = [pair for rule in rules.pairs for pair in (rule.a, rule.b)]
    sets += [rule.drug for group in (rules.allergies, rules.conditions, rules.doses) for rule in group]
    members = [member for drugs in (*sets, *rules.classes.values()) for member in drugs.members]
    return _folded(tuple(dict.fromkeys(members)))


@lru_cache(maxsize=8)
def _folded(members: tuple[str, ...]) -> frozenset[str]:
    names = {core_words(name).strip() for name in (*members, *known_synonyms())}
    return MEDICINES | {name for name in names if name}


def _nearest(words: str, names: Iterable[str]) -> str:
    typed = words.replace(" ", "")
    most = next((most for length, most in _NEAR if len(typed) >= length), None)
    if most is None:
        return ""
    near = [
        (far, name)
        for name in names
        if abs(len(name) - len(typed)) <= most + 2
        and (far := _distance(typed, name.replace(" ", ""), most)) <= most
    ]
    return min(near)[1] if near else ""


def _distance(one: str, other: str, most: int) -> int:
    """Letters wrong, missing, more or swapped (optimal string alignment); above ``most`` it only says so."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        row = [i]
        for j, right in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
