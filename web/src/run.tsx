// One run: the graph beside the timeline, its gates and cards, what recovery has spent, its audit rows.

import { Button, Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import { followEvents, getAll } from "./api";
import { AuditTable } from "./audit-table";
import { CLOSED_TONES, SuspendCard } from "./card";
import { Corrections, withoutNotices } from "./message";
import { count } from "./moments";
import { Chip, Empty, Fault, Moment, Pairs, RunChip, Section, Seen, StepChip, Value, Waiting } from "./parts";
import { runQuery, useToolTitles } from "./queries";
import { save } from "./save";
import { Timeline } from "./timeline";
import { visibleWord } from "./visible";
import { words } from "./words";
import type { AuditRow, Decision, Json, RunEvent, RunSnapshot, Spent, Step } from "./wire";

const Graph = lazy(() => import("./graph"));
const said = words.run;
/** Audit rows of one run that are drawn at most. */
const ROWS_MAX = 5_000;

export function RunPage() {
  const { runId } = useParams({ from: "/runs/$runId" });
  const run = useQuery(runQuery(runId));
  const audit = useQuery({
    queryKey: ["audit", runId],
    queryFn: () => getAll<AuditRow>(`/audit?runId=${encodeURIComponent(runId)}&limit=1000`, ROWS_MAX),
  });
  const called = useToolTitles();
  const events = useEvents(runId, run.data?.seq ?? 0);
  if (run.isPending) return <Waiting />;
  if (run.isError) return <Fault fault={run.error} retry={() => void run.refetch()} />;
  const shown = run.data;
  const steps = shown.steps.map((step) => ({ ...step, title: step.title || called(step.tool) }));
  const open = shown.suspensions.filter((card) => card.status === "pending");
  const closed = shown.suspensions.filter((card) => card.status !== "pending");
  return (
    <div className="run">
      <Head run={shown} download={() => save(`${shown.runId}.json`, JSON.stringify({ run: shown, events, audit: audit.data ?? [] }, null, 2))} />
      {open.map((card) => (
        <SuspendCard key={card.suspendId} told={card} level={2} />
      ))}
      {shown.closing !== null && (
        <Section title={said.closing} level={2} tone="closing">
          <div className="prose">
            <Seen text={withoutNotices(shown.closing, shown.notices)} lines />
          </div>
          {shown.notices.length > 0 && <Corrections notices={shown.notices} />}
        </Section>
      )}
      <div className="run-columns">
        <Section title={said.timeline} level={2}>
          <Timeline run={shown} events={events} />
        </Section>
        <div>
          <Section title={said.graph} level={2}>
            <p className="dim">{said.graphAbout}</p>
            <Suspense fallback={<Waiting />}>
              <Graph steps={steps} />
            </Suspense>
          </Section>
          <Budget budget={shown.budget} />
          {(shown.recovery ?? []).length > 0 && <Recovery decisions={shown.recovery ?? []} />}
        </div>
      </div>
      <Section title={said.steps} level={2}>
        {shown.steps.length === 0 ? <Empty>{words.empty.steps}</Empty> : <ol className={shown.steps.length > 50 ? "steps many" : "steps"}>{shown.steps.map((step) => <StepLine key={step.id} step={step} />)}</ol>}
      </Section>
      {closed.length > 0 && (
        <Section title={said.gates} level={2}>
          {closed.map((card) => (
            <details key={card.suspendId} className="gate">
              <summary>
                <Seen text={card.headline ?? words.card.unnamed} /> <Chip tone={CLOSED_TONES[card.status] ?? "plain"}>{words.card.closed[card.status] ?? card.status}</Chip>{" "}
                <span className="dim">
                  {words.card.origins[card.origin] ?? visibleWord(card.origin)}
                  {card.decidedByDisplay !== undefined && ", "}
                  {card.decidedByDisplay !== undefined && <Seen text={card.decidedByDisplay} />}
                </span>
              </summary>
              <SuspendCard told={card} />
            </details>
          ))}
        </Section>
      )}
      <Section title={said.audit} level={2}>
        {audit.isError && <Fault fault={audit.error} retry={() => void audit.refetch()} />}
        {audit.data !== undefined && <AuditTable rows={audit.data} ofOneRun />}
      </Section>
    </div>
  );
}

function Head({ run, download }: { run: RunSnapshot; download: () => void }) {
  const facts: [ReactNode, ReactNode][] = [
    [words.card.requester, <Seen key="by" text={run.requester.display} />],
    [said.created, <Moment key="at" at={run.createdAt} />],
    [said.autonomy, <code key="how">{visibleWord(run.autonomy)}</code>],
    [said.title, <code key="id">{visibleWord(run.runId)}</code>],
  ];
  return (
    <header className="page-head">
      <p>
        <Link to="/runs">{said.back}</Link>
      </p>
      <h1>
        <Seen text={run.request ?? words.runList.plan} /> <RunChip status={run.status} />
      </h1>
      <Pairs rows={facts} />
      <p className="row">
        {run.request !== null && (
          <Link to="/ask/$chatId" params={{ chatId: run.sessionId }}>
            {said.chat}
          </Link>
        )}
        <Button variant="default" size="xs" onClick={download}>
          {said.download}
        </Button>
      </p>
    </header>
  );
}

/** The run's event log, followed while the run moves. */
function useEvents(runId: string, seq: number): RunEvent[] {
  const [events, setEvents] = useState<RunEvent[]>([]);
  useEffect(() => setEvents([]), [runId]);
  useEffect(() => {
    const end = new AbortController();
    const tell = (found: RunEvent[]) =>
      setEvents((before) => {
        const last = before.at(-1)?.seq ?? 0;
        return [...before, ...found.filter((event) => event.seq > last)];
      });
    if (seq > 0) followEvents(runId, 0, tell, end.signal).catch(() => undefined);
    return () => end.abort();
  }, [runId, seq]);
  return events;
}

// -- steps, recovery, budget ---------------------------------------------------------------------

function StepLine({ step }: { step: Step }) {
  const called = useToolTitles();
  return (
    <li>
      <details className="tool-call">
        <summary>
          <code className="dim">{visibleWord(step.id)}</code> <Seen text={step.title || called(step.tool) || step.kind || ""} /> <StepChip status={step.status} />{" "}
          {step.attempt > 1 && <Chip>{said.attempt(step.attempt)}</Chip>}{" "}
          {step.insteadOf !== undefined && <Chip tone="info">{said.insteadOf(visibleWord(step.insteadOf))}</Chip>}{" "}
          {step.code !== undefined && <code className="dim">{visibleWord(step.code)}</code>}
          {step.message !== undefined && (
            <span className="why">
              <Seen text={step.message} />
            </span>
          )}
        </summary>
        {step.after.length > 0 && <p className="dim">{said.after(step.after.map(visibleWord).join(", "))}</p>}
        {step.args !== undefined && (
          <Section title={words.tool.arguments}>
            <Value value={step.args} />
          </Section>
        )}
        {step.result !== undefined && !(step.status === "skipped" && step.result === null) && (
          <Section title={words.tool.result}>
            <Value value={step.shown === undefined ? step.result : step.shown} />
          </Section>
        )}
      </details>
    </li>
  );
}

function Recovery({ decisions }: { decisions: Decision[] }) {
  return (
    <Section title={said.recovery} level={2}>
      <p className="dim">{said.recoveryAbout}</p>
      <ul className="plain decisions">
        {decisions.map((decision, index) => (
          <li key={index} className="notice">
            <p>
              <code>{visibleWord(decision.stepId)}</code> {decision.attempt > 1 && <Chip>{said.attempt(decision.attempt)}</Chip>}{" "}
              <strong>{words.plan.verbs[decision.verb ?? ""] ?? visibleWord(decision.verb ?? decision.kind ?? "")}</strong>
            </p>
            <p>
              <code>{visibleWord(decision.rule)}</code>
              {decision.why !== "" && ": "}
              <Seen text={decision.why} />
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Budget({ budget }: { budget: RunSnapshot["budget"] }) {
  const { stop, ...ceilings } = budget;
  return (
    <Section title={said.budget} level={2}>
      <p className="dim">{said.budgetAbout}</p>
      {stop !== undefined && (
        <div className="notice bad">
          <strong>{said.stopped}</strong>
          <Value value={stop as Json} />
        </div>
      )}
      <dl className="budget">
        {Object.entries(ceilings).map(([name, spent]) => {
          const { used, limit, unit } = spent as Spent;
          const label = said.ceilings[name] ?? name;
          return (
            <div key={name}>
              <dt>{label}</dt>
              <dd>
                <Progress value={Math.min(100, (100 * used) / limit)} aria-label={label} size="sm" />
                <span>
                  {said.of(count(used), count(limit))} <span className="dim">{unit}</span>
                </span>
              </dd>
            </div>
          );
        })}
      </dl>
    </Section>
  );
}
