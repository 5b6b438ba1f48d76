"""Nothing in the shipped code outgrows a reader's head."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.house import shown, source_files

#: Lines, signature and docstring included; we aim at 30.
FUNCTION_LINES_MAX = 70
#: Lines; we aim at 250.
MODULE_LINES_MAX = 400


def long_functions(text: str) -> list[str]:
    """Functions over the limit, as ``line name (length)``."""
    return [
        f"{node.lineno} {node.name} ({lines} lines)"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES_MAX
    ]


def test_no_function_is_too_long() -> None:
    """A function fits on a page."""
    wrong = [
        f"{shown(path)}:{found}"
        for path in source_files()
        for found in long_functions(path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_no_module_is_too_long() -> None:
    """A module has one subject."""
    lengths = {shown(path): len(path.read_text(encoding="utf-8").splitlines()) for path in source_files()}
    assert {where: lines for where, lines in lengths.items() if lines > MODULE_LINES_MAX} == {}


@pytest.mark.parametrize(("lines", "found"), [(FUNCTION_LINES_MAX, 0), (FUNCTION_LINES_MAX + 1, 1)])
def test_the_limit_is_where_it_says(lines: int, found: int) -> None:
    """The check counts as it claims: the limit passes, one line more does not."""
    text = "def f():\n" + "    pass\n" * (lines - 1)
    assert found == len(long_functions(text))
