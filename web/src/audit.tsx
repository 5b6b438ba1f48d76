// The audit: rows by search, the chain's verdict, export.

import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { fromAddress, toAddress } from "./address";
import { get, getAll, getPage } from "./api";
import { AuditTable } from "./audit-table";
import { Empty, Fault, Moment, Pairs, Section, Seen, Waiting } from "./parts";
import { useMe } from "./queries";
import { save } from "./save";
import { words } from "./words";
import type { AuditRow, RunLine, Seals, Verdicts } from "./wire";

const said = words.audit;
const DECISIONS = [
  "run-started", "allowed", "suspended", "approved", "denied", "answered", "edited", "withdrawn", "expired", "executed",
  "unknown", "reconciled", "plan-revised", "plan-kept", "stopped", "corrected", "decision-rejected", "run-ended",
];
/** Rows of one export. */
const EXPORT_MAX = 100_000;
const MINUTE_MS = 60_000;
/** Milliseconds between two looks at the seals: the sealer looks every few seconds. */
const SEALS_EVERY_MS = 15_000;

interface Search {
  runId: string;
  ruleId: string;
  decision: string;
  tool: string;
  actor: string;
  from: string;
  until: string;
}

const IN_ADDRESS = ["runId", "ruleId", "decision", "tool", "actor", "from", "until"] as const;
const ALL: Search = { runId: "", ruleId: "", decision: "", tool: "", actor: "", from: "", until: "" };

function pathOf(search: Search, limit: number): string {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const name of ["runId", "ruleId", "decision", "tool", "actor"] as const) if (search[name] !== "") query.set(name, search[name]);
  if (search.from !== "") query.set("since", new Date(search.from).toISOString());
  // A minute that is named counts whole.
  if (search.until !== "") query.set("until", new Date(new Date(search.until).getTime() + MINUTE_MS - 1).toISOString());
  return `/audit?${query.toString()}`;
}

export function AuditPage() {
  const me = useMe();
  const readsAll = me.roles.some((role) => role === "auditor" || role === "admin");
  const [search, setSearch] = useState(() => fromAddress(ALL, IN_ADDRESS));
  const may = readsAll || search.runId !== "";
  const rows = useInfiniteQuery({
    queryKey: ["audit", search],
    queryFn: ({ pageParam }) => getPage<AuditRow>(pageParam),
    initialPageParam: pathOf(search, 200),
    getNextPageParam: (page) => page.next,
    enabled: may,
  });
  const found = rows.data?.pages.flatMap((page) => page.items) ?? [];

  async function exportRows() {
    const all = await getAll<AuditRow>(pathOf(search, 1_000), EXPORT_MAX);
    save("audit.jsonl", all.map((row) => `${JSON.stringify(row)}\n`).join(""), "application/x-ndjson");
  }

  return (
    <>
      <h1>{said.title}</h1>
      <p className="dim">{said.about}</p>
      {may && <Verdict runId={search.runId} />}
      {readsAll && search.runId === "" && <Sealing />}
      <SearchForm readsAll={readsAll} start={setSearch} />
      {!may && <Empty>{said.byRun}</Empty>}
      {may && rows.isPending && <Waiting />}
      {rows.isError && <Fault fault={rows.error} retry={() => void rows.refetch()} />}
      {rows.isSuccess && found.length === 0 && <Empty>{words.empty.audit}</Empty>}
      {found.length > 0 && (
        <>
          <p className="row">
            <span className="dim">{said.loaded(found.length)}</span>
            <Button variant="default" size="xs" onClick={() => void exportRows()}>
              {said.export}
            </Button>
          </p>
          <AuditTable rows={found} ofOneRun={search.runId !== ""} />
        </>
      )}
      {rows.hasNextPage && (
        <Button variant="default" loading={rows.isFetchingNextPage} onClick={() => void rows.fetchNextPage()}>
          {words.more}
        </Button>
      )}
    </>
  );
}

function SearchForm({ readsAll, start }: { readsAll: boolean; start: (search: Search) => void }) {
  const [draft, setDraft] = useState(() => fromAddress(ALL, IN_ADDRESS));
  const runs = useQuery({ queryKey: ["runs", "latest"], queryFn: () => get<RunLine[]>("/runs?limit=20"), enabled: !readsAll });
  const field = (name: keyof Search) => ({
    label: said[name === "ruleId" ? "rule" : name === "runId" ? "run" : name],
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) => setDraft({ ...draft, [name]: event.currentTarget.value }),
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    const search = Object.fromEntries(Object.entries(draft).map(([name, value]) => [name, value.trim()])) as unknown as Search;
    toAddress(search, ALL, IN_ADDRESS);
    start(search);
  }
  return (
    <form className="search" onSubmit={submit}>
      <TextInput {...field("runId")} list="your-runs" />
      <datalist id="your-runs">
        {(runs.data ?? []).map((run) => (
          <option key={run.runId} value={run.runId}>
            {run.request ?? words.runList.plan}
          </option>
        ))}
      </datalist>
      <NativeSelect {...field("decision")} data={[{ value: "", label: said.any }, ...DECISIONS]} />
      <TextInput {...field("tool")} />
      <TextInput {...field("ruleId")} />
      <TextInput {...field("actor")} />
      <TextInput {...field("from")} type="datetime-local" />
      <TextInput {...field("until")} type="datetime-local" />
      <Button type="submit">{said.search}</Button>
    </form>
  );
}

/** How far the chains are held by seals; the chain's verdict above says whether they hold. */
function Sealing() {
  const seals = useQuery({ queryKey: ["audit", "seals"], queryFn: () => get<Seals>("/audit/seals"), refetchInterval: SEALS_EVERY_MS });
  if (seals.isPending) return null;
  if (seals.isError) return <Fault fault={seals.error} retry={() => void seals.refetch()} />;
  const { last, unsealedRuns, isAtLeast } = seals.data;
  return (
    <Section title={said.sealing} level={2}>
      <p className="dim">{said.sealingAbout}</p>
      <Pairs
        rows={[
          [
            said.lastSeal,
            last === null ? (
              said.noSeal
            ) : (
              <>
                {said.seal(last.seq, last.runs)}
                {last.at !== undefined && (
                  <>
                    , <Moment at={last.at} seconds />
                  </>
                )}{" "}
                <code title={last.hash}>{last.hash.slice(0, 16)}</code>
              </>
            ),
          ],
          [said.unsealed, unsealedRuns === 0 ? said.allSealed : said.unsealedRuns(unsealedRuns, isAtLeast)],
        ]}
      />
    </Section>
  );
}

function Verdict({ runId }: { runId: string }) {
  const query = runId === "" ? "" : `?runId=${encodeURIComponent(runId)}`;
  const verdict = useQuery({ queryKey: ["audit", "verify", runId], queryFn: () => get<Verdicts>(`/audit/verify${query}`) });
  if (verdict.isPending) return <p className="notice" role="status">{said.checking}</p>;
  if (verdict.isError) return <Fault fault={verdict.error} retry={() => void verdict.refetch()} />;
  const { kept, runs, rows, bad } = verdict.data;
  return (
    <div className={`notice ${kept ? "good" : "bad"}`} role="status">
      <p>{kept ? said.kept(runs, rows) : said.broken(bad.length)}</p>
      {bad.length > 0 && (
        <ul>
          {bad.map((each) => (
            <li key={each.runId}>
              <Seen text={each.message} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
