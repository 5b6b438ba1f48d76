"""The offline playbook planner: requests in clinicians' words, without a model."""

from __future__ import annotations

from condor_hms.playbook.planner import PlaybookPlanner

__all__ = ["PlaybookPlanner"]
