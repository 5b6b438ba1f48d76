"""A suspend card on a terminal: everything that a person must see before they decide, nothing shortened.

Law: headline, order, risk and diff come from the policy, the descriptor and the live record; what the
plan or a model wrote stands apart and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from condor.cli.moments import expiry
from condor.cli.record_diff import diff_lines
from condor.cli.screen import CARD_COLUMNS_MAX, said
from condor.cli.values import value_lines
from condor.cli.visible import visible, visible_lines, visible_word
from condor.tools.explain import PROMOTION_WORDS, rule_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import RenderableType

_TITLES = {
    "approval": ("APPROVAL NEEDED", "yellow"),
    "clarification": ("A QUESTION", "cyan"),
    "reconcile": ("DID IT HAPPEN?", "magenta"),
}
_ASKED_BECAUSE = {
    "tool_policy": "the tool policy",
    "tool_input": "something that the call needs is missing or cannot be used; nothing is guessed",
    "planned_approval": "the plan itself asks; this approves no write",
    "plan_mutation": "the plan of this run would be changed",
    "reconcile": "it is not known whether the call happened",
}
_RANK = {"critical": 0, "warning": 1, "info": 2}
_ALERT_STYLES = {
    "critical": "bold white on red",
    "warning": "bold black on yellow",
    "info": "bold black on cyan",
}
_DIFF_STYLES = {"+": "green", "-": "red", " ": ""}


def suspend_card(
    card: Mapping[str, Any],
    *,
    plan_says: str = "",
    request: Mapping[str, Any] | None = None,
    columns: int = CARD_COLUMNS_MAX,
    asked: bool = False,
    not_run: str = "",
) -> Panel:
    """The card as a panel.

    Args:
        card: a suspension as in the run's snapshot.
        plan_says: the plan's own title of the step.
        request: the run's ``request`` and ``requester``, to be held against the call.
        columns: width of the terminal.
        asked: a form follows that asks field by field, with every option.
        not_run: that an approval before it ran nothing.
    """
    kind = str(card.get("reasonCode"))
    title, colour = _TITLES.get(kind, ("A PERSON IS NEEDED", "yellow"))
    evidence = card.get("evidence") or {}
    planned = card.get("origin") == "planned_approval"
    blocks: list[RenderableType] = [
        said("The plan asks for an approval" if planned else card.get("headline", ""), "bold"),
        *([said(not_run, "bold yellow")] if not_run else []),
        *_message(card, planned=planned),
        *([] if asked else _questions(card)),
        *_subject(evidence),
        *_alerts(evidence.get("alerts") or ()),
        *_record(evidence),
        *_arguments(card),
        *_edits(card),
        *_request(request or {}),
        *_context(evidence.get("context") or ()),
        *_plan_words(card, plan_says, planned=planned),
        *_reasons(card),
        _foot(card),
    ]
    return Panel(
        Group(*_spaced(blocks)),
        title=Text(title, style=f"bold {colour}"),
        title_align="left",
        subtitle=_call(card),
        subtitle_align="right",
        border_style=colour,
        box=box.ROUNDED,
        padding=(0, 1),
        width=min(columns, CARD_COLUMNS_MAX),
    )


def _spaced(blocks: Sequence[RenderableType]) -> Iterable[RenderableType]:
    for index, block in enumerate(blocks):
        if index:
            yield Text("")
        yield block


def _call(card: Mapping[str, Any]) -> Text | None:
    tool = card.get("toolName")
    if not tool:
        return None
    op = card.get("op")
    words = f"{visible_word(tool)} · {visible_word(op)}" if op else visible_word(tool)
    return Text(words, style="bold")


def _message(card: Mapping[str, Any], *, planned: bool) -> list[RenderableType]:
    if planned or not card.get("message"):
        return []
    return [Group(*(said(line, "italic") for line in visible_lines(card["message"])))]


def _questions(card: Mapping[str, Any]) -> list[RenderableType]:
    """What a clarification asks for, with every option there is: the value to send, and what it means."""
    if card.get("reasonCode") != "clarification":
        return []
    fields = ((card.get("resumeSchema") or {}).get("properties") or {}).items()
    return [_titled(visible_word(_question(name, shape)), _options(shape)) for name, shape in fields]


def _question(name: str, shape: Mapping[str, Any]) -> str:
    title = str(shape.get("title") or name)
    return title if title == name else f"{title} ({name})"


def _options(shape: Mapping[str, Any]) -> RenderableType:
    many = shape.get("type") == "array"
    options = (shape.get("items") or {} if many else shape).get("oneOf") or ()
    if not options:
        return said(_free_form(shape), "dim")
    rows = [
        (str(option.get("const")), said(option.get("title") or option.get("const"))) for option in options
    ]
    return Group(*([said("one or more of", "dim")] if many else []), pairs(rows, wide=True))


def _free_form(shape: Mapping[str, Any]) -> str:
    """The kind of value, and its bounds."""
    words = [str(shape.get("format") or shape.get("type") or "text").replace("string", "text")]
    bounds = (("minimum", "from"), ("formatMinimum", "from"), ("maximum", "to"), ("formatMaximum", "to"))
    words += [f"{word} {shape[key]}" for key, word in bounds if key in shape]
    return " ".join(words)


def _subject(evidence: Mapping[str, Any]) -> list[RenderableType]:
    """Whom it is about and what exactly would be done."""
    rows: list[tuple[str, Text]] = []
    subject = evidence.get("subject") or {}
    reference = str(subject.get("reference", ""))
    if subject.get("text"):
        kind = reference.partition("/")[0] or "About"
        rows.append((kind, said(subject["text"], "bold")))
    if evidence.get("summary"):
        rows.append(("Exactly", said(evidence["summary"], "bold")))
    return [pairs(rows)] if rows else []


def _alerts(alerts: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    return [Group(*(_alert(alert) for alert in worst_first(alerts)))] if alerts else []


def worst_first(alerts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Alerts by severity; a severity that is not known counts as critical."""
    return sorted(alerts, key=lambda alert: _RANK.get(str(alert.get("severity")), 0))


