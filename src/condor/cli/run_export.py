"""``condor audit export RUN_ID --fhir``: a run in a form of an opened pack, read beside its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


async def exported_run(home: Path, run_id: str, form: str) -> bytes:
    """The run in that form; the packs of the home are opened to read.

    Raises:
        UnknownId: no such run.
        RefusedInput: no pack of this home has the form.
        CondorError: what the form is made from cannot be read now.
    """
    from condor.bootstrap import Condor
    from condor.cli.home import packs_of, place_to_read
    from condor.cli.session import database_of
    from condor.core.errors import RefusedInput
    from condor.runtime.run_record import run_record

    place = place_to_read(home)
    url = database_of(place)
    async with Condor(
        home=place.path, database_url=url, packs=packs_of(place), demo=place.is_demo, read_only=True
    ) as condor:
        view = condor.views.get(form)
        if view is None:
            raise RefusedInput(
                f"no pack of this home exports runs as {form}; see `condor doctor` for its packs"
            )
        return await view.render(await run_record(condor, condor.store, run_id))


__all__ = ["exported_run"]
