// Looking a value up with the tool that a form names: a run of its own, so that the search is under the
// reader's role and in the audit like any other.

import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { followEvents, get, post } from "./api";
import { Fault, Seen } from "./parts";
import { toolsQuery } from "./queries";
import { words } from "./words";
import { TERMINAL, type Json, type RunSnapshot } from "./wire";

interface Found {
  value: string;
  label: string;
}

/** Milliseconds for a search to rest. */
const PATIENCE_MS = 15_000;

export function Lookup({ tool, target, label, choose }: { tool: string; target?: string; label: string; choose: (value: string) => void }) {
  const tools = useQuery(toolsQuery);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found[] | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const args = tools.data?.find((each) => each.name === tool)?.args ?? [];
  const arg = (args.find((each) => each.required) ?? args[0])?.name;

  async function search() {
    if (arg === undefined || text.trim() === "") return;
    setBusy(true);
    setFault(null);
    try {
      setFound(await lookUp(tool, arg, text, target));
    } catch (problem) {
      setFault(problem);
    } finally {
      setBusy(false);
    }
  }

  return (
    <details className="lookup">
      <summary>{words.form.lookUp}</summary>
      <p className="dim">{words.form.lookUpAbout}</p>
      <div className="row">
        <TextInput
          aria-label={words.form.lookUpFor(label)}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            void search();
          }}
        />
        <Button variant="default" loading={busy} onClick={() => void search()}>
          {words.form.lookUp}
        </Button>
      </div>
      {fault !== null && <Fault fault={fault} />}
      {found?.length === 0 && <p role="status">{words.form.lookUpNothing}</p>}
      <ul className="plain">
        {found?.map((each) => (
          <li key={each.value}>
            <Button variant="subtle" size="compact-sm" onClick={() => choose(each.value)}>
              <Seen text={each.label} />
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}

async function lookUp(tool: string, arg: string, text: string, target: string | undefined): Promise<Found[]> {
  const run = await post<RunSnapshot>("/runs", { plan: { steps: [{ id: "look", tool, args: { [arg]: text }, after: [] }] } });
  await followEvents(run.runId, 0, () => undefined, AbortSignal.timeout(PATIENCE_MS));
  const rested = await get<RunSnapshot>(`/runs/${run.runId}`);
  if (!TERMINAL.has(rested.status)) await post(`/runs/${run.runId}/stop`, { reason: words.form.lookUp });
  const asked = rested.suspensions.flatMap((card) => Object.values(card.resumeSchema?.properties ?? {}));
  const offered = asked.flatMap((shape) => shape.oneOf ?? []).map((option) => ({ value: String(option.const), label: option.title ?? String(option.const) }));
  const found = new Map([...offered, ...references(rested.steps[0]?.result, target)].map((each) => [each.value, each]));
  return [...found.values()];
}

/** Everything in a result that has a reference of the wanted kind. */
function references(value: Json | undefined, target: string | undefined): Found[] {
  if (value === null || value === undefined || typeof value !== "object") return [];
  if (Array.isArray(value)) return value.flatMap((item) => references(item, target));
  const { reference, text, name } = value;
  const own =
    typeof reference === "string" && (target === undefined || reference.startsWith(`${target}/`))
      ? [{ value: reference, label: String(text ?? name ?? reference) }]
      : [];
  return [...own, ...Object.values(value).flatMap((item) => references(item, target))];
}
