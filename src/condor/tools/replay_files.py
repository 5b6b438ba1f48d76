"""What a replay reads: recorded calls, a matrix and descriptors, each in the form in which commands print it.

Law: a line or a row that cannot be read is refused with its place; nothing is left out in silence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from condor.core.errors import RefusedInput, RegistrationRefused, show
from condor.core.ids import kind_of
from condor.core.policy import HitlTier, PolicyClass, PolicyRule, ToolDescriptor
from condor.core.policy.rules import Decision
from condor.ports.encoding import read_strict_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from condor.core.ids import Json

#: The rows of a policy, in the order in which they are asked.
Matrix: TypeAlias = "Sequence[PolicyRule]"

DECISIONS: Final = get_args(Decision)
_DISPATCHES: Final[Mapping[object, bool | None]] = {
    None: None,
    "autonomous": False,
    "guarded, ambient": True,
    "guarded": True,
    "ambient": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call as it was judged."""

    tool: str
    op: str | None = None
    #: None: erased.
    args: Mapping[str, Json] | None = None
    autonomy: str
    decision: str
    rule_id: str = ""
    policy_class: str | None = None
    #: As it was declared.
    hitl_tier: str | None = None
    effective_tier: str | None = None
    promotions: tuple[str, ...] = ()
    #: Who might answer; None where nobody was asked, or it was not recorded.
    approvers: frozenset[str] | None = None
    run_id: str = ""
    step_id: str = ""

    def to_json(self) -> dict[str, Json]:
        """One line of a file of recorded calls."""
        line: dict[str, Json] = {
            "runId": self.run_id,
            "stepId": self.step_id,
            "tool": self.tool,
            "op": self.op,
            "args": dict(self.args) if self.args is not None else None,
            "autonomy": self.autonomy,
            "decision": self.decision,
            "ruleId": self.rule_id,
            "policyClass": self.policy_class,
            "hitlTier": self.hitl_tier,
            "effectiveTier": self.effective_tier,
            "promotions": list(self.promotions),
        }
        if self.approvers is not None:
            line["approverRoles"] = sorted(self.approvers)
        return line


_TEXTS: Final = ("op", "ruleId", "policyClass", "hitlTier", "effectiveTier", "runId", "stepId")


