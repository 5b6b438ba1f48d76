// A suspend card, wherever it stands: in a chat, in the inbox, on a run's page. One shape for every gate.
// Headline, order, risk and difference come from the policy, the descriptor and the record; what a plan, a
// model or a requester wrote stands apart and says so.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useId, type ReactNode, type RefObject } from "react";
import { Answering, whoMayAnswer } from "./answering";
import { Covered, useCoverage } from "./coverage";
import { Edits } from "./edit";
import { Alerts, Arguments, Difference, Quoted, SubjectBanner } from "./evidence";
import { inWords, left, useSecond } from "./moments";
import { Chip, Moment, Pairs, Section, Seen, type Tone } from "./parts";
import { cardQuery, runQuery, useRuleReason } from "./queries";
import { visibleWord } from "./visible";
import { words } from "./words";
import type { Card, RunSnapshot } from "./wire";

const said = words.card;

const KIND_TONES: { [kind: string]: Tone } = { approval: "warn", clarification: "info", reconcile: "busy" };
export const CLOSED_TONES: { [status: string]: Tone } = { approved: "good", answered: "good", denied: "bad", expired: "bad" };

/**
 * One card.
 *
 * `told` is how a stream or a list has it; the server is asked how it stands, and whether you may answer.
 */
export function SuspendCard({ told, answered, level = 3 }: { told: Card; answered?: () => void; level?: 2 | 3 }) {
  const asked = useQuery(cardQuery(told.suspendId));
  const run = useQuery(runQuery(told.runId));
  const card: Card = told.status !== "pending" || asked.data === undefined ? { ...asked.data, ...told } : { ...told, ...asked.data };
  // Another contract is another card to read.
  return <DrawnCard key={`${card.suspendId} ${card.contractHash}`} card={card} run={run.data} isWhole={!run.isPending} answered={answered} level={level} />;
}

interface DrawnProps {
  card: Card;
  run: RunSnapshot | undefined;
  /** Whether everything that is shown with it has come. */
  isWhole: boolean;
  answered: (() => void) | undefined;
  level: 2 | 3;
}

function DrawnCard({ card, run, isWhole, answered, level }: DrawnProps) {
  const coverage = useCoverage(isWhole);
  const headline = useId();
  const Heading = `h${level}` as const;
  const planned = card.origin === "planned_approval";
  const open = card.status === "pending";
  useFocusKept(coverage.card, card.suspendId, open);
  const given = () => {
    answeredLast = card.suspendId;
    answered?.();
  };
  return (
    <article ref={coverage.card} tabIndex={-1} className={`card ${card.reasonCode} ${open ? "open" : "closed"}`} aria-labelledby={headline} data-card={card.suspendId}>
      <Covered>
        <header className="card-head">
          <Chip tone={open ? (KIND_TONES[card.reasonCode] ?? "warn") : "plain"}>{(open ? said.kinds : said.wasKinds)[card.reasonCode] ?? visibleWord(card.reasonCode)}</Chip>
          <Standing card={card} />
        </header>
        <Heading id={headline} className="headline">
          <Seen text={planned ? said.planned : (card.headline ?? said.unnamed)} />
        </Heading>
        <Call card={card} />
        {card.evidence?.subject !== undefined && <SubjectBanner subject={card.evidence.subject} />}
        {card.evidence?.summary !== undefined && (
          <p className="exactly">
            <span className="dim">{said.exactly}</span>
            <strong>
              <Seen text={card.evidence.summary} lines />
            </strong>
          </p>
        )}
        {!planned && card.message !== undefined && (
          <p className="message">
            <Seen text={card.message} lines />
          </p>
        )}
      </Covered>
      {open && card.reasonCode === "approval" && (
        <>
          <Body card={card} run={run} planned={planned} />
          <Answering card={card} coverage={coverage} answered={given} />
        </>
      )}
      {open && card.reasonCode !== "approval" && (
        <Body card={card} run={run} planned={planned} form={<Answering card={card} coverage={coverage} answered={given} />} />
      )}
      {!open && (
        <>
          <Outcome card={card} newer={newerOf(card, run)} />
          <details className="whole">
            <summary>{said.whole}</summary>
            <Body card={card} run={run} planned={planned} />
          </details>
        </>
      )}
    </article>
  );
}