def _alert(alert: Mapping[str, Any]) -> RenderableType:
    severity = str(alert.get("severity"))
    badge = Text(
        f" {visible_word(severity.upper())} ", style=_ALERT_STYLES.get(severity, _ALERT_STYLES["critical"])
    )
    head = Table.grid(padding=(0, 1, 0, 0))
    head.add_column(no_wrap=True)
    head.add_column(overflow="fold")
    head.add_row(badge, said(alert.get("summary", ""), "bold"))
    rows = [
        (label, said(alert[key])) for label, key in (("do", "action"), ("source", "source")) if alert.get(key)
    ]
    rests_on = [item.get("text") or item.get("reference") for item in alert.get("evidence") or ()]
    if any(rests_on):
        rows.append(("rests on", said("; ".join(str(item) for item in rests_on if item))))
    if alert.get("id"):
        rows.append(("rule", Text(visible_word(alert["id"]), style="dim")))
    return Group(head, Padding(pairs(rows), (0, 0, 0, 2), expand=False))


def _record(evidence: Mapping[str, Any]) -> list[RenderableType]:
    """Before and after, line by line."""
    before, after = evidence.get("before"), evidence.get("after")
    if before is None and after is None:
        return []
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(overflow="fold")
    path = ""
    for line in diff_lines(before, after):
        if line.path != path:
            path = line.path
            table.add_row("", said(path, "dim"))
        style = _DIFF_STYLES[line.mark]
        table.add_row(Text(line.mark, style=style), said(line.text, style))
    return [_titled("The record, before (-) and after (+)", table)]


def _arguments(card: Mapping[str, Any]) -> list[RenderableType]:
    args = card.get("toolInput")
    if not args:
        return []
    rows = [
        (visible_word(name), Text("\n").join([said(line) for line in value_lines(value)]))
        for name, value in args.items()
    ]
    return [_titled("Arguments, all of them", pairs(rows))]


def _edits(card: Mapping[str, Any]) -> list[RenderableType]:
    """What people changed of the call since the plan made it, and what may still be changed."""
    blocks: list[RenderableType] = []
    for edit in card.get("edits") or ():
        before, after = edit.get("before") or {}, edit.get("after") or {}
        rows = [
            (visible_word(name), said(f"{_one_value(before, name)} → {_one_value(after, name)}"))
            for name in dict.fromkeys([*before, *after])
        ]
        blocks.append(_titled(f"Edited by {visible_word(edit.get('byDisplay', ''))}", pairs(rows)))
    may = ((card.get("editSchema") or {}).get("properties") or {}).keys()
    if may and card.get("status", "pending") == "pending":
        blocks.append(said(f"May be edited before it is approved: {', '.join(may)}", "dim"))
    return blocks


def _one_value(args: Mapping[str, Any], name: str) -> str:
    return " ".join(value_lines(args[name])) if name in args else "(none)"


def _request(run: Mapping[str, Any]) -> list[RenderableType]:
    """What a person or program asked for, as they wrote it: beside the call, so that a mismatch shows."""
    requester = run.get("requester") or {}
    if not requester:
        return []
    who = f"by {requester.get('display')} ({requester.get('id')})"
    if not run.get("request"):
        return [_titled("The request", Group(said(f"a plan, no words, {who}", "dim")))]
    return [
        _titled("The request, in the requester's words", Group(*_quoted(run["request"]), said(who, "dim")))
    ]


