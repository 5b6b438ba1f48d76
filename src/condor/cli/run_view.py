"""A run on a terminal: how it ended or what it waits for, its steps, its cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from condor.cli.card import asked_because, pairs, suspend_card, who_may_answer
from condor.cli.moments import at, expiry
from condor.cli.not_run import asked_again, not_run_before, not_run_line
from condor.cli.progress import Progress, steps_table
from condor.cli.recovery_view import budget_blocks, found_out_blocks, recovery_blocks
from condor.cli.screen import said
from condor.cli.values import value_lines
from condor.cli.visible import visible_lines, visible_word
from condor.tools.explain import PROMOTION_WORDS, rule_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from condor.cli.screen import Screen

_STATUS_STYLES = {
    "succeeded": "bold green",
    "suspended": "bold yellow",
    "degraded": "bold yellow",
    "failed": "bold red",
    "aborted": "bold red",
}
_NOTICE_SIGN = "⚠"


def closing_lines(closing: str) -> Group:
    """The closing text; what did not happen stands out."""
    return Group(*(said(line, notice_style(line)) for line in visible_lines(closing)))


def notice_style(line: str) -> str:
    """How a line of a closing is drawn."""
    return "bold yellow" if line.startswith(_NOTICE_SIGN) else ""


def status_line(run: Mapping[str, Any]) -> Text:
    """``run_… succeeded``."""
    status = str(run.get("status"))
    return Text.assemble(
        (visible_word(run.get("runId", "")), "dim"),
        " ",
        (visible_word(status), _STATUS_STYLES.get(status, "bold")),
    )


def show_rest(screen: Screen, run: Mapping[str, Any], *, where: str = "", cards: bool = True) -> None:
    """A run at its rest, as a result: its closing, or what it waits for and how to answer.

    Args:
        cards: draw the open cards; a person who has just been asked does not need them again.
    """
    for card in open_cards(run) if cards else ():
        screen.show(card_of(run, card, columns=screen.out.width))
        for line in how_to_answer(card, where):
            screen.line(line)
    if run.get("closing"):
        for line in visible_lines(run["closing"]):
            screen.line(line, notice_style(line))
    screen.show(status_line(run))


def open_cards(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What the run waits for, oldest first."""
    return [card for card in run.get("suspensions") or () if card.get("status") == "pending"]


def card_of(
    run: Mapping[str, Any], card: Mapping[str, Any], *, columns: int, asked: bool = False
) -> RenderableType:
    """A run's card, with what the run was asked for and the plan's own title of the step.

    Args:
        asked: a form follows that asks field by field.
    """
    return suspend_card(
        card,
        plan_says=plan_says(run, card),
        request=run,
        columns=columns,
        asked=asked,
        not_run=not_run_before(run, card),
    )


def plan_says(run: Mapping[str, Any], card: Mapping[str, Any]) -> str:
    """The plan's own title of a card's step."""
    titles = (step.get("title") for step in run.get("steps") or () if step["id"] == card.get("stepId"))
    return str(next(titles, None) or "")


def how_to_answer(card: Mapping[str, Any], where: str = "") -> list[str]:
    """The commands that answer a card; the last one ends its run where nothing else refuses it.

    Args:
        where: what a command needs after it: the home, and who acts.
    """
    card_id = visible_word(card.get("suspendId", ""))
    match card.get("reasonCode"):
        case "approval":
            return [f"condor approve {card_id}{where}", f"condor deny {card_id} --reason …{where}"]
        case "reconcile":
            return [f'condor answer {card_id} --data \'{{"happened": true, "reason": "…"}}\'{where}']
        case _:
            fields = (card.get("resumeSchema") or {}).get("properties") or {}
            body = ", ".join(f'"{visible_word(name)}": …' for name in fields)
            return [f"condor answer {card_id} --data '{{{body}}}'{where}", how_to_stop(card, where)]


def how_to_stop(card: Mapping[str, Any], where: str = "") -> str:
    """The command that ends the run of a card."""
    return f"condor stop {visible_word(card.get('runId', ''))} --reason …{where}"


