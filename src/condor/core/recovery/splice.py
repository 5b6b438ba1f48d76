"""A seam that is designed and not built: putting steps into a compiled graph.

Law: ``apply_splice`` always raises. Nothing may be planned against it as if it worked.
(Mission: mutation-engine.ts:92, :98.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from condor.core.errors import CondorError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from condor.core.graph import CompiledGraph, Coordinate
    from condor.core.ids import Json

#: ``insert-step`` puts one step between a coordinate and what waits for it; ``replace-subplan`` puts a plan
#: in place of every step of a nested one.
SpliceKind = Literal["insert-step", "replace-subplan"]


class PlanMutationSeamNotImplementedError(CondorError):
    """Splicing is a documented contract without an implementation."""

    code = "not_implemented"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpliceVerb:
    """What a splice would be asked for.

    An implementation has to keep what holds of every other edit: coordinates of steps that have begun stay,
    the revision rises by one, the new steps pass role, policy and approval like any other, and the edit is
    charged as a plan mutation before it is applied.
    """

    kind: SpliceKind
    #: Where; for a subplan the coordinate of its first step.
    coordinate: Coordinate
    #: What is put there, in the public format of plans.
    plan: Mapping[str, Json]


def apply_splice(_graph: CompiledGraph, verb: SpliceVerb | Any) -> NoReturn:
    """Raise: it is not built.

    Raises:
        PlanMutationSeamNotImplementedError: always.
    """
    kind = getattr(verb, "kind", "splice")
    raise PlanMutationSeamNotImplementedError(f"{kind!r} is designed and not built; the graph is as it was")


__all__ = ["PlanMutationSeamNotImplementedError", "SpliceKind", "SpliceVerb", "apply_splice"]
