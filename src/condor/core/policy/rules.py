"""The policy matrix, as data: one row per rule id, first match wins.

Law: ``read`` is the only class that never asks, ``mutate`` the only one with a conditional
answer, and anything the table does not name asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from condor.core.policy.classes import HitlTier, PolicyClass

Decision = Literal["allow", "require-approval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One row of the matrix; None in a column matches anything."""

    rule_id: str
    policy_class: PolicyClass | None
    #: Effective tier, after promotions.
    tier: HitlTier | None
    #: True: supervised dispatch; False: autonomous dispatch.
    supervised: bool | None
    decision: Decision
    #: One line for a person who asks why.
    why: str


POLICY_RULES: tuple[PolicyRule, ...] = (
    PolicyRule(
        rule_id="read.allow",
        policy_class=PolicyClass.READ,
        tier=None,
        supervised=None,
        decision="allow",
        why="reading changes nothing",
    ),
    PolicyRule(
        rule_id="mutate.high-tier-always-approval",
        policy_class=PolicyClass.MUTATE,
        tier=HitlTier.HIGH,
        supervised=None,
        decision="require-approval",
        why="a high-tier record write always waits for a person",
    ),
    PolicyRule(
        rule_id="mutate.low-tier-autonomous-allow",
        policy_class=PolicyClass.MUTATE,
        tier=HitlTier.LOW,
        supervised=False,
        decision="allow",
        why="the person who typed the request authorises a routine write",
    ),
    PolicyRule(
        rule_id="mutate.low-tier-supervised-approval",
        policy_class=PolicyClass.MUTATE,
        tier=HitlTier.LOW,
        supervised=True,
        decision="require-approval",
        why="under supervision every record write waits for a person",
    ),
    PolicyRule(
        rule_id="exec.always-approval",
        policy_class=PolicyClass.EXEC,
        tier=None,
        supervised=None,
        decision="require-approval",
        why="running something always waits for a person",
    ),
    PolicyRule(
        rule_id="comms.always-approval",
        policy_class=PolicyClass.COMMS,
        tier=None,
        supervised=None,
        decision="require-approval",
        why="a message to a person always waits for a person",
    ),
    PolicyRule(
        rule_id="unknown.fail-closed",
        policy_class=None,
        tier=None,
        supervised=None,
        decision="require-approval",
        why="an unknown effect class fails closed",
    ),
)
