// One run as a message: its plan with live step states, its calls, its cards, and the closing with what
// the run's evidence adds to it.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import { SuspendCard } from "./card";
import { cardOf, SUSPEND_TOOL, type RunMessage } from "./chats";
import { Chip, Pairs, RunChip, Section, Seen, StepChip, Value } from "./parts";
import { runQuery, useToolTitles } from "./queries";
import { visibleWord } from "./visible";
import { isActive, words } from "./words";
import type { Json, Notice, Plan, PlanStep, StepStatus } from "./wire";

type Part = RunMessage["parts"][number];
type Call = Extract<Part, { type: "dynamic-tool" }>;

export const RunAnswer = memo(function RunAnswer({ message, answered }: { message: RunMessage; answered: () => void }) {
  const notices = message.parts.flatMap((part) => (part.type === "data-claim-correction" ? [part.data] : []));
  const { runId, runStatus } = message.metadata ?? {};
  return (
    <div className="answer">
      <p className="speaker">
        {words.ask.condor} {runStatus !== undefined && <RunChip status={runStatus} />}
        {runId !== undefined && (
          <Link to="/runs/$runId" params={{ runId }} className="quiet">
            {words.ask.openRun}
          </Link>
        )}
      </p>
      {message.parts.map((part, index) => (
        <DrawnPart key={keyOf(part, index)} part={part} message={message} notices={notices} answered={answered} />
      ))}
      {notices.length > 0 && <Corrections notices={notices} />}
    </div>
  );
});

function keyOf(part: Part, index: number): string {
  return part.type === "dynamic-tool" ? part.toolCallId : "id" in part && part.id !== undefined ? `${part.type} ${part.id}` : `${part.type} ${index}`;
}

function DrawnPart({ part, message, notices, answered }: { part: Part; message: RunMessage; notices: Notice[]; answered: () => void }): ReactNode {
  const card = cardOf(part);
  if (card !== null) return <SuspendCard told={card} answered={answered} />;
  switch (part.type) {
    case "text":
      return <Prose text={withoutNotices(part.text, notices)} />;
    case "dynamic-tool":
      return part.toolName === SUSPEND_TOOL ? null : <ToolCall call={part} />;
    case "data-plan":
      return <LivePlan plan={part.data} message={message} />;
    case "data-plan-revised": {
      const { verb, fromTool, toTool, stepId } = part.data;
      return (
        <p className="notice info">
          <strong>{words.plan.revised}</strong>: {words.plan.verbs[verb ?? ""] ?? verb}
          {fromTool !== undefined && toTool !== undefined && (
            <>
              {" "}
              (<code>{words.plan.swap(fromTool, toTool)}</code>)
            </>
          )}
          {stepId !== undefined && (
            <>
              , <code>{stepId}</code>
            </>
          )}
        </p>
      );
    }
    case "data-plan-kept":
      return (
        <p className="notice">
          <strong>{words.plan.kept}</strong>: {visibleWord(part.data.why)} (<code>{part.data.rule}</code>), <code>{part.data.stepId}</code>
        </p>
      );
    case "data-ui-block":
      return <UiBlock tool={part.data.tool} block={part.data.block} />;
    case "data-breaker-stopped":
      return (
        <div className="notice bad">
          <strong>{words.plan.breaker}</strong>
          <Value value={part.data} />
        </div>
      );
    default:
      return null;
  }
}

/** The closing's prose; what the guard appended to it stands apart, below. */
export function withoutNotices(text: string, notices: Notice[]): string {
  return notices.reduce((prose, notice) => prose.replace(notice.text, ""), text).trim();
}

function Prose({ text }: { text: string }) {
  return text === "" ? null : (
    <div className="prose">
      <Seen text={text} lines />
    </div>
  );
}

export function Corrections({ notices }: { notices: Notice[] }) {
  return (
    <Section title={words.closing.corrections} tone="corrections">
      <ul>
        {notices.map((notice, index) => (
          <li key={index} className={notice.kind}>
            <Seen text={notice.text} lines />
          </li>
        ))}
      </ul>
      <p className="dim">{words.closing.correctionsAbout}</p>
    </Section>
  );
}

// -- the plan ---------------------------------------------------------------------------------

const CALL_STATES: { [state: string]: StepStatus } = {
  "input-streaming": "started",
  "input-available": "started",
  "output-available": "succeeded",
  "output-error": "failed",
};

/** The plan is told whole now and then; between, the calls and cards say how their steps stand. */
export function liveSteps(plan: Plan, message: RunMessage): PlanStep[] {
  if (!isActive(message.metadata?.runStatus)) return plan.steps;
  const since = new Map<string, StepStatus>();
  for (const part of message.parts) {
    if (part.type !== "dynamic-tool") continue;
    const card = cardOf(part);
    if (card !== null) {
      since.set(card.stepId, card.status === "pending" ? "suspended" : "pending");
      continue;
    }
    const { stepId } = (part.callProviderMetadata?.condor ?? {}) as { stepId?: string };
    const status = CALL_STATES[part.state];
    if (stepId !== undefined && status !== undefined) since.set(stepId, status);
  }
  return plan.steps.map((step) => (["pending", "started"].includes(step.status) ? { ...step, status: since.get(step.id) ?? step.status } : step));
}

