// The answer to an open card: a decision, or a form. What it covers is drawn above it, in card.tsx.

import { Button, Textarea } from "@mantine/core";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { post, Problem } from "./api";
import { serverNow } from "./clock";
import type { Coverage } from "./coverage";
import { keepDraft, useDraft } from "./drafts";
import { Edit } from "./edit";
import { SchemaForm } from "./form";
import { Section, Seen } from "./parts";
import { cardQuery, queryClient, reread } from "./queries";
import { visible, visibleWord } from "./visible";
import { words } from "./words";
import type { Card, JsonObject } from "./wire";

const said = words.card;
/** Milliseconds between two looks at a card whose answer got no answer. */
const LOOK_AGAIN_MS = 1_500;
/** Milliseconds between two looks at the clock, at most. */
const CLOCK_LOOK_MS = 15_000;
/** In place of a status: nobody refused it. */
const NOT_ARRIVED = -1;
const placeOf = (card: Card) => `reason ${card.suspendId} ${card.contractHash}`;

interface AnsweringProps {
  card: Card;
  coverage: Coverage;
  answered: (() => void) | undefined;
}

/** What whoever looks may do with an open card: decide, answer, or read who may. */
export function Answering({ card, coverage, answered }: AnsweringProps) {
  const [busy, setBusy] = useState<"" | "approve" | "reject" | "answer">("");
  const [fault, setFault] = useState<Problem | null>(null);
  const expired = useExpired(card);

  useEffect(() => {
    // The sweep closes it within seconds; until then it is shown as what it is.
    if (!expired) return undefined;
    const again = setInterval(() => void reread(card.runId), 3_000);
    return () => clearInterval(again);
  }, [expired, card.runId]);

  const unanswered = fault?.status === 0;
  useEffect(() => {
    // Whether it arrived is read from the card, when the server answers.
    if (!unanswered) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    let left = false;
    const look = async () => {
      try {
        const now = await queryClient.fetchQuery({ ...cardQuery(card.suspendId), staleTime: 0, retry: false });
        if (left) return;
        if (now.status === "pending") setFault(new Problem(NOT_ARRIVED, "not_arrived", said.notArrived));
        await reread(card.runId);
      } catch {
        if (!left) timer = setTimeout(() => void look(), LOOK_AGAIN_MS);
      }
    };
    timer = setTimeout(() => void look(), LOOK_AGAIN_MS);
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [unanswered, card.suspendId, card.runId]);

  async function give(how: "approve" | "reject" | "answer", path: string, body: JsonObject) {
    setBusy(how);
    setFault(null);
    try {
      await post(`/runs/${encodeURIComponent(card.runId)}/${path}`, { suspendId: card.suspendId, ...body });
      keepDraft(placeOf(card), "");
      answered?.();
    } catch (problem) {
      const fault = problem instanceof Problem ? problem : new Problem(0, "unreachable", words.problems.unreachable);
      setFault(fault);
      if (fault.status === 0) return setBusy("");
    }
    await reread(card.runId);
    setBusy("");
  }

  if (expired) return <p className="notice bad" role="status">{said.over}</p>;
  if (card.mayAnswer === undefined) return <div className="answering" aria-busy="true" />;
  if (!card.mayAnswer) return <p className="notice">{card.answerers === undefined ? said.notYoursOpen : said.notYours(whoMayAnswer(card))}</p>;
  const decides = card.reasonCode === "approval";
  return (
    <>
      {decides && !coverage.covered && <Unread coverage={coverage} />}
      <div className="answering">
        {decides ? (
          <Decision card={card} coverage={coverage} busy={busy} give={give} edited={() => answered?.()} />
        ) : (
          card.resumeSchema !== undefined && (
            <Section title={said.asks}>
              <SchemaForm
                schema={card.resumeSchema}
                ui={card.uiSchema}
                busy={busy === "answer"}
                submit={said.answer}
                send={(answer) => void give("answer", "resume", { resumeData: answer })}
              />
            </Section>
          )
        )}
        {fault !== null && (
          <div className={fault.status === NOT_ARRIVED ? "notice warn" : "notice bad"} role="alert">
            <p>
              <Seen text={fault.message} />
            </p>
            {unanswered && <p>{said.lookedAtAgain}</p>}
          {fault.status === 409 && <p>{said.lost}</p>}
            {fault.faults.length > 0 && (
              <ul>
                {fault.faults.map((each, index) => (
                  <li key={index}>
                    <code>{visibleWord(each.at)}</code>: <Seen text={each.why} />
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
      </div>
    </>
  );
}

/** Stands at the screen's foot along the whole card, until all of the card was seen. */
function Unread({ coverage }: { coverage: Coverage }) {
  const bar = useRef<HTMLParagraphElement>(null);
  const { card, unread } = coverage;
  // Who went through by keyboard stands at the reason next: not on Approve, where one press too many would decide.
  useLayoutEffect(
    () => () => {
      if (bar.current?.querySelector(":focus-visible")) card.current?.querySelector<HTMLElement>(".answering textarea")?.focus({ preventScroll: true });
    },
    [card],
  );
  return (
    <p ref={bar} id={unread} className="unread" role="status">
      {said.unread}{" "}
      <Button variant="subtle" size="compact-sm" onClick={coverage.showNext}>
        {said.showNext}
      </Button>
    </p>
  );
}

interface DecisionProps {
  card: Card;
  coverage: Coverage;
  busy: string;
  give: (how: "approve" | "reject", path: string, body: JsonObject) => Promise<void>;
  edited: () => void;
}

function Decision({ card, coverage, busy, give, edited }: DecisionProps) {
  const [reason, setReason] = useDraft(placeOf(card));
  const body = (approved: boolean): JsonObject => (reason.trim() === "" ? { approved } : { approved, reason: reason.trim() });
  return (
    <>
      <Textarea
        label={said.reason}
        autosize
        minRows={1}
        maxRows={6}
        maxLength={2_000}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <div className="row decide">
        <Button
          className="approve"
          disabled={!coverage.covered || (busy !== "" && busy !== "approve")}
          loading={busy === "approve"}
          aria-describedby={coverage.covered ? undefined : coverage.unread}
          onClick={() => void give("approve", "approve", body(true))}
        >
          {said.approve}
        </Button>
        <Button className="reject" variant="outline" color="red" disabled={busy !== "" && busy !== "reject"} loading={busy === "reject"} onClick={() => void give("reject", "approve", body(false))}>
          {said.reject}
        </Button>
      </div>
      <Edit card={card} edited={edited} />
    </>
  );
}

function useExpired(card: Card): boolean {
  const [expired, setExpired] = useState(false);
  useEffect(() => {
    if (card.expiresAt === undefined) return undefined;
    const until = new Date(card.expiresAt).getTime();
    let timer: ReturnType<typeof setTimeout>;
    // By the server's clock, looked at anew now and then: both clocks may be set, and no timer of a browser holds a month.
    const look = () => {
      const rest = until - serverNow();
      setExpired(rest <= 0);
      timer = setTimeout(look, rest <= 0 ? CLOCK_LOOK_MS : Math.min(rest, CLOCK_LOOK_MS));
    };
    look();
    return () => clearTimeout(timer);
  }, [card.expiresAt]);
  return expired;
}

export function whoMayAnswer(card: Card): string {
  const { roles: named, anybody } = card.answerers ?? { roles: [], anybody: false };
  const roles = named.map(visibleWord);
  const either = anybody ? said.anybody : roles.length === 0 ? said.nobody : new Intl.ListFormat("en", { type: "disjunction" }).format(roles);
  const requester = visible(card.requesterDisplay ?? card.requester ?? "");
  if (either !== said.nobody && card.requesterExcluded === true) return either + said.but(requester);
  if (!anybody && card.requesterMayAnswer === true) return either + said.orRequester(requester);
  return either;
}
