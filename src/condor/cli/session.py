"""A command's session with a home: opened to read beside its owner, or owned to change it.

Law: a command that waits for a person holds no home, so that another terminal can answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

from condor.cli.faults import FAULTS_VARIABLE, faults_of, faulty_packs, told_faults
from condor.cli.home import DATABASE_VARIABLE, Place, home_words, make, packs_of
from condor.core.errors import HomeUnusable, RefusedInput, UnknownId

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from condor.bootstrap import Condor, Driven
    from condor.cli.screen import Screen
    from condor.core.run import Principal
    from condor.ports.packs import DemoScene, FaultScene
    from condor.tools import ToolDescriptor

#: Seconds between two looks at a home that another command holds.
_LOCK_LOOK_S: Final = 0.1
#: Seconds that a command waits for its turn: several commands that answer at once are done sooner.
LOCK_WAIT_S: Final = 15.0
#: Seconds of waiting that nobody is told of.
_LOCK_PATIENCE_S: Final = 1.0
#: Seconds that a command stays for runs which it took up, to say how they ended.
_TAKEN_UP_WAIT_S: Final = 5.0


@asynccontextmanager
async def reading(place: Place) -> AsyncIterator[Condor]:
    """Condor over what is stored; needs no pack and no lock."""
    from condor.bootstrap import Condor

    async with Condor(home=place.path, database_url=database_of(place), read_only=True) as condor:
        yield condor


async def seal_home(place: Place) -> int | None:
    """Seal what a home's store holds; how many heads, None where its server does that by itself.

    Raises:
        HomeUnusable: there is nothing yet, or another command owns the home.
    """
    from condor.bootstrap import seal_stored
    from condor.ports.database_url import is_postgres
    from condor.server.server_file import running_server

    if not is_postgres(database_of(place)) and running_server(place.path) is not None:
        return None
    async with reading(place):
        pass  # where nothing is stored nothing is made
    return await seal_stored(database_of(place), place.path)


@asynccontextmanager
async def owning(
    place: Place, screen: Screen, *, quiet: bool = False, wait_s: float = LOCK_WAIT_S
) -> AsyncIterator[Condor]:
    """Condor that may change things: through the home's running server, or by owning the home.

    Args:
        quiet: do not repeat what packs tell at their opening.
        wait_s: how long to wait for another command to be done with the home.

    Raises:
        HomeUnusable: another process owns it; nothing was changed.
    """
    from condor.server.server_file import running_server

    server = None if place.is_new else running_server(place.path)
    if server is not None:
        from condor.cli.remote import through_server

        if place.faults:
            raise HomeUnusable(
                f"the home {place.path} is served, and --fault works only on a home that this command opens "
                f"itself; stop the server, or start it with {FAULTS_VARIABLE}"
            )

        async with reading(place) as reader:
            # What a command of a person uses of Condor, it has.
            yield cast("Condor", await through_server(server, reader))
        return
    async with holding(place, screen, quiet=quiet, wait_s=wait_s) as condor:
        yield condor


@asynccontextmanager
async def holding(
    place: Place,
    screen: Screen,
    *,
    quiet: bool = False,
    wait_s: float = LOCK_WAIT_S,
    driven: Driven = "here",
) -> AsyncIterator[Condor]:
    """Condor in this process: the home is made if it is new, and owned.

    Args:
        quiet: do not repeat what packs tell at their opening.
        wait_s: how long to wait for another command to be done with the home.
        driven: where segments are worked on; see ``Condor``.

    Raises:
        HomeUnusable: another process owns it; nothing was changed.
    """
    going_wrong = await _checked_faults(place) if faults_of(place) else ()
    if place.is_new:
        _say_new(place, screen)
        place = make(place)
    for line in going_wrong:
        screen.note(f"condor: goes wrong on purpose: {line}")
    condor = await _opened(place, screen, wait_s, driven)
    try:
        for line in () if quiet else condor.notes:
            screen.note(f"condor: {line}")
        try:
            yield condor
        except Exception:
            await _say_taken_up(condor, screen)
            raise
        await _say_taken_up(condor, screen)
    finally:
        await condor.__aexit__(None, None, None)


async def _checked_faults(place: Place) -> Sequence[str]:
    """What goes wrong on purpose, said before anything is made or opened to change."""
    async with looking_at_packs(place) as looked_at:
        return told_faults(place, [tool.name for tool in looked_at.tools])


async def _say_taken_up(condor: Condor, screen: Screen) -> None:
    """Which interrupted runs went on because this command opened the home, and how they stand."""
    ends = asyncio.get_running_loop().time() + _TAKEN_UP_WAIT_S
    for run_id in condor.taken_up:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(ends):
                await condor.wait(run_id)
        status = (await condor.show(run_id))["status"]
        screen.note(f"condor: took up {run_id}, which was interrupted; it is now {status}")


async def _opened(place: Place, screen: Screen, wait_s: float, driven: Driven) -> Condor:
    """Own the home, as soon as nobody else does."""
    from condor.bootstrap import Condor

    packs, url = faulty_packs(place, packs_of(place)), configured_database()
    begun = time.monotonic()
    said_so = False
    while True:
        condor = Condor(home=place.path, database_url=url, packs=packs, demo=place.is_demo, driven=driven)
        try:
            return await condor.__aenter__()
        except ImportError as error:
            raise HomeUnusable(f"a pack of this home needs {error.name}, which is not installed") from error
        except HomeUnusable as error:
            waited_s = time.monotonic() - begun
            if error.code != "locked" or waited_s > wait_s:
                raise
            if waited_s > _LOCK_PATIENCE_S and not said_so:
                screen.note(f"condor: waiting a little: {str(error).partition(';')[0]}")
                said_so = True
            await asyncio.sleep(_LOCK_LOOK_S)


def _say_new(place: Place, screen: Screen) -> None:
    if place.is_demo:
        screen.note(
            f"condor: nothing is configured, so this is a demonstration home: {place.path} "
            f"(pack {', '.join(place.packs)}; made-up data, one moment)"
        )
    else:
        screen.note(f"condor: made a development home: {place.path} (pack {', '.join(place.packs)})")


@asynccontextmanager
async def looking_at_packs(place: Place) -> AsyncIterator[LookedAt]:
    """The packs of a home opened to read, without its database: nothing is made, nothing can run."""
    from contextlib import AsyncExitStack

    from condor.ports.packs import PackSetup

    async with AsyncExitStack() as stack:
        setup = PackSetup(home=place.path, demo=place.is_demo, read_only=True)
        try:
            opened = [await stack.enter_async_context(pack.open(setup)) for pack in packs_of(place)]
        except ImportError as error:
            raise HomeUnusable(f"a pack of this home needs {error.name}, which is not installed") from error
        yield LookedAt(
            tools=[tool for pack in opened for tool in pack.tools],
            principals=[person for pack in opened for person in pack.principals],
            default=next((pack.default_principal for pack in opened if pack.default_principal), None),
            demo_scenes=[scene for pack in opened for scene in pack.demo_scenes],
            fault_scenes=[scene for pack in opened for scene in pack.fault_scenes],
        )


class LookedAt:
    """What packs bring, to look at."""

    def __init__(
        self,
        *,
        tools: Sequence[ToolDescriptor],
        principals: Sequence[Principal],
        default: Principal | None,
        demo_scenes: Sequence[DemoScene],
        fault_scenes: Sequence[FaultScene],
    ) -> None:
        """Take what was opened."""
        self.tools = tools
        self.principals = principals
        self.default_principal = default
        self.demo_scenes = demo_scenes
        self.fault_scenes = fault_scenes


def principal_of(
    place: Place, user: str | None, principals: Sequence[Principal], default: Principal | None
) -> Principal:
    """Who a command acts as.

    Raises:
        RefusedInput: ``--as`` where it does not work.
        UnknownId: nobody of that name.
    """
    from condor.core.run import LOCAL_PERSON

    if user is None:
        return default if place.is_demo and default is not None else LOCAL_PERSON
    if not place.takes_names:
        raise RefusedInput(
            f"--as works in a demo or development home only; {place.path} is neither", code="as_not_here"
        )
    found = next((person for person in principals if person.id == user), None)
    if found is None:
        raise UnknownId("user", user, f"there are {', '.join(person.id for person in principals) or 'none'}")
    return found


def signed_in(condor: Condor, place: Place, user: str | None, screen: Screen) -> Principal:
    """Who a command acts as, said where nobody was named."""
    who = principal_of(place, user, condor.principals, condor.default_principal)
    if user is None:
        others = ", ".join(person.id for person in condor.principals if person.id != who.id)
        hint = f"; others: --as {others}" if others and place.takes_names else ""
        screen.note(f"condor: acting as {who.name} ({who.id}){hint}")
    return who


def words_after(condor: Condor | LookedAt, place: Place, user: str | None) -> str:
    """What a shown command needs after it, so that it acts as the same person on the same home.

    Args:
        user: whom it acts as; nobody is named where that is the home's default, or nobody that it knows.
    """
    default = principal_of(place, None, condor.principals, condor.default_principal)
    known = place.takes_names and any(person.id == user for person in condor.principals)
    named = f" --as {shlex.quote(str(user))}" if known and user != default.id else ""
    return named + home_words(place.path)


async def check_first(place: Place, user: str | None, plan: object) -> None:
    """What is wrong with a setting, a user or a plan is said before a new home is made for it.

    Raises:
        RefusedInput: nothing was made.
    """
    from condor.config import read_settings
    from condor.core.compiler import compile_plan
    from condor.core.plan import parse_plan

    read_settings()
    async with looking_at_packs(place) as looked_at:
        principal_of(place, user, looked_at.principals, looked_at.default_principal)
        if plan is not None:
            known = {
                tool.name: frozenset(tool.args_by_name) if tool.args_closed else None
                for tool in looked_at.tools
            }
            compile_plan(parse_plan(plan), known)


def configured_database() -> str:
    """The database as configured; empty: in the home. Settings read the same variable, slowly."""
    return os.environ.get(DATABASE_VARIABLE, "")


def database_of(place: Place) -> str:
    """The database of the home's running server, else as configured; empty: in the home."""
    from condor.server.server_file import running_server

    server = running_server(place.path)
    return configured_database() if server is None else server.database_url


__all__ = [
    "LOCK_WAIT_S",
    "LookedAt",
    "check_first",
    "configured_database",
    "database_of",
    "holding",
    "looking_at_packs",
    "owning",
    "principal_of",
    "reading",
    "seal_home",
    "signed_in",
    "words_after",
]