/** The card that was answered last from here; a chat draws it anew when it goes on. */
let answeredLast = "";

/** Whoever answered stands on the card that they answered, not at the page's top. */
function useFocusKept(card: RefObject<HTMLElement | null>, suspendId: string, open: boolean) {
  useEffect(() => {
    if (open || answeredLast !== suspendId) return;
    if (document.activeElement === null || document.activeElement === document.body) card.current?.focus({ preventScroll: true });
  }, [card, suspendId, open]);
}

interface BodyProps {
  card: Card;
  run: RunSnapshot | undefined;
  planned: boolean;
  /** The form of a question stands before what it rests on; a decision comes after all of it. */
  form?: ReactNode;
}

function Body({ card, run, planned, form }: BodyProps) {
  const evidence = card.evidence ?? {};
  const context = evidence.context ?? [];
  return (
    <>
      {card.erased === true && (
        <Covered>
          <p className="notice warn">{said.erased}</p>
        </Covered>
      )}
      {(evidence.alerts ?? []).length > 0 && (
        <Covered>
          <Alerts alerts={evidence.alerts ?? []} />
        </Covered>
      )}
      {form !== undefined && <Words card={card} run={run} planned={planned} />}
      {form}
      {(evidence.before !== undefined || evidence.after !== undefined) && (
        <Covered>
          <Difference before={evidence.before} after={evidence.after} title={card.origin === "plan_mutation" ? said.planDifference : said.difference} />
        </Covered>
      )}
      {card.toolInput !== undefined && !planned && (
        <Covered>
          <Arguments args={card.toolInput} />
        </Covered>
      )}
      {(card.edits ?? []).length > 0 && (
        <Covered>
          <Edits edits={card.edits ?? []} />
        </Covered>
      )}
      {context.length > 0 && (
        <Covered>
          <Section title={said.context}>
            <Pairs rows={context.map((item) => [<Seen key={item.label} text={item.label} />, <Seen key={item.label} text={item.text} lines />])} />
          </Section>
        </Covered>
      )}
      {form === undefined && <Words card={card} run={run} planned={planned} />}
      <Covered>
        <Why card={card} />
      </Covered>
    </>
  );
}

/** What people and models wrote, apart from what the policy and the record say. */
function Words({ card, run, planned }: { card: Card; run: RunSnapshot | undefined; planned: boolean }) {
  const planSays = run?.steps.find((step) => step.id === card.stepId)?.title ?? "";
  const planWords = planned ? [card.headline ?? "", card.message ?? ""].filter((text) => text !== "").join("\n") : planSays;
  return (
    <>
      {run !== undefined && (
        <Covered>
          <Quoted
            title={said.request}
            text={run.request ?? ""}
            about={
              <>
                {run.request === null && `${said.requestPlan}. `}
                {said.requester} <Seen text={run.requester.display} />
              </>
            }
          />
        </Covered>
      )}
      {planWords !== "" && (
        <Covered>
          <Quoted title={said.planWords} text={planWords} />
        </Covered>
      )}
    </>
  );
}

/** The verb: which tool does which operation, of what class and tier. */
function Call({ card }: { card: Card }) {
  const policy = card.policy;
  const tier = policy?.effectiveTier;
  return (
    <p className="call">
      {card.toolName !== undefined && card.toolName !== "" && (
        <code>
          {visibleWord(card.toolName)}
          {card.op !== undefined && ` · ${visibleWord(card.op)}`}
        </code>
      )}
      {policy?.policyClass !== undefined && card.origin !== "planned_approval" && <Chip>{visibleWord(policy.policyClass)}</Chip>}
      {tier !== null && tier !== undefined && <Chip tone={tier === "low" ? "info" : "bad"}>{said.tier(visibleWord(tier))}</Chip>}
      {tier !== null && tier !== undefined && policy?.hitlTier !== tier && <span className="dim">{said.declared(policy?.hitlTier ?? null)}</span>}
    </p>
  );
}

