"""The tables of jobs: procrastinate's own ``schema.sql``, read from its package and kept by nobody else.

Law: a migration is never edited, so what is read is held by its digest to what the migration was made with. A
version of the package with other tables is a migration of ours that is still to come.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from condor.core.errors import HomeUnusable

_SHA256: Final = "c70ec4b400a60ad9592787653aae5ae77ae41bf801d56b5bd2712751a07f2009"


def jobs_schema() -> str:
    """The statements that make the tables and functions of jobs.

    Raises:
        HomeUnusable: the package is missing, or is another version.
    """
    # Found, not imported: who only migrates needs none of it.
    found = find_spec("procrastinate")
    places = found.submodule_search_locations if found is not None else None
    path = Path(next(iter(places)), "sql", "schema.sql") if places else None
    if path is None or not path.is_file():
        raise HomeUnusable(
            "the tables of jobs are made by procrastinate 3.10, which is not installed; "
            "install condor-runtime[postgres]"
        )
    body = path.read_bytes()
    if hashlib.sha256(body).hexdigest() != _SHA256:
        raise HomeUnusable(
            "the procrastinate that is installed makes other tables than 3.10.0; "
            "install the version that condor-runtime[postgres] names"
        )
    return body.decode()


__all__ = ["jobs_schema"]