function LivePlan({ plan, message }: { plan: Plan; message: RunMessage }) {
  const steps = liveSteps(plan, message);
  const called = useToolTitles();
  const run = useQuery({ ...runQuery(message.metadata?.runId ?? ""), enabled: message.metadata?.runId !== undefined });
  const toolOf = (id: string) => called(run.data?.steps.find((step) => step.id === id)?.tool);
  const done = steps.filter((step) => step.status === "succeeded" || step.status === "degraded").length;
  return (
    <Section
      title={
        <>
          {words.plan.title} <span className="dim">{words.plan.steps(done, steps.length)}</span>
          {plan.revision > 1 && <Chip tone="info">{words.plan.revision(plan.revision)}</Chip>}
        </>
      }
      tone="plan"
    >
      <ol className="plan-steps">
        {steps.map((step) => (
          <li key={step.id} className={step.status}>
            <PlannedStep tool={toolOf(step.id)} step={step} /> <StepChip status={step.status} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** What a step calls; then what the plan calls it, which a model may have written: as a quotation that says so. */
function PlannedStep({ tool, step }: { tool: string; step: PlanStep }) {
  const own = step.title === tool ? "" : step.title;
  return (
    <>
      <Seen text={tool === "" && own === "" ? step.id : tool} />
      {own !== "" && (
        <span className="own-words">
          {" "}
          “<Seen text={own} />” <span className="dim">({words.plan.ownWords})</span>
        </span>
      )}
    </>
  );
}

// -- calls ------------------------------------------------------------------------------------

function ToolCall({ call }: { call: Call }) {
  const failed = call.state === "output-error";
  const running = call.state === "input-available" || call.state === "input-streaming";
  return (
    <details className={`tool-call ${failed ? "failed" : ""}`}>
      <summary>
        <Seen text={call.title ?? call.toolName} /> <code className="dim">{call.toolName}</code>{" "}
        <StepChip status={running ? "started" : failed ? "failed" : "succeeded"} />
        {failed && (
          <span className="why">
            <Seen text={call.errorText} />
          </span>
        )}
      </summary>
      <Section title={words.tool.arguments}>
        <Value value={call.input as Json} />
      </Section>
      {call.state === "output-available" && (
        <Section title={words.tool.result}>
          <Value value={call.output as Json} />
        </Section>
      )}
    </details>
  );
}

/** What a tool has to show: title and rows where it has them, else its value without what is empty. */
function UiBlock({ tool, block }: { tool: string; block: Json }) {
  const called = useToolTitles();
  if (block === null || typeof block !== "object" || Array.isArray(block)) return null;
  const { title, rows, patient, ...rest } = block;
  const about = patient !== null && typeof patient === "object" && !Array.isArray(patient ?? null) ? (patient as { text?: Json }).text : undefined;
  const filled = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
  return (
    <Section title={<Seen text={typeof title === "string" ? title : called(tool)} />} tone="block">
      {typeof about === "string" && (
        <p className="dim">
          <Seen text={about} />
        </p>
      )}
      {Array.isArray(rows) ? <Rows rows={rows} /> : <Pairs rows={Object.entries(filled).map(([name, value]) => [<Seen key={name} text={inWords(name)} />, <Digest key={name} value={value} />])} />}
    </Section>
  );
}

/** A value by its own words where it has some; all of it stands in the call above. */
function Digest({ value }: { value: Json }) {
  if (Array.isArray(value)) {
    return (
      <ul className="values">
        {value.map((item, index) => (
          <li key={index}>
            <Digest value={item} />
          </li>
        ))}
      </ul>
    );
  }
  if (value === null || typeof value !== "object" || typeof value.text !== "string") return <Value value={value} />;
  const name = [value.test, value.name, value.label].find((each) => typeof each === "string");
  return (
    <>
      {typeof name === "string" && !value.text.includes(name) && (
        <>
          <strong>
            <Seen text={name} />
          </strong>
          {": "}
        </>
      )}
      <Seen text={value.text} lines />
    </>
  );
}

/** `allergyStatus` as a label: Allergy status. */
function inWords(name: string): string {
  const words = name.replace(/[_-]+/g, " ").replace(/([a-z])([A-Z])/g, (_, last: string, first: string) => `${last} ${first.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const isEmpty = (value: Json) => value === null || value === "" || (Array.isArray(value) && value.length === 0);

function Rows({ rows }: { rows: Json[] }) {
  const objects = rows.filter((row): row is { [key: string]: Json } => row !== null && typeof row === "object" && !Array.isArray(row));
  if (objects.length !== rows.length || rows.length === 0) return <Value value={rows} />;
  const columns = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={words.tool.result}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                <Seen text={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {objects.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>{row[column] === undefined || row[column] === null ? "" : <Value value={row[column]} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
