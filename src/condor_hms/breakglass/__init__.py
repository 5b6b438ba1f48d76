"""Break-glass: a read beyond one's role, allowed at once, on record before it answers, reviewed after."""

from __future__ import annotations

from condor_hms.breakglass.tools import break_glass_tools

__all__ = ["break_glass_tools"]
