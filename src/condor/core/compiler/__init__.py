"""From a plan to a compiled graph, and from a node to the next move of its leaf.

``leaves.tool_call`` is THE ONE JOIN of the two axes: the only place where the plan side of the house
asks the tool policy.
"""

from condor.core.compiler.compile import CardTools, compile_plan
from condor.core.compiler.graph_codec import graph_from_json, graph_to_json

__all__ = ["CardTools", "compile_plan", "graph_from_json", "graph_to_json"]
