"""What the opened packs bring beside tools: people, a request to show, and what they serve and export."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from condor.core.run import Principal
    from condor.ports.model import Planner
    from condor.ports.mounts import Mount, RunView
    from condor.ports.packs import OpenedPack


class Brought:
    """Read from the packs that are open."""

    _opened: list[OpenedPack]
    #: The program's own.
    _planner: Planner | None
    #: Who plans requests in words: ``program``, ``model``, ``pack``; ``nobody``: only a plan can be given.
    planned_by: str = "nobody"

    @property
    def principals(self) -> Sequence[Principal]:
        """People that the packs bring."""
        return [person for pack in self._opened for person in pack.principals]

    @property
    def default_principal(self) -> Principal | None:
        """Who a demo's commands act as when nobody is named."""
        return next((pack.default_principal for pack in self._opened if pack.default_principal), None)

    def _first_planner(self, of_model: Planner | None) -> Planner | None:
        """The program's, else the model's, else the first of a pack."""
        of_pack = next((pack.planner for pack in self._opened if pack.planner), None)
        for who, planner in (("program", self._planner), ("model", of_model), ("pack", of_pack)):
            if planner is not None:
                self.planned_by = who
                return planner
        return None

    @property
    def demo_request(self) -> str | None:
        """A request that shows what the packs are for."""
        return next((pack.demo_request for pack in self._opened if pack.demo_request), None)

    @property
    def notes(self) -> Sequence[str]:
        """What the packs want to be told to the person who opened them."""
        return [note for pack in self._opened for note in pack.notes]

    @property
    def mounts(self) -> Sequence[Mount]:
        """What the packs serve beside the API."""
        return [mount for pack in self._opened for mount in pack.mounts]

    @property
    def views(self) -> Mapping[str, RunView]:
        """The forms that a run can be exported in, by name."""
        return {view.form: view for pack in self._opened for view in pack.views}
