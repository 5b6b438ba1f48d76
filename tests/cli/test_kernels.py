"""`condor tools kernel`: an operator tightens a tool; what would loosen it is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.support import Shell


def test_a_kernel_is_laid_shown_and_taken_off(shell: Shell) -> None:
    """Each is a revision with its reason; a card that was open before is stale afterwards."""
    before = shell.parked()
    laid = shell.run("tools", "kernel", "set", "shop.refund", "--exclude-requester", "--reason", "four eyes")
    assert "shop.refund revision 1: whoever asked may not approve" in laid.words
    card = before["suspensions"][0]["suspendId"]
    stale = shell.run("approve", card, "--as", "max")
    assert stale.code == 7, stale
    assert "four eyes" in shell.run("tools", "kernel", "show", "shop.refund").words
    assert shell.run("tools", "kernel", "set", "shop.refund", "--tier", "high").code == 0
    held = shell.run("tools", "kernel", "show", "shop.refund", "--json").json["kernel"]
    assert (held["hitlTier"], held["requesterExcluded"]) == ("high", True)
    unsaid = shell.run("tools", "kernel", "clear", "shop.refund")
    assert (unsaid.code, "say why (reason)" in unsaid.err) == (2, True), unsaid
    taken = shell.run("tools", "kernel", "clear", "shop.refund", "--reason", "over", "--json").json
    assert [revision["rev"] for revision in taken["revisions"]] == [1, 2, 3]
    assert taken["kernel"]["requesterExcluded"] is False


def test_what_loosens_and_what_says_nothing_is_refused(shell: Shell) -> None:
    """One line, exit 2, nothing stored."""
    shell.parked()
    for args in (("--approver", "nobody-has-this"), ("--tier", "low"), ()):
        refused = shell.run("tools", "kernel", "set", "shop.refund", *args)
        assert refused.code == 2, refused
    assert (
        shell.run("tools", "kernel", "list").words
        == "No kernel yet: every tool is as its author declared it."
    )


def test_the_list_and_the_check_show_what_is_laid(shell: Shell) -> None:
    """Beside each tool, with its revision; a kernel that is gone is an error of the check."""
    shell.parked()
    shell.run("tools", "kernel", "set", "shop.refund", "--exclude-requester")
    listed = {tool["name"]: tool["kernel"] for tool in shell.run("tools", "list", "--json").json}
    assert listed.pop("shop.refund") == {
        "rev": 1,
        "isShut": False,
        "hitlTier": None,
        "approverRoles": None,
        "requesterExcluded": True,
    }
    assert set(listed.values()) == {None}
    assert "revision 1: whoever asked may not approve" in shell.run("tools", "list").words
    assert "kernel: shop.refund: revision 1" in shell.run("tools", "check").words
    with closing(sqlite3.connect(shell.home / "condor.db", isolation_level=None)) as connection:
        connection.execute("DELETE FROM tool_kernel")
    check = shell.run("tools", "check")
    assert check.code == 9
    assert "removed in the database, so nobody may approve" in check.words
