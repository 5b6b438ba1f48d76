"""MAY THIS TOOL CALL RUN WITHOUT A HUMAN?

One pure question with one answer. ``evaluate_tool_policy`` looks the verdict up in
``POLICY_RULES``, a literal table; nothing else in Condor decides it, and nothing in a call's
arguments can set class, tier, autonomy or approval.
"""

from condor.core.policy.classes import (
    DESTRUCTIVE_OPS,
    Autonomy,
    HitlTier,
    PolicyClass,
    is_destructive_op,
    is_supervised,
)
from condor.core.policy.content import destructive_content
from condor.core.policy.descriptor import ArgSpec, Effect, ToolDescriptor
from condor.core.policy.resolve import effective_tier, policy_call, resolve_op, resolve_policy_class
from condor.core.policy.rules import POLICY_RULES, Decision, PolicyRule
from condor.core.policy.verdict import (
    PolicyCall,
    PolicyContext,
    PolicyVerdict,
    Promotion,
    evaluate_by_rules,
    evaluate_tool_policy,
)

__all__ = [
    "DESTRUCTIVE_OPS",
    "POLICY_RULES",
    "ArgSpec",
    "Autonomy",
    "Decision",
    "Effect",
    "HitlTier",
    "PolicyCall",
    "PolicyClass",
    "PolicyContext",
    "PolicyRule",
    "PolicyVerdict",
    "Promotion",
    "ToolDescriptor",
    "destructive_content",
    "effective_tier",
    "evaluate_by_rules",
    "evaluate_tool_policy",
    "is_destructive_op",
    "is_supervised",
    "policy_call",
    "resolve_op",
    "resolve_policy_class",
]