function Standing({ card }: { card: Card }) {
  if (card.status !== "pending") return <Chip tone={CLOSED_TONES[card.status] ?? "plain"}>{said.closed[card.status] ?? card.status}</Chip>;
  return card.expiresAt === undefined ? <span className="dim">{said.noExpiry}</span> : <Countdown until={card.expiresAt} />;
}

export function Countdown({ until }: { until: string }) {
  const now = useSecond();
  const rest = new Date(until).getTime() - now;
  return (
    <span className={rest < 3_600_000 ? "countdown soon" : "countdown"} title={inWords(until)} role="timer" aria-live="off">
      {said.expiresIn} <time dateTime={until}>{left(until, now)}</time>
    </span>
  );
}

function Why({ card }: { card: Card }) {
  const policy = card.policy;
  const reason = useRuleReason(policy?.ruleId);
  const rows: [ReactNode, ReactNode][] = [];
  if (card.origin === "tool_policy" && policy?.ruleId !== undefined) {
    rows.push([said.rule, <Fragmented key="rule" code={policy.ruleId} text={reason} />]);
  } else {
    rows.push([said.because, said.origins[card.origin] ?? visibleWord(card.origin)]);
  }
  for (const name of policy?.promotions ?? []) {
    rows.push([said.promoted, <Fragmented key={name} code={name} text={said.promotions[name] ?? ""} />]);
  }
  if (card.answerers !== undefined) rows.push([said.mayAnswer, whoMayAnswer(card)]);
  if (card.expiresAt !== undefined) rows.push([said.expires, <Moment key="at" at={card.expiresAt} />]);
  rows.push([said.contract, <code key="hash" className="hash" title={card.contractHash}>{visibleWord(card.contractHash.replace(/^sha256:/, "").slice(0, 16))}</code>]);
  rows.push([
    said.run,
    <Link key="run" to="/runs/$runId" params={{ runId: card.runId }}>
      <code>{visibleWord(card.runId)}</code>
    </Link>,
  ]);
  return (
    <Section title={said.why}>
      <Pairs rows={rows} />
    </Section>
  );
}

function Fragmented({ code, text }: { code: string; text: string }) {
  return (
    <>
      <code>{visibleWord(code)}</code>
      {text !== "" && ": "}
      <Seen text={text} />
    </>
  );
}

/** The open card that took this one's place; undefined where there is none. */
function newerOf(card: Card, run: RunSnapshot | undefined): string | undefined {
  return run?.suspensions.find((other) => other.status === "pending" && other.stepId === card.stepId)?.suspendId;
}

/** How it was closed, and by whom. */
function Outcome({ card, newer }: { card: Card; newer: string | undefined }) {
  const who = card.decidedByDisplay ?? card.decidedBy;
  const reason = card.reason ?? (typeof card.resumeData?.reason === "string" ? card.resumeData.reason : "");
  const data = Object.entries(card.resumeData ?? {}).filter(([name]) => name !== "approved" && name !== "reason");
  return (
    <footer className="outcome">
      <p role="status">
        <strong>{said.closed[card.status] ?? card.status}</strong>
        {who !== undefined && card.decidedAt !== undefined && (
          <>
            {" "}
            <Seen text={said.by(who, inWords(card.decidedAt))} />
          </>
        )}
      </p>
      {newer !== undefined && (
        <Link to="/inbox/$suspendId" params={{ suspendId: newer }}>
          {said.newer}
        </Link>
      )}
      {reason !== "" && (
        <blockquote>
          <Seen text={reason} lines />
        </blockquote>
      )}
      {data.length > 0 && <Pairs rows={data.map(([name, value]) => [<code key={name}>{visibleWord(name)}</code>, <Seen key={name} text={String(value)} />])} />}
    </footer>
  );
}
