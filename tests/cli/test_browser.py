"""When a browser is opened."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

import pytest

import condor.cli.browser
from condor.cli.browser import open_console

if TYPE_CHECKING:
    from pathlib import Path

LINK = "http://127.0.0.1:8421/#principal=ann&code=c"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What a browser was asked to open; the console is built, and there is a screen."""
    found: list[str] = []

    def opening(link: str) -> bool:
        found.append(link)
        return True

    monkeypatch.setattr(webbrowser, "open", opening)
    monkeypatch.setattr(condor.cli.browser, "BUILT", tmp_path)
    monkeypatch.setenv("DISPLAY", ":0")
    (tmp_path / "index.html").touch()
    return found


def test_a_browser_is_asked_once(opened: list[str]) -> None:
    """With the link, whole."""
    assert open_console(LINK)
    assert opened == [LINK]


def test_without_a_console_nothing_is_opened(opened: list[str], tmp_path: Path) -> None:
    """The page would only say that it is not there."""
    (tmp_path / "index.html").unlink()
    assert not open_console(LINK)
    assert opened == []


@pytest.mark.skipif("sys.platform in ('darwin', 'win32')", reason="they always have a screen")
def test_without_a_screen_nothing_is_opened(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser in the terminal would cover what is printed."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not open_console(LINK)
    assert opened == []


def test_a_browser_that_fails_is_none(opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The printed links remain."""

    def failing(_: str) -> bool:
        raise webbrowser.Error("none is installed")

    monkeypatch.setattr(webbrowser, "open", failing)
    assert not open_console(LINK)
