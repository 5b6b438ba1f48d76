"""What a stranger wrote is shown as it is, and does nothing."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor.cli.screen import json_line, said
from condor.cli.values import value_lines
from condor.cli.visible import visible, visible_lines, visible_word

HIDDEN_RANGES = [
    (0x0000, 0x001F),
    (0x007F, 0x009F),
    (0x00AD, 0x00AD),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x2069),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xE0000, 0xE007F),
]


@pytest.mark.parametrize(("first", "last"), HIDDEN_RANGES)
def test_every_hidden_character_is_named(first: int, last: int) -> None:
    """Controls, bidi, zero width, tags and surrogates stand as their code points."""
    for code in range(first, last + 1):
        assert visible(f"a{chr(code)}b") == f"a<U+{code:04X}>b"


def test_ordinary_text_stays_as_it_is() -> None:
    """No language and no unit is mangled."""
    text = "Müller, Jānis, 李, Ελένη, עברית, 5 µg/m² ≥ 3 “ok” 👍 <b>[bold]x[/bold]</b> %s {0} \\n"
    assert text == visible(text)


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_nothing_hidden_is_left(text: str) -> None:
    """Whatever comes in, what goes out holds no character that a terminal acts on, on one line."""
    shown = visible(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]
    assert shown == visible(shown)


def test_a_look_alike_in_a_closed_word_is_named() -> None:
    """An op is ASCII: a Cyrillic letter or a hard space in one is seen."""
    assert visible_word("d\u0435lete\u00a0") == "d<U+0435>lete<U+00A0>"
    assert visible_word("medication.prescribe") == "medication.prescribe"


def test_only_a_line_feed_makes_a_line() -> None:
    """Text of several lines keeps them; nothing else begins one."""
    assert visible_lines("a\nb\r\u2028c") == ["a", "b<U+000D><U+2028>c"]


def test_markup_is_text() -> None:
    """Rich's markup, links and emoji codes in a foreign text are drawn as typed."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, markup=False, emoji=False, highlight=False, width=200)
    text = "[bold red]x[/] [link=http://evil]y[/link] :smiley: \x1b]8;;http://evil\x07z"
    console.print(said(text))
    assert file.getvalue().strip() == visible(text)


def test_values_are_whole_and_safe() -> None:
    """Keys and texts at any depth are shown, in quotes, with what hides in them named."""
    value = {"a\u202e": ["x\u200b", 5, "5", True, None, {}], "deep": {"er": [["y"]]}, "line": "1\n2"}
    assert value_lines(value) == [
        "a<U+202E>:",
        '  - "x<U+200B>"',
        "  - 5",
        '  - "5"',
        "  - true",
        "  - null",
        "  - {}",
        "deep:",
        "  er:",
        "    -",
        '      - "y"',
        'line: "1<U+000A>2"',
    ]


def test_json_for_programs_is_ascii() -> None:
    """What is printed for a program acts on no terminal either, and reads back as it was."""
    import json

    value = {"x": "\u202e\x1b\x7f\u200b李"}
    line = json_line(value)
    assert line.isascii()
    assert line.isprintable()
    assert value == json.loads(line)
