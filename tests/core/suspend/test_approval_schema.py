"""The approval form: exactly two properties, no default, and a module that imports nothing."""

from __future__ import annotations

import ast
import inspect

import pytest

from condor.core.suspend import approval_resume_schema, approval_schema, is_approval_schema, resume_schema
from condor.core.suspend.reason import ReasonCode


def test_the_module_imports_nothing() -> None:
    """The contract stays testable without anything else (mission: approval-resume-schema.ts:1-12)."""
    tree = ast.parse(inspect.getsource(approval_schema))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "__import__"]


def test_the_properties_are_exactly_two() -> None:
    """One key more, such as an approver, and the console's detector would not draw the card."""
    schema = approval_resume_schema()
    assert schema == {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean", "title": "Approve"},
            "reason": {"type": "string", "title": "Reason", "maxLength": 2000},
        },
        "required": ["approved"],
        "additionalProperties": False,
    }
    assert "default" not in repr(schema)


def test_our_schema_is_an_approval_schema() -> None:
    """What we send is what the console recognises; a reconciliation is not taken for it."""
    assert is_approval_schema(approval_resume_schema())
    assert is_approval_schema(resume_schema(ReasonCode.APPROVAL))
    assert not is_approval_schema(resume_schema(ReasonCode.RECONCILE))


@pytest.mark.parametrize(
    ("expected", "schema"),
    [
        (True, {"properties": {"approved": {}}}),
        (True, {"properties": {"reason": {}, "approved": {}}}),
        (False, {"properties": {"approved": {}, "approverId": {}}}),
        (False, {"properties": {"reason": {}}}),
        (False, {"properties": {}}),
        (False, {"properties": ["approved"]}),
        (False, {}),
        (False, None),
        (False, "approved"),
    ],
)
def test_the_detector(expected: bool, schema: object) -> None:
    """``approved`` there, and beside it nothing but ``reason``."""
    assert is_approval_schema(schema) is expected


def test_a_caller_cannot_change_the_next_card() -> None:
    """Each card has a schema of its own."""
    first = approval_resume_schema()
    first["properties"] = {}
    assert is_approval_schema(approval_resume_schema())
