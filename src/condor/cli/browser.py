"""Opening the console in the browser of the person who started the server, where there is one.

Law: only a demonstration is opened by itself: the link's code stands for a moment among the arguments of a
process, where others on this machine could read it.
"""

from __future__ import annotations

import os
import sys
import webbrowser

from condor.console import BUILT


def open_console(link: str) -> bool:
    """Open a sign-in link; whether a browser was asked to.

    None is asked where the console was not built, or no screen is there to show it: a text browser would
    take the terminal.
    """
    if not (BUILT / "index.html").is_file() or not _has_screen():
        return False
    try:
        return webbrowser.open(link)
    except webbrowser.Error:
        return False


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


__all__ = ["open_console"]
