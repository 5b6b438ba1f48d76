"""Conversations with a run as scripts: what is done to it (``>>``), and every event that follows (``<<``).

A script is played against a real ``Condor`` and comes back as it went; a test compares the two texts, so that
an event too many, one too few or another order shows as a difference::

    SCRIPT = '''
    >> start
    << run.started
    << plan.ready
    << approval.required refund
    >> approve refund as lee
    << suspension.closed refund approved
    << step.started refund
    << step.settled refund succeeded
    << text.done
    << run.ended succeeded
    '''
    assert await play(condor, SCRIPT, plan=plan, people={"sam": SAM, "lee": LEE}) == script(SCRIPT)

Commands: ``start``; ``approve STEP as WHO``; ``deny STEP as WHO [: reason]``; ``answer STEP as WHO : JSON``;
``stop as WHO``. After each the run is waited for to rest.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from condor.bootstrap import Condor
    from condor.core.run import Principal, RunEvent

_COMMAND = re.compile(r"(start|stop|approve|deny|answer)(?: (?!as )(\S+))?(?: as (\w+))?(?: ?: (.+))?")
#: Facts that a line shows after the kind and the step, where the event has them.
_SHOWN = ("status", "code")


def script(text: str) -> str:
    """A script without indentation and empty lines."""
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


async def play(
    condor: Condor,
    text: str,
    *,
    plan: Mapping[str, Any],
    people: Mapping[str, Principal],
    autonomy: str = "guarded",
) -> str:
    """Do what the script's commands say; the script as it went.

    Args:
        plan: what ``start`` starts.
        people: by the names that the script calls them; the first one asks.

    Raises:
        ValueError: a line is no command, or names nobody or no open card.
    """
    went: list[str] = []
    run_id, seen = "", 0
    for line in script(text).splitlines():
        if line.startswith("<<"):
            continue
        went.append(line)
        run_id = await _do(condor, line, run_id, plan=plan, people=people, autonomy=autonomy)
        await condor.wait(run_id)
        async for event in condor.watch(run_id, after=seen):
            seen = event.seq
            went.append("<< " + " ".join(_told(event)))
    return "\n".join(went)


async def _do(
    condor: Condor,
    line: str,
    run_id: str,
    *,
    plan: Mapping[str, Any],
    people: Mapping[str, Principal],
    autonomy: str,
) -> str:
    found = _COMMAND.fullmatch(line.removeprefix(">>").strip())
    if found is None:
        raise ValueError(f"{line!r} is no command; see condor.testing.playbook")
    verb, step_id, name, rest = found.groups()
    if verb == "start":
        asks = next(iter(people.values()))
        return (await condor.start(plan=plan, principal=asks, autonomy=autonomy)).id
    if name not in people:
        raise ValueError(f"{line!r} names nobody; there are {', '.join(people)}")
    if verb == "stop":
        await condor.stop(run_id, principal=people[name])
        return run_id
    data = {
        "approve": {"approved": True},
        "deny": {"approved": False, **({"reason": rest} if rest else {})},
        "answer": json.loads(rest or "{}") if verb == "answer" else {},
    }[verb]
    shown: Any = await condor.show(run_id)
    cards = [card for card in shown["suspensions"] if card["status"] == "pending"]
    card = next((card for card in cards if card["stepId"] == step_id), None)
    if card is None:
        raise ValueError(f"{line!r}: open are {', '.join(card['stepId'] for card in cards) or 'none'}")
    await condor.resume(run_id, card["suspendId"], data, principal=people[name])
    return run_id


def _told(event: RunEvent) -> Iterator[str]:
    yield event.kind
    if event.facts.get("stepId"):
        yield str(event.facts["stepId"])
    for key in _SHOWN:
        if event.facts.get(key):
            yield str(event.facts[key])
