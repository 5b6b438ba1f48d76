"""Cards and runs in a list: a few lines each, nothing cut at any width."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from condor.cli.card import who_may_answer, worst_first
from condor.cli.moments import at, expiry
from condor.cli.run_view import status_line
from condor.cli.screen import said
from condor.cli.visible import visible_word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

_SEVERITY_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


def pending_card(card: Mapping[str, Any]) -> RenderableType:
    """One open card in a list."""
    evidence = card.get("evidence") or {}
    lines = [
        Text.assemble(
            (visible_word(card.get("suspendId", "")), "bold"),
            "  ",
            ("expired, cannot be answered any more", "red")
            if is_over(card)
            else (visible_word(card.get("reasonCode", "")), "yellow"),
        ),
        said(" ".join(str(part) for part in (card.get("headline"), _called(card)) if part)),
    ]
    subject = (evidence.get("subject") or {}).get("text")
    order = ": ".join(str(part) for part in (subject, evidence.get("summary")) if part)
    if order:
        lines.append(said(order))
    lines += [
        Text.assemble(
            (
                visible_word(str(alert.get("severity"))),
                _SEVERITY_STYLES.get(str(alert.get("severity")), "bold red"),
            ),
            ": ",
            said(alert.get("summary", "")),
        )
        for alert in worst_first(evidence.get("alerts") or ())
    ]
    if not order and card.get("message"):
        lines.append(said(card["message"]))
    if card.get("request"):
        lines.append(said(f"asked: {card['request']}"))
    expires = " ".join(expiry(card.get("expiresAt")))
    who = "" if is_over(card) else f"may answer: {who_may_answer(card)}; "
    about = (evidence.get("subject") or {}).get("reference")
    whom = f"; about {about}" if about else ""
    lines.append(said(f"{who}{expires}; run {card.get('runId')}{whom}", "dim"))
    head, *rest = lines
    return Group(head, Padding(Group(*rest), (0, 0, 0, 2), expand=False))


def is_over(card: Mapping[str, Any]) -> bool:
    """Whether nobody can answer a card any more, although its run has not been ended yet."""
    return expiry(card.get("expiresAt"))[0] == "expired"


def _called(card: Mapping[str, Any]) -> str:
    tool = card.get("toolName")
    return f"({visible_word(tool)})" if tool else ""


def run_entry(run: Mapping[str, Any]) -> RenderableType:
    """One run in a list."""
    requester = run.get("requester") or {}
    asked = said(run["request"]) if run.get("request") else Text("(a plan)", style="dim")
    detail = said(f"by {requester.get('display')}, {run.get('autonomy')}, {at(run.get('createdAt'))}", "dim")
    return Group(status_line(run), Padding(Group(asked, detail), (0, 0, 0, 2), expand=False))


__all__ = ["is_over", "pending_card", "run_entry"]
