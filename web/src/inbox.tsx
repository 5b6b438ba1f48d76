// The inbox: every card that waits, across runs. Read and answered one by one.

import { Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { fromAddress, toAddress } from "./address";
import { SuspendCard } from "./card";
import { serverNow } from "./clock";
import { ago, left, useHalfMinute } from "./moments";
import { Chip, Empty, Fault, Seen, Waiting } from "./parts";
import { cardQuery, CARDS_MAX, inboxQuery, pickedQuery } from "./queries";
import { visible, visibleWord } from "./visible";
import { words } from "./words";
import type { Card } from "./wire";

const said = words.inbox;
const HOUR_MS = 3_600_000;

interface Filters {
  tool: string;
  tier: string;
  kind: string;
  patient: string;
  age: string;
  requester: string;
  mine: boolean;
}

/** What the server can pick by, for an inbox that is longer than is loaded. */
function pickedBy({ tool, tier, kind, requester, age }: Filters): { [name: string]: string } {
  const before = (hours: number) => new Date(Math.floor(serverNow() / 60_000) * 60_000 - hours * HOUR_MS).toISOString();
  const ages: { [age: string]: [string, string] } = {
    fresh: ["openedFrom", before(1)],
    hour: ["openedUntil", before(1)],
    day: ["openedUntil", before(24)],
  };
  const wanted: [string, string][] = [["tool", tool], ["tier", tier], ["kind", kind], ["requester", requester], ages[age] ?? ["", ""]];
  return Object.fromEntries(wanted.filter(([, value]) => value !== ""));
}

/** A patient's name stands in no address: addresses are kept by browsers and logs. */
const IN_ADDRESS = ["tool", "tier", "kind", "age", "requester", "mine"] as const;
const ALL: Filters = { tool: "", tier: "", kind: "", patient: "", age: "", requester: "", mine: false };

export function fits(card: Card, filters: Filters, now: number): boolean {
  const age = now - new Date(card.openedAt ?? now).getTime();
  const subject = card.evidence?.subject;
  const about = [subject?.name, subject?.mrn, subject?.text, subject?.reference].join(" ").toLowerCase();
  return (
    (filters.tool === "" || card.toolName === filters.tool) &&
    (filters.tier === "" || card.policy?.effectiveTier === filters.tier) &&
    (filters.kind === "" || card.reasonCode === filters.kind) &&
    (filters.requester === "" || card.requester === filters.requester) &&
    (filters.patient === "" || about.includes(filters.patient.toLowerCase())) &&
    (!filters.mine || card.mayAnswer === true) &&
    (filters.age === "" ||
      (filters.age === "fresh" && age < HOUR_MS) ||
      (filters.age === "hour" && age >= HOUR_MS) ||
      (filters.age === "day" && age >= 24 * HOUR_MS))
  );
}

export function InboxPage() {
  const { suspendId } = useParams({ strict: false });
  const all = useQuery(inboxQuery);
  const [filters, setFilters] = useState(() => fromAddress(ALL, IN_ADDRESS));
  const change = (next: Filters) => {
    setFilters(next);
    toAddress(next, ALL, IN_ADDRESS);
  };
  const wanted = useDeferredValue(filters);
  const now = useHalfMinute();
  // A list that is whole is picked from here; one that is not, by the server.
  const isWhole = (all.data?.length ?? 0) < CARDS_MAX;
  const inbox = useQuery(pickedQuery(isWhole ? {} : pickedBy(wanted)));
  const cards = useMemo(() => inbox.data ?? [], [inbox.data]);
  const shown = useMemo(() => cards.filter((card) => fits(card, wanted, now)), [cards, wanted, now]);

  return (
    <div className={`inbox ${suspendId === undefined ? "" : "chosen"}`}>
      <header className="page-head">
        <h1>
          {said.title} <span className="dim">{inbox.data !== undefined && said.count(shown.length, cards.length)}</span>
        </h1>
        <p className="dim">{said.about}</p>
        <FilterBar cards={all.data ?? []} filters={filters} change={change} />
      </header>
      <div className="inbox-columns">
        <nav aria-label={said.list} className="inbox-list">
          {inbox.isPending && <Waiting />}
          {inbox.isError && <Fault fault={inbox.error} retry={() => void inbox.refetch()} />}
          {inbox.isSuccess && shown.length === 0 && <Empty>{cards.length === 0 ? words.empty.inbox : words.empty.filtered}</Empty>}
          <ul className="plain">
            {shown.map((card) => (
              <Line key={card.suspendId} card={card} now={now} chosen={card.suspendId === suspendId} />
            ))}
          </ul>
        </nav>
        <div className="inbox-card">{suspendId === undefined ? <Empty>{said.choose}</Empty> : <Chosen suspendId={suspendId} />}</div>
      </div>
    </div>
  );
}

const Line = memo(function Line({ card, now, chosen }: { card: Card; now: number; chosen: boolean }) {
  const subject = card.evidence?.subject;
  const tier = card.policy?.effectiveTier;
  const critical = (card.evidence?.alerts ?? []).filter((alert) => alert.severity === "critical").length;
  return (
    <li className="inbox-line">
      <Link to="/inbox/$suspendId" params={{ suspendId: card.suspendId }} search={true} aria-current={chosen ? "true" : undefined}>
        <span className="line-head">
          <strong>
            <Seen text={card.origin === "planned_approval" ? words.card.planned : (card.headline ?? words.card.unnamed)} />
          </strong>
          {tier !== undefined && tier !== null && <Chip tone={tier === "low" ? "info" : "bad"}>{visibleWord(tier)}</Chip>}
          {card.reasonCode !== "approval" && <Chip tone="info">{words.card.kinds[card.reasonCode]}</Chip>}
          {critical > 0 && <Chip tone="bad">{words.card.severities.critical}</Chip>}
        </span>
        {subject !== undefined && (
          <span>
            <Seen text={subject.text ?? subject.name ?? subject.reference ?? ""} />
          </span>
        )}
        {card.evidence?.summary !== undefined && (
          <span className="dim summary">
            <Seen text={card.evidence.summary} />
          </span>
        )}
        <span className="dim line-foot">
          <span>{card.requester !== undefined && visible(card.requesterDisplay ?? card.requester)}</span>
          <span>{card.openedAt !== undefined && ago(card.openedAt, now)}</span>
          {card.expiresAt !== undefined && (
            <span>
              {words.card.expiresIn} {left(card.expiresAt, now).slice(0, 5)}
            </span>
          )}
          {card.mayAnswer === true && <Chip tone="good">{said.forYou}</Chip>}
        </span>
      </Link>
    </li>
  );
});

function Chosen({ suspendId }: { suspendId: string }) {
  const card = useQuery(cardQuery(suspendId));
  return (
    <>
      <p className="only-narrow">
        <Link to="/inbox" search={true}>{said.back}</Link>
      </p>
      {card.isPending && <Waiting />}
      {card.isError && <Fault fault={card.error} retry={() => void card.refetch()} />}
      {card.data !== undefined && <SuspendCard told={card.data} level={2} />}
      {card.data !== undefined && card.data.status !== "pending" && <Next />}
    </>
  );
}

/** After an answer: the oldest card that waits for this person. */
function Next() {
  const { data } = useQuery(inboxQuery);
  const next = data?.find((card) => card.mayAnswer === true);
  if (next === undefined) return null;
  return (
    <p className="next">
      <Link to="/inbox/$suspendId" params={{ suspendId: next.suspendId }} search={true}>
        {said.next}
      </Link>
    </p>
  );
}

function FilterBar({ cards, filters, change }: { cards: Card[]; filters: Filters; change: (filters: Filters) => void }) {
  const tools = useMemo(() => [...new Set(cards.flatMap((card) => card.toolName ?? []))].sort(), [cards]);
  const requesters = useMemo(
    () =>
      [...new Map(cards.flatMap((card) => (card.requester === undefined ? [] : [[card.requester, card.requesterDisplay ?? card.requester]])))]
        .map(([value, label]) => ({ value: value ?? "", label: visible(label ?? "") }))
        .sort((one, other) => one.label.localeCompare(other.label)),
    [cards],
  );
  const any = { value: "", label: said.any };
  const pick = (name: keyof Filters) => (event: { currentTarget: { value: string } }) => change({ ...filters, [name]: event.currentTarget.value });
  return (
    <details className="filters" open={window.matchMedia("(min-width: 60rem)").matches}>
      <summary>{said.filters}</summary>
      <div className="filter-fields">
        <TextInput label={said.patient} placeholder={said.patientHint} value={filters.patient} onChange={pick("patient")} />
        <NativeSelect label={said.tool} value={filters.tool} onChange={pick("tool")} data={[any, ...tools]} />
        <NativeSelect label={said.tier} value={filters.tier} onChange={pick("tier")} data={[any, "low", "high"]} />
        <NativeSelect
          label={said.kind}
          value={filters.kind}
          onChange={pick("kind")}
          data={[any, ...Object.entries(words.card.kinds).map(([value, label]) => ({ value, label }))]}
        />
        <NativeSelect
          label={said.age}
          value={filters.age}
          onChange={pick("age")}
          data={[any, ...Object.entries(said.ages).map(([value, label]) => ({ value, label }))]}
        />
        <NativeSelect label={said.requester} value={filters.requester} onChange={pick("requester")} data={[any, ...requesters]} />
        <Checkbox label={said.mine} checked={filters.mine} onChange={(event) => change({ ...filters, mine: event.currentTarget.checked })} />
      </div>
    </details>
  );
}
