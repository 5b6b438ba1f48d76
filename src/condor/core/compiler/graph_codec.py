"""A compiled graph as JSON: stored at compile time and read back on every resume, never recompiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from condor.core.graph.compiled import CompiledGraph, Coordinate, Node
from condor.core.ids import Digest, Json, StepId

if TYPE_CHECKING:
    from collections.abc import Mapping


def graph_to_json(graph: CompiledGraph) -> dict[str, Json]:
    """``{"revision", "digest", "nodes": […]}``; absent parts of a node are left out."""
    return {
        "revision": graph.revision,
        "digest": graph.digest,
        "nodes": [_node_to_json(n) for n in graph.nodes],
    }


def _node_to_json(node: Node) -> dict[str, Json]:
    parts: dict[str, Json] = {"id": node.step_id, "kind": node.kind, "after": list(node.after)}
    if node.kind == "tool":
        parts["tool"] = node.tool
        parts["args"] = node.args
    if node.since > 1:
        parts.update(since=node.since, tried=list(node.tried), fidelity=node.fidelity)
    optional = {"title": node.title, "body": node.body, "onDeny": node.on_deny}
    parts.update({key: value for key, value in optional.items() if value})
    if node.uses:
        parts["uses"] = sorted(node.uses)
    if node.untrusted:
        parts["untrusted"] = True
    return parts


def graph_from_json(stored: Mapping[str, Any]) -> CompiledGraph:
    """The graph as it was stored.

    Raises:
        KeyError, TypeError: the stored graph is corrupt.
    """
    return CompiledGraph(
        nodes=tuple(
            [
                Node(
                    coordinate=Coordinate(index),
                    step_id=StepId(node["id"]),
                    kind=node["kind"],
                    tool=node.get("tool", ""),
                    args=node.get("args", {}),
                    after=tuple(node["after"]),
                    uses=frozenset(node.get("uses", ())),
                    on_deny=node.get("onDeny"),
                    title=node.get("title", ""),
                    body=node.get("body", ""),
                    since=node.get("since", 1),
                    tried=tuple(node.get("tried", ())),
                    fidelity=node.get("fidelity", "equal"),
                    untrusted=node.get("untrusted", False) is not False,
                )
                for index, node in enumerate(stored["nodes"])
            ]
        ),
        revision=stored["revision"],
        digest=Digest(stored["digest"]),
    )
