"""The demonstration hospital: twelve synthetic patients, its staff and its day."""

from __future__ import annotations

from condor_hms.demo.loader import demo_resources, demo_today, load_demo
from condor_hms.demo.staff import DEMO_STAFF, DemoStaff

__all__ = ["DEMO_STAFF", "DemoStaff", "demo_resources", "demo_today", "load_demo"]
