"""The exit codes, and which error and which run status has which.

Law: total. Every error that Condor can raise stands in ``EXIT_BY_ERROR`` by itself or by its nearest
ancestor, and a test walks the whole tree.
"""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import TYPE_CHECKING

from condor.core import errors

if TYPE_CHECKING:
    from collections.abc import Mapping


class Exit(IntEnum):
    """What a caller's ``$?`` says."""

    FINE = 0
    #: An error of ours.
    BUG = 1
    #: Usage, refused input, an id that does not exist.
    REFUSED = 2
    #: The run waits for a person.
    PARKED = 3
    #: The run failed, or its request was not understood.
    FAILED = 4
    #: Denied, stopped or expired.
    ABORTED = 5
    #: Done in part.
    DEGRADED = 6
    #: An answer that does not count: somebody else's won, the role, the deadline.
    ANSWER_REFUSED = 7
    #: Lock, permissions, a full disk, a newer version.
    ENVIRONMENT = 8
    #: A check found something.
    FOUND = 9
    #: Interrupted by the person at the keyboard (128 + SIGINT).
    INTERRUPTED = 130
    #: Nobody reads what is written (128 + SIGPIPE).
    PIPE_CLOSED = 141


#: The nearest ancestor in this table decides.
EXIT_BY_ERROR: Mapping[type[errors.CondorError], Exit] = {
    errors.CondorError: Exit.BUG,
    errors.RefusedInput: Exit.REFUSED,
    errors.RequestNotUnderstood: Exit.FAILED,
    errors.NotAllowed: Exit.ANSWER_REFUSED,
    errors.AnswerRefused: Exit.ANSWER_REFUSED,
    errors.AnswerInvalid: Exit.REFUSED,
    errors.ToolError: Exit.FAILED,
    errors.HomeUnusable: Exit.ENVIRONMENT,
    errors.StoreUnavailable: Exit.ENVIRONMENT,
    errors.OurBug: Exit.BUG,
}
#: An error that says its kind by its code alone: a pack's own trouble with its files.
EXIT_BY_CODE: Mapping[str, Exit] = {errors.HomeUnusable.code: Exit.ENVIRONMENT}

EXIT_BY_STATUS: Mapping[str, Exit] = {
    "succeeded": Exit.FINE,
    "suspended": Exit.PARKED,
    "failed": Exit.FAILED,
    "aborted": Exit.ABORTED,
    "degraded": Exit.DEGRADED,
}

#: What the machine says when the disk, its permissions or its limits are in the way.
_ENVIRONMENT_ERRNOS = frozenset(
    {errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
    | {errno.ENOTDIR, errno.EPERM, errno.EROFS, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENAMETOOLONG}
)


def exit_of_error(error: errors.CondorError) -> Exit:
    """The exit code of an error of ours."""
    if error.code in EXIT_BY_CODE:
        return EXIT_BY_CODE[error.code]
    return next(EXIT_BY_ERROR[kind] for kind in type(error).__mro__ if kind in EXIT_BY_ERROR)


def exit_of_os_error(error: OSError) -> Exit:
    """The environment's fault where the machine says so; else ours."""
    return Exit.ENVIRONMENT if error.errno in _ENVIRONMENT_ERRNOS else Exit.BUG


def exit_of_run(status: str) -> Exit:
    """The exit code of a run at rest."""
    return EXIT_BY_STATUS.get(status, Exit.BUG)
