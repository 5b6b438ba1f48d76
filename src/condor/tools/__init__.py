"""Tools at run time: how an author writes one, how it is registered, how it is invoked."""

from condor.core.policy import ToolDescriptor
from condor.tools.context import Reconciled, ToolContext
from condor.tools.decorator import tool
from condor.tools.registry import ToolRegistry

__all__ = ["Reconciled", "ToolContext", "ToolDescriptor", "ToolRegistry", "tool"]
