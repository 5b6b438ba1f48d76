// A run's events as a list: what happened, to which step, by whom.

import { Chip, Moment, RunChip, Seen, StepChip } from "./parts";
import { useToolTitles } from "./queries";
import { visibleWord } from "./visible";
import { words } from "./words";
import type { Json, RunEvent, RunSnapshot } from "./wire";

const said = words.run;

export function Timeline({ run, events }: { run: RunSnapshot; events: RunEvent[] }) {
  const titles = titlesOf(events, run, useToolTitles());
  return (
    <ol className="timeline">
      {events.map((event, index) => (
        <li key={event.seq} className={event.type.replace(".", "-")}>
          <Moment at={event.at} seconds />
          <span>
            <strong>{said.events[event.type] ?? visibleWord(event.type)}</strong> <Told event={event} title={titles[index] ?? ""} />
          </span>
        </li>
      ))}
    </ol>
  );
}

/**
 * What each event's step was called when it happened.
 *
 * A step may change its tool; what was done by the one before is not told under the name of the one after.
 */
export function titlesOf(events: RunEvent[], run: RunSnapshot, called: (tool: string) => string): string[] {
  const steps = new Map(run.steps.map((step) => [step.id, step]));
  const worked = new Map<string, string>();
  const asked = new Map<string, string>();
  return events.map((event) => {
    const id = typeof event.stepId === "string" ? event.stepId : "";
    const own = typeof event.tool === "string" && event.tool !== "" ? event.tool : undefined;
    if (own !== undefined && event.type === "step.started") worked.set(id, own);
    if (own !== undefined && event.type.endsWith(".required")) asked.set(id, own);
    const tool = own ?? (event.type === "suspension.closed" ? asked.get(id) : worked.get(id));
    const step = steps.get(id);
    if (tool !== undefined && tool !== step?.tool) return called(tool);
    return step?.title || called(step?.tool ?? "") || id;
  });
}

function Told({ event, title }: { event: RunEvent; title: string }) {
  const { stepId, status, code, verb, fromTool, toTool, by, attempt, origin, limit, tool } = event;
  const word = (fact: Json | undefined) => (typeof fact === "string" && fact !== "" ? fact : null);
  return (
    <>
      {word(stepId) !== null && <Seen text={title} />}
      {word(tool) !== null && word(tool) !== title && <code className="dim"> {visibleWord(String(tool))}</code>}{" "}
      {typeof attempt === "number" && attempt > 1 && <Chip>{said.attempt(attempt)}</Chip>}
      {word(status) !== null &&
        (event.type === "run.ended" ? <RunChip status={String(status)} /> : event.type === "suspension.closed" ? <Chip>{words.card.closed[String(status)] ?? String(status)}</Chip> : <StepChip status={String(status)} />)}
      {word(verb) !== null && <> {words.plan.verbs[String(verb)] ?? visibleWord(String(verb))}</>}
      {word(fromTool) !== null && <code> {words.plan.swap(String(fromTool), String(toTool))}</code>}
      {word(limit) !== null && <> {said.ceilings[String(limit).replace(/_max$/, "")] ?? visibleWord(String(limit))}</>}
      {word(origin) !== null && <span className="dim"> {words.card.origins[String(origin)] ?? visibleWord(String(origin))}</span>}
      {word(by) !== null && <span className="dim"> {visibleWord(String(by))}</span>}
      {word(code) !== null && <code> {visibleWord(String(code))}</code>}
    </>
  );
}
