// Message processors: a form for each configuration, drawn from the catalog's schema. What is wired is a
// setting that a server reads at its start: here it is made and checked, and saved nowhere.

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { get, post } from "./api";
import { SchemaForm } from "./form";
import { Chip, Fault, Pairs, Section, Seen, Waiting } from "./parts";
import { words } from "./words";
import type { CheckedSetting, FieldShape, FormSchema, Json, JsonObject, Processor } from "./wire";

const said = words.builder;
type Draft = { [id: string]: JsonObject };

export function Processors() {
  const catalog = useQuery({ queryKey: ["processors"], queryFn: () => get<Processor[]>("/admin/processor-kernels"), staleTime: Infinity });
  if (catalog.isPending) return <Waiting />;
  if (catalog.isError) return <Fault fault={catalog.error} retry={() => void catalog.refetch()} />;
  return <Drafted catalog={catalog.data} />;
}

function Drafted({ catalog }: { catalog: Processor[] }) {
  const inForce = Object.fromEntries(catalog.flatMap((each) => (each.configuration === null ? [] : [[each.id, each.configuration]])));
  const [draft, setDraft] = useState<Draft>(inForce);
  const change = (id: string, configuration: JsonObject | null) =>
    setDraft((before) => {
      const { [id]: _, ...others } = before;
      return configuration === null ? others : { ...others, [id]: configuration };
    });
  return (
    <Section title={said.processors} level={2}>
      <p className="dim">{said.processorsAbout}</p>
      <ul className="plain processors">
        {catalog.map((each) => (
          <li key={each.id}>
            <OneProcessor processor={each} configuration={draft[each.id] ?? null} change={(configuration) => change(each.id, configuration)} />
          </li>
        ))}
      </ul>
      <Setting draft={draft} />
    </Section>
  );
}

function OneProcessor({ processor, configuration, change }: { processor: Processor; configuration: JsonObject | null; change: (configuration: JsonObject | null) => void }) {
  const schema = formOf(processor.configurationSchema);
  const defaults = Object.fromEntries(Object.entries(processor.configurationSchema.properties).map(([name, shape]) => [name, shape.default ?? null]));
  return (
    <details className="processor">
      <summary>
        <strong>{processor.title}</strong> {configuration === null ? <Chip>{said.off}</Chip> : <Chip tone="good">{said.on}</Chip>}{" "}
        <span className="dim">{processor.description}</span>
      </summary>
      <Pairs
        rows={[
          [said.limits, processor.limits],
          [said.reads, processor.stages.map((stage) => said.stages[stage] ?? stage).join(", ")],
        ]}
      />
      <SchemaForm
        key={JSON.stringify(configuration)}
        schema={schema}
        initial={configuration ?? defaults}
        busy={false}
        submit={configuration === null ? said.turnOn : said.take}
        send={change}
        beside={
          configuration !== null && (
            <Button variant="default" onClick={() => change(null)}>
              {said.turnOff}
            </Button>
          )
        }
      />
    </details>
  );
}

/** A configuration's schema in the shape that forms are drawn from. */
function formOf(schema: Processor["configurationSchema"]): FormSchema {
  const shapes = Object.entries(schema.properties).map(([name, { default: _, enum: words, ...shape }]): [string, FieldShape] => [
    name,
    words === undefined ? shape : { ...shape, oneOf: words.map((word) => ({ const: word, title: String(word) })) },
  ]);
  return { type: "object", properties: Object.fromEntries(shapes), required: schema.required ?? [] };
}

function Setting({ draft }: { draft: Draft }) {
  const key = JSON.stringify(draft);
  const checked = useQuery({
    queryKey: ["processors", "checked", key],
    queryFn: () => post<CheckedSetting>("/admin/processor-kernels/check", { processors: draft as { [id: string]: Json } }),
    placeholderData: (before) => before,
    staleTime: Infinity,
  });
  if (checked.isPending) return <Waiting />;
  if (checked.isError) return <Fault fault={checked.error} />;
  const { line, input, output, isInForce } = checked.data;
  return (
    <Section title={said.setting} level={3}>
      <p className={`notice ${isInForce ? "good" : "info"}`} role="status">
        {isInForce ? said.inForce : said.notInForce}
      </p>
      <Copied text={line} />
      <Pairs
        rows={[
          [said.wayIn, input.length === 0 ? said.none : input.join(" → ")],
          [said.wayOut, output.length === 0 ? said.none : output.join(" → ")],
        ]}
      />
    </Section>
  );
}

function Copied({ text }: { text: string }) {
  const [told, setTold] = useState("");
  const shown = useRef<HTMLElement>(null);
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setTold(said.copied);
    } catch {
      // Not every address is a secure one: the text is marked, so that a key copies it.
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current);
      setTold(said.copyByHand);
    }
  }
  return (
    <div className="setting">
      <code ref={shown}>
        <Seen text={text} />
      </code>
      <Button variant="default" size="xs" onClick={() => void copy()}>
        {said.copy}
      </Button>
      <span role="status" className="dim">
        {told}
      </span>
    </div>
  );
}
