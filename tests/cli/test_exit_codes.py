"""The exit code says whose matter it is."""

from __future__ import annotations

import errno

import pytest

from condor.cli.exit_codes import EXIT_BY_ERROR, Exit, exit_of_error, exit_of_os_error, exit_of_run
from condor.core import errors
from condor.core.run import TERMINAL, RunStatus

#: The whole tree, by hand: a new error needs a decision here.
EXPECTED = {
    "CondorError": 1,
    "RefusedInput": 2,
    "PlanRefused": 2,
    "RequestNotUnderstood": 4,
    "ModelUnavailable": 4,
    "UnknownId": 2,
    "NotAllowed": 7,
    "RegistrationRefused": 2,
    "AnswerRefused": 7,
    "RunNotSuspendedError": 7,
    "AlreadyDecided": 7,
    "StaleSuspension": 7,
    "SuspensionExpired": 7,
    "NotAnApprover": 7,
    "AnswerInvalid": 2,
    "EditInvalid": 2,
    "NotEditable": 7,
    "ToolError": 4,
    "RecordMoved": 4,
    "HomeUnusable": 8,
    "RecordDamaged": 8,
    "StoreUnavailable": 8,
    "OurBug": 1,
    "LeafContractError": 1,
    "TransitionRefused": 1,
}


def tree(root: type[errors.CondorError]) -> list[type[errors.CondorError]]:
    """An error and all below it, as Condor defines them."""
    below = [kind for child in root.__subclasses__() for kind in tree(child)]
    return [root, *below] if root.__module__ == "condor.core.errors" else below


@pytest.mark.parametrize("kind", tree(errors.CondorError), ids=lambda kind: kind.__name__)
def test_every_error_has_its_code(kind: type[errors.CondorError]) -> None:
    """No error of Condor is without an exit code, and none changes it unseen."""
    error = kind.__new__(kind)
    assert EXPECTED[kind.__name__] == exit_of_error(error)


def test_the_table_names_only_what_exists() -> None:
    """Every row of the table is of the tree, and its root is there, so that the search always ends."""
    assert set(EXIT_BY_ERROR) <= set(tree(errors.CondorError))
    assert errors.CondorError in EXIT_BY_ERROR


def test_a_code_of_the_environment_wins() -> None:
    """A pack says by its code that its files are the matter."""
    assert exit_of_error(errors.CondorError("the record cannot be opened", code="environment")) == 8


@pytest.mark.parametrize("status", sorted(TERMINAL | {RunStatus.SUSPENDED}))
def test_every_rest_of_a_run_has_its_code(status: RunStatus) -> None:
    """Each rest has a code of its own; none reads as a bug."""
    assert exit_of_run(status) != Exit.BUG


def test_a_full_disk_is_the_environment() -> None:
    """The machine's own trouble is told apart from ours."""
    assert exit_of_os_error(OSError(errno.ENOSPC, "no space left")) == Exit.ENVIRONMENT
    assert exit_of_os_error(OSError(errno.EINVAL, "invalid")) == Exit.BUG
