"""What is public is said once, resolves, and stays small."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING

import pytest

import condor
import condor_hms

if TYPE_CHECKING:
    from types import ModuleType

#: Above this a newcomer no longer reads the list.
PUBLIC_NAMES_MAX = 30


def packages() -> list[str]:
    """Every package of the distribution, the roots included."""
    found = [condor.__name__, condor_hms.__name__]
    for root in (condor, condor_hms):
        found += [
            module.name
            for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
            if module.ispkg and not module.name.endswith("__main__")
        ]
    return found


def exported(module: ModuleType) -> list[str]:
    """What a package offers; a package without `__all__` offers nothing."""
    return list(getattr(module, "__all__", []))


def test_the_public_api_is_small() -> None:
    """`import condor` offers what a user needs and nothing that they must not rely on."""
    names = exported(condor)
    assert 0 < len(names) <= PUBLIC_NAMES_MAX
    assert len(set(names)) == len(names)
    assert not [name for name in names if name.startswith("_") and name != "__version__"]


def test_every_public_class_and_function_is_explained() -> None:
    """A public name can be asked what it is: help(name) answers in our words."""
    silent = [
        name
        for name in exported(condor)
        if (inspect.isclass(thing := getattr(condor, name)) or inspect.isfunction(thing))
        and not inspect.getdoc(thing)
    ]
    assert silent == []


@pytest.mark.parametrize("package", packages())
def test_every_exported_name_resolves(package: str) -> None:
    """`__all__` never promises what is not there. (Its order is held by ruff, RUF022.)"""
    module = importlib.import_module(package)
    assert [name for name in exported(module) if not hasattr(module, name)] == []
