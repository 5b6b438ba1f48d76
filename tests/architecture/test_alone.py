"""The repository speaks of the project alone: no machine's paths, no registry's host, no one's workplace."""

from __future__ import annotations

import re

import pytest

from tests.architecture.house import shown, text_files

#: Written apart, so that this file does not find itself.
MACHINE_PATHS = tuple(f"/{name}/" for name in ("work", "root", "opt", "mnt", "Users"))
HOSTS = tuple(
    ".".join(labels)
    for labels in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("registry", "yarnpkg", "com"),
        ("deb", "debian", "org"),
        ("conda", "anaconda", "org"),
        ("static", "crates", "io"),
    )
)
OUTSIDE = ("../" + "shared/",)
FOREIGN = re.compile(
    # A machine's path begins a word: `a/work/b` is somebody's relative path, not a machine's.
    r"(?<![\w.-])(?:" + "|".join(map(re.escape, MACHINE_PATHS)) + r")"
    r"|(?<![\w.-])/home/\w"
    r"|" + "|".join(map(re.escape, (*HOSTS, *OUTSIDE)))
)


def foreign(text: str) -> list[str]:
    """What in a text belongs to a machine, a registry or a workplace."""
    return FOREIGN.findall(text)


def test_no_file_names_a_machine_or_a_registry() -> None:
    """A clone reads the same wherever it stands."""
    found = {
        shown(path): names
        for path in text_files()
        if (names := foreign(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert found == {}


@pytest.mark.parametrize(
    "planted", [*MACHINE_PATHS, *HOSTS, *OUTSIDE, "file:///" + "opt/x", "/home/" + "ann"]
)
def test_a_planted_address_is_found(planted: str) -> None:
    """The check is not blind."""
    assert foreign(f"see `{planted}` there")
