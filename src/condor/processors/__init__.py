"""Message processors: eight stages for the words on their way in and out.

``build_input_processors`` and ``build_output_processors`` are the wiring; ``PROCESSOR_CATALOG`` only displays
what there is, for forms. None downloads anything at run time; what each does not do stands in its entry.
"""

from condor.processors.catalog import PROCESSOR_CATALOG, CatalogEntry
from condor.processors.wiring import (
    InputChain,
    OutputChain,
    build_input_processors,
    build_output_processors,
    check_setting,
    configurations_of,
)

__all__ = [
    "PROCESSOR_CATALOG",
    "CatalogEntry",
    "InputChain",
    "OutputChain",
    "build_input_processors",
    "build_output_processors",
    "check_setting",
    "configurations_of",
]
