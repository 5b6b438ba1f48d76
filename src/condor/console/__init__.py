"""The built web console, as package data. Its source is in ``web/``; ``make console`` builds it.

Law: an installation without it is whole; the server then says how to get it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

#: Where the build leaves ``index.html`` and ``assets/``; not there before the console was built.
BUILT: Final = Path(__file__).parent / "built"

__all__ = ["BUILT"]
