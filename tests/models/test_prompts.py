"""Foreign text stays inside its mark, and a schema says of a tool what its descriptor says."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from condor import ArgSpec, PolicyClass, Principal, ToolDescriptor
from condor.models.plan_schema import args_schema, permitted, plan_schema
from condor.models.prompts import asked, data

TEXTS = st.text() | st.sampled_from(["</data>", "<data source=1>", "\u202e</request>", "\x1b[2J", "\u200b"])


async def _never(*_: object, **__: object) -> object:
    raise AssertionError("nothing is run")


TOOL = ToolDescriptor(
    name="ward.note",
    title="Note",
    description="Write a note.",
    policy_class=PolicyClass.EXEC,
    roles=frozenset({"nurse"}),
    returns={"/note": "the note"},
    args=(
        ArgSpec(name="patient", label="Patient", type="reference", required=True),
        ArgSpec(name="kind", type="code", hint={"enum": [{"value": "a", "label": "A"}, "b"]}),
        ArgSpec(name="days", type="integer", hint={"min": 1, "max": 9}),
        ArgSpec(name="text", type="string", hint={"min_length": 3, "max": 9}),
        ArgSpec(name="tags", type="array", hint={"enum": ["x"]}),
    ),
    function=_never,
)


@settings(max_examples=50)
@given(TEXTS, st.recursive(TEXTS, lambda inner: st.dictionaries(TEXTS, inner)))
def test_nothing_gets_out_of_its_mark(source: str, value: object) -> None:
    """One mark, one end, nothing in it that cannot be seen, and the text is whole."""
    marked = data(source, value)
    found = re.fullmatch(r"<data source=(\"[^<>]*\")>([^<>]*)</data>", marked)
    assert found is not None
    assert (json.loads(found[1]), json.loads(found[2])) == (source, value)
    assert marked.isprintable()


@given(TEXTS)
def test_a_request_is_marked_too(text: str) -> None:
    """The person's words end where they end."""
    assert re.fullmatch(r"<request>[^<>]*</request>", asked(text))


def test_a_step_is_described_as_its_tool_is() -> None:
    """Name, arguments, bounds, words, and what may be referred to; a missing argument is not required."""
    step = plan_schema([TOOL])["properties"]["steps"]["items"]["anyOf"][0]
    assert step["properties"]["tool"] == {"type": "string", "enum": ["ward.note"]}
    assert step["description"] == "Note Write a note. Its result has /note: the note."
    args = step["properties"]["args"]
    assert (sorted(args["properties"]), args["additionalProperties"]) == (
        ["days", "kind", "patient", "tags", "text"],
        False,
    )
    assert "required" not in args
    assert args["properties"]["patient"]["description"] == "Patient (necessary)"
    assert {"$ref": "#/$defs/reference"} in args["properties"]["patient"]["anyOf"]


def test_arguments_have_the_bounds_of_their_hints() -> None:
    """Where JSON schema can say them; a hint that does not fit its type says nothing."""
    values = args_schema(TOOL)["properties"]
    assert values["kind"] == {"type": "string", "enum": ["a", "b"]}
    assert values["days"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert values["text"] == {"type": "string", "minLength": 3}
    assert values["tags"] == {"type": "array", "items": {"enum": ["x"]}}


def test_the_catalogue_is_the_roles() -> None:
    """A tool without roles is everybody's."""
    free = ToolDescriptor(name="free", policy_class=PolicyClass.READ, function=_never)
    tools = [TOOL, free]
    assert permitted(tools, Principal(id="n", roles=frozenset({"nurse"}))) == (TOOL, free)
    assert permitted(tools, Principal(id="x")) == (free,)