def run_view(run: Mapping[str, Any], *, columns: int, found_out: Sequence[Mapping[str, Any]] = ()) -> Group:
    """Everything of a run.

    Args:
        found_out: its audit rows about outcomes that were unknown.
    """
    progress = Progress()
    progress.load(run.get("steps") or ())
    requester = run.get("requester") or {}
    head = [
        ("asked", said(run["request"]))
        if run.get("request")
        else ("asked", Text("(a plan, no words)", style="dim")),
        ("by", said(f"{requester.get('display')} ({requester.get('id')}), {run.get('autonomy')}")),
        ("begun", said(at(run.get("createdAt")))),
        ("last change", said(at(run.get("updatedAt")))),
    ]
    blocks: list[RenderableType] = [status_line(run), Padding(pairs(head), (0, 0, 0, 2), expand=False)]
    if progress.steps:
        blocks += [
            _heading("Steps"),
            Padding(steps_table(list(progress.steps.values())), (0, 0, 0, 2), expand=False),
        ]
    blocks += _details(run.get("steps") or ())
    blocks += found_out_blocks(found_out)
    blocks += recovery_blocks(run)
    closed = [card for card in run.get("suspensions") or () if card.get("status") != "pending"]
    if closed:
        blocks += [
            _heading("Answered"),
            *(Padding(_closed_card(run, card), (0, 0, 0, 2), expand=False) for card in closed),
        ]
    blocks += [card_of(run, card, columns=columns) for card in open_cards(run)]
    if run.get("closing"):
        blocks += [_heading("Closing"), closing_lines(str(run["closing"]))]
    blocks += budget_blocks(run)
    return Group(*blocks)


def _heading(text: str) -> RenderableType:
    return Text(f"\n{text}", style="underline")


def _details(steps: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    """What each step was called with and what it gave, as far as it is known."""
    blocks: list[RenderableType] = []
    for step in steps:
        gave = "shown" if "shown" in step else "result"
        rows = [
            (label, Text("\n").join([said(line) for line in value_lines(step[key])]))
            for label, key in (("with", "args"), ("gave", gave), ("said", "message"))
            if step.get(key) not in (None, {}, [])
        ]
        if step.get("attempt", 1) > 1:
            rows.append(("attempts", said(f"{step['attempt']} in all")))
        if rows:
            title = said(f"{step['id']} {step.get('tool') or ''}".strip(), "bold")
            blocks += [
                Padding(title, (1, 0, 0, 2), expand=False),
                Padding(pairs(rows), (0, 0, 0, 4), expand=False),
            ]
    return blocks


def _closed_card(run: Mapping[str, Any], card: Mapping[str, Any]) -> RenderableType:
    status = visible_word(card.get("status", ""))
    words = f"{card.get('stepId')}: {status} by {card.get('decidedByDisplay')} at {at(card.get('decidedAt'))}"
    lines = [said(words)]
    if card.get("reason"):
        lines.append(said(f"reason: {card['reason']}", "italic"))
    newer = asked_again(run, card)
    if newer is not None:
        lines.append(said(not_run_line(newer), "bold yellow"))
    return Group(*lines)


def why_view(run: Mapping[str, Any], where: str = "") -> Group:
    """What the run waits for, which rule gated it, who may answer, until when."""
    waits = open_cards(run)
    if not waits:
        status = visible_word(run.get("status", ""))
        return Group(said(f"The run waits for nobody: it is {status}."))
    return Group(*(_why(card, where) for card in waits))


def _why(card: Mapping[str, Any], where: str) -> RenderableType:
    policy = card.get("policy") or {}
    rule = str(policy.get("ruleId") or "")
    rows = [
        ("waits for", said(f"{card.get('reasonCode')}: {card.get('headline', '')}")),
        ("step", said(f"{card.get('stepId')} {card.get('toolName') or ''}".strip())),
    ]
    if card.get("origin") == "tool_policy" and rule:
        rows.append(("rule", said(f"{rule}: {rule_reason(rule)}")))
    else:
        rows.append(("because", said(asked_because(card))))
    rows += [
        ("promoted", said(f"{name}: {PROMOTION_WORDS.get(name, '')}"))
        for name in policy.get("promotions") or ()
    ]
    if card.get("message"):
        rows.append(("says", Text("\n").join([said(line) for line in visible_lines(card["message"])])))
    verb, when = expiry(card.get("expiresAt"))
    rows += [
        ("may answer", said(who_may_answer(card))),
        (verb, said(when)),
        ("answer with", Text("\n").join([said(line) for line in how_to_answer(card, where)])),
    ]
    return pairs(rows)


__all__ = [
    "card_of",
    "closing_lines",
    "how_to_answer",
    "how_to_stop",
    "open_cards",
    "plan_says",
    "run_view",
    "show_rest",
    "status_line",
    "why_view",
]
