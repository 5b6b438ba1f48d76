"""The post-tool stage: its three rules, the order of its processors, and what they do."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.core.observers.post_tool import PostToolContext, ToolOutput, run_post_tool_stage
from condor.core.observers.processors import POST_TOOL_PROCESSORS, CardBuffering, OutputBounding, bounding
from tests.core.strategies import json_values

STAGE = Path(bounding.__file__).parents[1]


def _context(value: object = None, *, draws_card: bool = False, most: int = 1_000) -> PostToolContext:
    size = len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    return PostToolContext(
        run_id="run", step_id="s1", tool="t", status="succeeded", draws_card=draws_card, size_bytes=size,
        shown_bytes_max=most,
    )  # fmt: skip


class Throwing:
    name = "throwing"

    def applies(self, _: PostToolContext) -> bool:
        return True

    def process(self, output: ToolOutput, _: PostToolContext) -> ToolOutput:
        grasped: Any = output.shown
        grasped["patient"] = "someone else"
        raise RuntimeError("no")


class Rubbish:
    name = "rubbish"

    def applies(self, _: PostToolContext) -> bool:
        return True

    def process(self, output: ToolOutput, _: PostToolContext) -> ToolOutput:
        return output.shown  # type: ignore[return-value]


@pytest.mark.parametrize("processor", [Throwing(), Rubbish()], ids=lambda one: one.name)
def test_a_processor_that_throws_is_passed_over_and_told(processor: Any) -> None:
    """Rule 1: the output is unchanged, whatever it did before it threw, and a counter is raised."""
    value: Any = {"patient": "Anna"}
    told: list[str] = []
    output = run_post_tool_stage(
        value, _context(value), [processor, CardBuffering()], lambda name, _: told.append(name)
    )
    assert output == ToolOutput(shown={"patient": "Anna"})
    assert told == [processor.name]


def test_a_processor_cannot_reach_the_value() -> None:
    """Rule 2: what it does to what it is given changes nothing of the record."""
    value: Any = {"list": [1, {"dose": 5}]}

    class Grasping:
        name = "grasping"

        def applies(self, _: PostToolContext) -> bool:
            return True

        def process(self, output: ToolOutput, _: PostToolContext) -> ToolOutput:
            grasped: Any = output.shown
            grasped["list"][1]["dose"] = 500
            return output

    shown = run_post_tool_stage(value, _context(value), [Grasping()], lambda *_: None).shown
    assert value == {"list": [1, {"dose": 5}]}
    assert shown == {"list": [1, {"dose": 500}]}


def test_the_stage_reads_nothing_but_its_context() -> None:
    """Rule 3, structurally: no environment, file, clock or logging anywhere in the stage."""
    for path in [STAGE / "post_tool.py", *sorted((STAGE / "processors").glob("*.py"))]:
        tree = ast.parse(path.read_text())
        imported = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        } | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        ours = {"__future__", "dataclasses", "typing", "collections.abc"}
        assert {
            name for name in imported if name not in ours and not name.startswith("condor.core.")
        } == set()
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & {"open", "exec", "eval", "globals", "__import__", "setattr"}, path


def test_no_processor_keeps_anything() -> None:
    """Processors are stateless: nothing of one run reaches another."""
    for processor in POST_TOOL_PROCESSORS:
        assert not getattr(processor, "__dict__", {})


def test_the_order_is_declared_and_bounded_output_is_what_becomes_a_card() -> None:
    """The order is a literal; a card is bounded like everything that is shown."""
    assert [processor.name for processor in POST_TOOL_PROCESSORS] == [
        "lookups-left-out",
        "output-bounding",
        "card-buffering",
    ]
    value: Any = {"rows": ["x" * 50] * 100}
    output = run_post_tool_stage(
        value, _context(value, draws_card=True), POST_TOOL_PROCESSORS, lambda *_: pytest.fail("threw")
    )
    assert (output.card, output.cut) == (True, True)


def test_what_fits_without_its_lookups_is_cut_no_more() -> None:
    """Of a value that is too large for its lookups alone, all the rest is shown; others are passed by."""
    rows: list[Any] = list(range(600))
    value: Any = {"rows": rows, "byName": {"x": "y" * 5_000}}
    context = replace(_context(value, most=4_000), lookups=frozenset({"byName"}))
    output = run_post_tool_stage(value, context, POST_TOOL_PROCESSORS, lambda *_: pytest.fail("threw"))
    assert (output.shown, output.cut) == ({"rows": rows}, True)
    for other in ("byName", ["byName"], {"byDay": 1}, None):
        assert run_post_tool_stage(
            other, replace(context, size_bytes=1), POST_TOOL_PROCESSORS, lambda *_: pytest.fail("threw")
        ) == ToolOutput(shown=other)


def test_what_fits_is_shown_whole() -> None:
    """Nothing is cut that need not be."""
    value: Any = {"text": "x" * 900}
    assert run_post_tool_stage(
        value, _context(value), POST_TOOL_PROCESSORS, lambda *_: pytest.fail("threw")
    ) == ToolOutput(shown=value)


def test_what_was_cut_is_said() -> None:
    """A list, a text and an object each say how much of them is missing."""
    value: Any = {"list": list(range(2_000)), "text": "x" * 20_000, **{f"key{n}": n for n in range(600)}}
    output = OutputBounding().process(ToolOutput(shown=value), _context(value, most=20_000))
    shown: Any = output.shown
    assert output.cut
    assert shown["list"][-1] == {"$cut": {"items": 2_000 - (len(shown["list"]) - 1)}}
    assert shown["text"].endswith(f"… ({20_000 - shown['text'].index('…'):,} more characters)")
    assert shown["$cut"] == {"keys": 602 - (len(shown) - 1)}


@given(value=json_values, most=st.integers(20, 400))
def test_bounded_output_is_json_within_its_bound(value: Any, most: int) -> None:
    """Whatever a tool returned, what is shown is JSON, and of no more bytes than may be shown."""
    context = _context(value, most=most)
    output = run_post_tool_stage(value, context, [OutputBounding()], lambda *_: pytest.fail("threw"))
    written = json.dumps(output.shown, ensure_ascii=False, separators=(",", ":")).encode()
    assert not output.cut or len(written) <= max(most, 40)
    assert output.cut == (context.size_bytes > most)


def test_a_deep_value_is_cut_at_its_depth() -> None:
    """No recursion limit is reached by what a tool may return."""
    value: Any = "end"
    for _ in range(90):
        value = [value]
    output = OutputBounding().process(ToolOutput(shown=value), _context(value, most=150))
    assert "levels" in json.dumps(output.shown)