def calls_from_lines(lines: Iterable[bytes], what: str) -> Iterator[RecordedCall]:
    """Recorded calls, one JSON object a line.

    Raises:
        RefusedInput: with the number of the line.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{what}, line {number}"
        yield _call(read_strict_json(line, where), where)


def _call(found: object, where: str) -> RecordedCall:
    if not isinstance(found, dict):
        raise RefusedInput(f"{where} is {kind_of(found)}; write an object")
    for key in ("tool", "autonomy", "decision"):
        if not isinstance(found.get(key), str):
            raise RefusedInput(f"{where}: {key} is {kind_of(found.get(key))}; write a string")
    if found["decision"] not in DECISIONS:
        raise RefusedInput(f"{where}: decision is {show(found['decision'])}; take {' or '.join(DECISIONS)}")
    args = found.get("args")
    if args is not None and not isinstance(args, dict):
        raise RefusedInput(f"{where}: args is {kind_of(args)}; write an object, or null where it was erased")
    for key in _TEXTS:
        if found.get(key) is not None and not isinstance(found[key], str):
            raise RefusedInput(f"{where}: {key} is {kind_of(found[key])}; write a string")
    approvers = found.get("approverRoles")
    return RecordedCall(
        tool=found["tool"],
        op=found.get("op"),
        args=args,
        autonomy=found["autonomy"],
        decision=found["decision"],
        rule_id=found.get("ruleId") or "",
        policy_class=found.get("policyClass"),
        hitl_tier=found.get("hitlTier"),
        effective_tier=found.get("effectiveTier"),
        promotions=tuple(_words(found.get("promotions") or [], f"{where}: promotions")),
        approvers=None if approvers is None else frozenset(_words(approvers, f"{where}: approverRoles")),
        run_id=found.get("runId") or "",
        step_id=found.get("stepId") or "",
    )


def rules_from_json(found: object, what: str) -> Matrix:
    """A matrix as `condor policy matrix --json` prints it.

    Raises:
        RefusedInput: with the number of the row.
    """
    return [_rule(row, f"{what}, row {number}") for number, row in enumerate(_rows(found, what), 1)]


def _rule(row: object, where: str) -> PolicyRule:
    if not isinstance(row, dict) or not isinstance(row.get("ruleId"), str):
        raise RefusedInput(f"{where} names no ruleId; take the rows of `condor policy matrix --json`")
    if row.get("decision") not in DECISIONS:
        raise RefusedInput(f"{where}: decision is {show(row.get('decision'))}; take {' or '.join(DECISIONS)}")
    dispatch = row.get("dispatch")
    if not isinstance(dispatch, str | None) or dispatch not in _DISPATCHES:
        raise RefusedInput(
            f"{where}: dispatch is {show(dispatch)}; take autonomous, `guarded, ambient`, or null for any"
        )
    return PolicyRule(
        rule_id=row["ruleId"],
        policy_class=_word_of(PolicyClass, row.get("policyClass"), f"{where}: policyClass"),
        tier=_word_of(HitlTier, row.get("effectiveTier"), f"{where}: effectiveTier"),
        supervised=_DISPATCHES[dispatch],
        decision=row["decision"],
        why=str(row.get("why") or ""),
    )


def tools_from_json(
    found: object, what: str, installed: Iterable[ToolDescriptor]
) -> Sequence[ToolDescriptor]:
    """Descriptors as `condor tools list --json` prints them; hooks of their arguments are the installed ones.

    Raises:
        RefusedInput: with the number of the row.
    """
    by_name = {tool.name: tool for tool in installed}
    return [_tool(row, f"{what}, row {number}", by_name) for number, row in enumerate(_rows(found, what), 1)]


def _tool(row: object, where: str, installed: Mapping[str, ToolDescriptor]) -> ToolDescriptor:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        raise RefusedInput(f"{where} has no name; take the rows of `condor tools list --json`")
    given: dict[str, Any] = {}
    if "policyClass" in row:
        given["policy_class"] = _word_of(PolicyClass, row["policyClass"], f"{where}: policyClass")
    if "hitlTier" in row:
        given["hitl_tier"] = _word_of(HitlTier, row["hitlTier"], f"{where}: hitlTier")
    if "opArg" in row:
        given["op_arg"] = row["opArg"]
    for key, name in (("ops", "ops"), ("roles", "roles"), ("approverRoles", "approver_roles")):
        if key in row:
            given[name] = frozenset(_words(row[key], f"{where}: {key}"))
    if given.get("policy_class") is PolicyClass.MUTATE and given.get("hitl_tier", True) is None:
        # How a tool is listed that declares itself by ``metadata.mutating`` alone.
        given |= {"policy_class": None, "metadata": {"mutating": True}}
    try:
        base = installed.get(row["name"])
        return replace(base, **given) if base is not None else ToolDescriptor(name=row["name"], **given)
    except (RegistrationRefused, TypeError) as refusal:
        raise RefusedInput(f"{where}: {refusal}") from None


def _rows(found: object, what: str) -> list[object]:
    if not isinstance(found, list):
        raise RefusedInput(f"{what} is {kind_of(found)}; write an array of rows")
    return found


def _words(found: object, where: str) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise RefusedInput(f"{where} is {kind_of(found)}; write an array of strings")
    return found


def _word_of(words: Any, found: object, where: str) -> Any:
    if found is None:
        return None
    if not isinstance(found, str) or found not in [str(word) for word in words]:
        raise RefusedInput(f"{where} is {show(found)}; take {', '.join(words)}, or null")
    return words(found)


__all__ = ["Matrix", "RecordedCall", "calls_from_lines", "rules_from_json", "tools_from_json"]
