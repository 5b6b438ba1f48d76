"""The home: where state lives, what kind of home it is, and which packs it is opened with.

Law 1: a home remembers its kind in ``home.json``; ``--as`` works in a demo or development home only.
Law 2: with nothing configured a home is a demonstration home, made at first use and said so.
Law 3: a home that a program made is not changed by a command that does not have its tools.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast, get_args

from condor.core.errors import HomeUnusable, RefusedInput, show

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from condor.ports.packs import Pack

HomeKind = Literal["demo", "development", "program"]

#: Where the home is when no option says so.
HOME_VARIABLE = "CONDOR_HOME"
DEFAULT_HOME = ".condor"
#: Tool packs to load, comma-separated.
PACKS_VARIABLE = "CONDOR_PACKS"
#: Where the database is when it is not in the home.
DATABASE_VARIABLE = "CONDOR_DATABASE_URL"
#: Longest ``home.json``, in bytes; ours has a hundred.
_FILE_BYTES_MAX = 64 * 1024
_GROUP = "condor.packs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A home, and how it is opened."""

    path: Path
    kind: HomeKind
    #: Names of its packs.
    packs: tuple[str, ...]
    #: Not there yet: made by the first command that needs it.
    is_new: bool = False
    #: Made by `condor demo`, which may throw it away.
    disposable: bool = False
    #: Tools that go wrong on purpose while this command has it open (``cli.faults``).
    faults: tuple[str, ...] = ()

    @property
    def is_demo(self) -> bool:
        """Whether packs open with their demonstration data."""
        return self.kind == "demo"

    @property
    def takes_names(self) -> bool:
        """Whether ``--as`` works here."""
        return self.kind in ("demo", "development")


def place_to_read(path: Path) -> Place:
    """The home as it is; nothing is made.

    Raises:
        HomeUnusable: no home, or its ``home.json`` cannot be read.
    """
    _check_directory(path)
    if not path.is_dir():
        raise HomeUnusable(f"there is no home at {path}; `condor run` makes one (or name another: --home)")
    return _stored(path) or Place(path=path, kind="program", packs=_packs_configured() or ())


def place_to_change(path: Path) -> Place:
    """An existing home, for a command that answers.

    Raises:
        HomeUnusable: no home, or one whose tools this command does not have.
    """
    place = place_to_read(path)
    if place.kind == "program" and not place.packs:
        raise HomeUnusable(
            f"the home {path} was made by a program and its tools are not here; answer in that program, "
            f"or name its packs in {PACKS_VARIABLE}"
        )
    return place


def place_to_run(path: Path) -> Place:
    """The home to start runs in; a new one is not made yet (``make``)."""
    _check_directory(path)
    stored = _stored(path)
    if stored is not None:
        return stored
    if (path / "condor.db").exists():
        return place_to_change(path)
    configured = _packs_configured()
    if configured is not None:
        return Place(path=path, kind="development", packs=configured, is_new=True)
    demo = tuple(name for name, pack in installed_packs().items() if pack.has_demo)
    if not demo:
        raise HomeUnusable(
            "no tool pack with a demonstration is installed, and none is configured; "
            f"install condor-runtime[hms], or name your packs in {PACKS_VARIABLE}"
        )
    return Place(path=path, kind="demo", packs=demo, is_new=True)


def place_to_look_at_tools(path: Path) -> Place:
    """The packs of a home, or those that a new one would have."""
    return place_to_run(path)


def home_words(path: Path) -> str:
    """What a command needs after it to find this home; empty where it finds it by itself."""
    import shlex

    found = os.environ.get(HOME_VARIABLE) or DEFAULT_HOME
    return "" if str(path) == found else f" --home {shlex.quote(str(path))}"


def make(place: Place) -> Place:
    """Make a new home: directory 0700, ``home.json`` 0600.

    Raises:
        HomeUnusable: the directory or the file cannot be made.
    """
    from condor.core.ids import canonical_json

    path = place.path
    body: dict[str, object] = {"v": 1, "kind": place.kind, "packs": list(place.packs)}
    if place.disposable:
        body["disposable"] = True
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
        # Whole or not at all: another command may be making the same home.
        draft = path / f".home.json.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_bytes(canonical_json(body) + b"\n")
        draft.replace(path / "home.json")
    except OSError as error:
        raise HomeUnusable(
            f"the home {path} cannot be made: {error.strerror}; name another with --home or CONDOR_HOME"
        ) from error
    return replace(place, is_new=False)


def _check_directory(path: Path) -> None:
    with contextlib.suppress(PermissionError):
        if path.exists() and not path.is_dir():
            raise HomeUnusable(f"the home {path} is a file, not a directory; name another with --home")


def _stored(path: Path) -> Place | None:
    """What ``home.json`` says; None where there is none."""
    file = path / "home.json"
    try:
        with file.open("rb") as opened:
            body = opened.read(_FILE_BYTES_MAX)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HomeUnusable(
            f"{file} cannot be read: {error.strerror}; run chmod -R u+rwX {path}, "
            "or name another home with --home"
        ) from error
    found = _read(body, file)
    packs = found.get("packs")
    if found.get("kind") not in get_args(HomeKind) or not isinstance(packs, list):
        raise HomeUnusable(f"{file} is not one that this condor understands; upgrade condor, or mend it")
    return Place(
        path=path,
        kind=cast("HomeKind", found["kind"]),
        packs=_packs_configured() or tuple(map(str, packs)),
        disposable=found.get("disposable") is True,
    )


def _read(body: bytes, file: Path) -> Mapping[str, object]:
    from condor.ports.encoding import read_strict_json

    try:
        found = read_strict_json(body, "it")
    except RefusedInput as refusal:
        raise HomeUnusable(f"{file} cannot be used: {refusal}") from None
    return found if isinstance(found, dict) else {}


# -- packs -----------------------------------------------------------------------------------


def _packs_configured() -> tuple[str, ...] | None:
    """The packs that the environment names; None where it names none."""
    names = [name.strip() for name in os.environ.get(PACKS_VARIABLE, "").split(",")]
    return tuple(name for name in names if name) or None


def installed_packs() -> dict[str, Pack]:
    """Every installed pack by its name.

    Raises:
        HomeUnusable: one cannot be loaded.
    """
    from importlib.metadata import entry_points

    found: dict[str, Pack] = {}
    for point in entry_points(group=_GROUP):
        try:
            found[point.name] = point.load()
        except ImportError as error:
            raise HomeUnusable(
                f"the pack {point.name} cannot be loaded: {error}; install it again"
            ) from error
    return found


def packs_of(place: Place) -> tuple[Pack, ...]:
    """The packs that a home is opened with.

    Raises:
        RefusedInput: a name that is not installed.
        HomeUnusable: one cannot be loaded.
    """
    return _installed(place.packs)


def packs_configured() -> tuple[Pack, ...]:
    """The packs that the environment names.

    Raises:
        RefusedInput, HomeUnusable: as ``packs_of``.
    """
    return _installed(_packs_configured() or ())


def _installed(names: tuple[str, ...]) -> tuple[Pack, ...]:
    installed = installed_packs()
    for name in names:
        if name not in installed:
            raise RefusedInput(
                f"no pack {show(name)} is installed; there are {', '.join(sorted(installed)) or 'none'}"
            )
    return tuple(installed[name] for name in names)
