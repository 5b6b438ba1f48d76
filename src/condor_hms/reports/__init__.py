"""Reports as files: made of the record alone, typeset by fixed templates; no code comes from a model."""

from __future__ import annotations

from condor_hms.reports.page import Page, Part
from condor_hms.reports.render import FORMATS, render

__all__ = ["FORMATS", "Page", "Part", "render"]
