"""What is to be done: the public plan, parsed once into types that are valid by construction."""

from condor.core.plan.model import ApprovalStep, NestedPlan, Plan, Step, ToolStep
from condor.core.plan.parse import parse_plan
from condor.core.plan.reference import Reference, find_references, resolve_references

__all__ = [
    "ApprovalStep",
    "NestedPlan",
    "Plan",
    "Reference",
    "Step",
    "ToolStep",
    "find_references",
    "parse_plan",
    "resolve_references",
]