def _quoted(text: object) -> list[Text]:
    """Foreign lines, each marked as such."""
    return [Text.assemble(("│ ", "dim"), said(line)) for line in visible_lines(text)]


def _context(context: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    rows = [(str(item.get("label", "")), said(item.get("text", ""))) for item in context]
    return [_titled("Worth knowing", pairs(rows))] if rows else []


def _plan_words(card: Mapping[str, Any], plan_says: str, *, planned: bool) -> list[RenderableType]:
    """What the plan or a model wrote: apart, and never mistaken for the policy's words."""
    words = [str(card.get("headline", "")), str(card.get("message", ""))] if planned else [plan_says]
    lines = [line for text in words if text for line in _quoted(text)]
    return [_titled("The plan's own words (not checked)", Group(*lines))] if lines else []


def _reasons(card: Mapping[str, Any]) -> list[RenderableType]:
    """Which rule asks, and why this call counts as it does."""
    policy = card.get("policy") or {}
    rule = str(policy.get("ruleId", ""))
    rows: list[tuple[str, Text]] = []
    if card.get("origin") == "tool_policy" and rule:
        rows.append(("rule", said(f"{visible_word(rule)}: {rule_reason(rule)}")))
    else:
        rows.append(("because", said(asked_because(card))))
    if policy.get("policyClass") and card.get("origin") != "planned_approval":
        rows.append(("class", said(_risk(policy))))
    rows += [
        ("promoted", said(f"{visible_word(name)}: {PROMOTION_WORDS.get(name, '')}"))
        for name in policy.get("promotions") or ()
    ]
    return [_titled("Why a person decides", pairs(rows))] if rows else []


def asked_because(card: Mapping[str, Any]) -> str:
    """Which gate asks, where it is not the tool policy."""
    origin = visible_word(card.get("origin", ""))
    return _ASKED_BECAUSE.get(origin, origin)


def _risk(policy: Mapping[str, Any]) -> str:
    effective, declared = policy.get("effectiveTier"), policy.get("hitlTier")
    parts = [visible_word(policy["policyClass"])]
    if effective:
        parts.append(f"tier {visible_word(effective)}")
    if effective and declared != effective:
        parts.append(f"declared {visible_word(declared)}" if declared else "no tier declared")
    return ", ".join(parts)


def _foot(card: Mapping[str, Any]) -> RenderableType:
    verb, when = expiry(card.get("expiresAt"))
    rows = [
        ("may answer", said(who_may_answer(card))),
        (verb, said(when)),
        ("contract", Text(short_hash(card.get("contractHash")), style="dim")),
        ("card", Text(visible_word(card.get("suspendId", "")), style="dim")),
    ]
    return pairs(rows)


def who_may_answer(card: Mapping[str, Any]) -> str:
    """The people who may answer a card, in words."""
    answerers = card["answerers"]
    roles = [visible_word(role) for role in answerers["roles"]]
    words = "nobody" if not roles and not answerers["anybody"] else _one_of(roles)
    requester = visible(card.get("requesterDisplay") or card.get("requester", ""))
    if card.get("requesterExcluded"):
        editors = [visible_word(editor) for editor in card.get("editors") or ()]
        edited = f", nor {' or '.join(editors)}, who edited it" if editors else ""
        return f"{words}, but not {requester}, who asked{edited}"
    if roles and card.get("requesterMayAnswer"):
        return f"{words}, or {requester}, who asked"
    return words


def approvers_in_words(approvers: Mapping[str, Any]) -> str:
    """Who approves a tool's calls, as the API resolves them."""
    if approvers["anybody"]:
        return "anybody signed in"
    return " or ".join(visible_word(role) for role in approvers["roles"]) or "nobody"


def _one_of(roles: Sequence[str]) -> str:
    if len(roles) > 2:
        return f"any of {', '.join(roles)}"
    return (
        " or ".join(f"{'an' if role[:1] in 'aeiou' else 'a'} {role}" for role in roles) or "anybody signed in"
    )


def short_hash(digest: object) -> str:
    """The first 16 characters of a digest: enough to compare two by eye."""
    return visible_word(str(digest).partition(":")[2][:16] or str(digest)[:16])


def pairs(rows: Iterable[tuple[str, Text]], *, wide: bool = False) -> Table:
    """Labels and their texts, side by side; nothing is cut."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", overflow="fold", max_width=40 if wide else 24)
    table.add_column(overflow="fold", ratio=1)
    for label, text in rows:
        table.add_row(said(label), text)
    return table


def _titled(title: str, content: RenderableType) -> RenderableType:
    return Group(Text(title, style="underline"), Padding(content, (0, 0, 0, 2), expand=False))


__all__ = [
    "approvers_in_words",
    "asked_because",
    "pairs",
    "short_hash",
    "suspend_card",
    "who_may_answer",
    "worst_first",
]
