"""The form of an approval: properties exactly ``approved`` and ``reason``.

Law 1: this module imports nothing (mission: approval-resume-schema.ts:1-12).
Law 2: no default, no approver in it: who approved is the signed-in principal, never the body.
"""

#: Longest reason, in characters: a paragraph.
REASON_CHARS_MAX = 2000


def approval_resume_schema() -> dict[str, object]:
    """JSON Schema of an approval answer, for forms. Only ``approved is True`` ever runs a tool."""
    return {
        "type": "object",
        "properties": {
            "approved": {"type": "boolean", "title": "Approve"},
            "reason": {"type": "string", "title": "Reason", "maxLength": REASON_CHARS_MAX},
        },
        "required": ["approved"],
        "additionalProperties": False,
    }


def is_approval_schema(schema: object) -> bool:
    """The console's detector (mission: ``isApprovalSchema``): ``approved``, beside it at most ``reason``."""
    if not isinstance(schema, dict):
        return False
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return False
    return "approved" in properties and all(key in ("approved", "reason") for key in properties)
