"""The compiled graph of one run, its coordinates, and what of it may run next."""

from condor.core.graph.compiled import CompiledGraph, Coordinate, Node
from condor.core.graph.frontier import Frontier, frontier
from condor.core.graph.progress import Progress

__all__ = ["CompiledGraph", "Coordinate", "Frontier", "Node", "Progress", "frontier"]
