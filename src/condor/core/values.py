"""The dataclass of values that are made by the dozen in every run.

Law: nobody changes a value. For what never leaves Condor, mypy holds that: to it this is
``dataclasses.dataclass``, frozen as written. At run time the guard is left out, because a guarded constructor
writes every field through ``object.__setattr__`` (measured: a seventh of a run's instructions). What others
get to hold, such as descriptors, principals and verdicts, keeps its guard.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
else:

    def dataclass(
        *, frozen: bool = False, slots: bool = False, kw_only: bool = False
    ) -> Callable[[type], type]:
        """``dataclasses.dataclass`` without the guard; equality and hash are as with it."""
        return dataclasses.dataclass(slots=slots, kw_only=kw_only, unsafe_hash=frozen)


__all__ = ["dataclass"]
