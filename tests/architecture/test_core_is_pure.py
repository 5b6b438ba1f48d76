"""The core computes and does nothing else.

The import contracts name what is forbidden to it; here is the closed list of what it may use, so that a
module of the standard library that nobody thought of is refused too.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.architecture.house import SRC, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Pure by nature. `datetime` is here for its types: reading its clock is refused below.
ALLOWED = frozenset(
    {"__future__", "abc", "base64", "bisect", "calendar", "collections", "copy", "dataclasses", "datetime"}
    | {"decimal", "enum", "functools", "hashlib", "heapq", "hmac", "itertools", "json", "math", "operator"}
    | {"re", "string", "textwrap", "types", "typing", "unicodedata", "condor", "rfc8785"}
)
#: Calls that read a clock, the environment or a file without any import that says so.
REFUSED_CALLS = frozenset({"open", "input", "print", "eval", "exec", "__import__", "now", "utcnow", "today"})


def impurities(text: str) -> Iterator[str]:
    """What of a module is not pure, with its line."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                roots = [alias.name.partition(".")[0] for alias in names]
                yield from (f"{node.lineno} imports {root}" for root in roots if root not in ALLOWED)
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] not in ALLOWED:
                yield f"{node.lineno} imports {module}"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in REFUSED_CALLS:
                yield f"{node.lineno} calls {name}"
            case ast.AsyncFunctionDef() | ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                yield f"{node.lineno} is async"
            case _:
                pass


def test_the_core_computes_and_does_nothing_else() -> None:
    """No I/O, clock, randomness, async or logging below the ports; of third parties only rfc8785."""
    found = [
        f"{shown(path)}:{what}"
        for path in sorted((SRC / "condor" / "core").rglob("*.py"))
        for what in impurities(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    [
        "import time",
        "from os import environ",
        "import importlib",
        "from pydantic import BaseModel",
        "from datetime import datetime; datetime.now(tz=None)",
        "async def f(): ...",
        "open('x')",
        "print(1)",
    ],
)
def test_a_planted_impurity_is_found(planted: str) -> None:
    """The check is not blind."""
    assert list(impurities(planted))
