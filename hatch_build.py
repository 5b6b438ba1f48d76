"""The build hook: the console is built into the package where Node is there and its sources changed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SCRIPT = Path(__file__).parent / "web" / "build_console.py"


class ConsoleHook(BuildHookInterface[Any]):
    """Runs ``web/build_console.py``; without Node the package is built without a console."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it, and take what was built along although git ignores it."""
        if self.target_name != "wheel" or not _SCRIPT.is_file():
            return
        spec = importlib.util.spec_from_file_location("build_console", _SCRIPT)
        assert spec is not None and spec.loader is not None, "the script is there"
        script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(script)
        reason = script.build()
        if reason is not None:
            print(f"condor: built without the console: {reason}", file=sys.stderr)
        build_data["artifacts"].append("/src/condor/console/built/**")
