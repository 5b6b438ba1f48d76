// A form drawn from a card's JSON Schema: one control for every hint, checked before it is sent by the
// same rules that decide later. Nothing has a default: what is not chosen is not answered.

import { Validator } from "@cfworker/json-schema";
import { Button, Checkbox, NativeSelect, Radio, Textarea, TextInput } from "@mantine/core";
import { useId, useRef, useState, type FormEvent, type ReactNode } from "react";
import { dayInWords } from "./moments";
import { Lookup } from "./lookup";
import { visible } from "./visible";
import { words } from "./words";
import type { FieldShape, FormSchema, Json, JsonObject, UiSchema } from "./wire";

/** Options that are drawn at once rather than behind a select. */
const RADIOS_MAX = 8;

type Raw = string | string[];
type Read = { value: Json } | { fault: string };

export function SchemaForm({
  schema,
  ui = {},
  busy,
  submit,
  send,
  before,
  initial,
  beside,
}: {
  schema: FormSchema;
  ui?: UiSchema;
  busy: boolean;
  submit: string;
  send: (answer: JsonObject) => void;
  /** The values that are changed, where there are some; only what differs is sent. */
  before?: JsonObject;
  /** The values that stand there at first; all of them are sent. */
  initial?: JsonObject;
  /** What stands beside the button. */
  beside?: ReactNode;
}) {
  const fields = Object.entries(schema.properties);
  const [first] = useState(() => Object.fromEntries(fields.map(([name, shape]) => [name, rawOf((before ?? initial)?.[name], shape)])));
  const [raw, setRaw] = useState<{ [name: string]: Raw }>(first);
  const [faults, setFaults] = useState<{ [name: string]: string }>({});
  const form = useRef<HTMLFormElement>(null);

  function sent(event: FormEvent) {
    event.preventDefault();
    const answer: JsonObject = {};
    const found: { [name: string]: string } = {};
    for (const [name, shape] of fields) {
      const needed = schema.required?.includes(name) ?? false;
      const given = raw[name];
      if (before !== undefined && JSON.stringify(given) === JSON.stringify(first[name])) continue;
      if (given === undefined || given.length === 0) {
        if (needed || (before !== undefined && shape.nullable !== true)) found[name] = words.form.required;
        else if (before !== undefined) answer[name] = null;
        continue;
      }
      const read = readField(given, shape);
      if ("fault" in read) found[name] = read.fault;
      else answer[name] = read.value;
    }
    if (before !== undefined && Object.keys(found).length === 0 && Object.keys(answer).length === 0) found[""] = words.form.unchanged;
    const given = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
    if (Object.keys(found).length === 0 && !new Validator(schema as never, "2020-12", false).validate(before === undefined ? answer : given).valid) {
      for (const [name, shape] of fields) {
        if (name in given && !new Validator(shape as never, "2020-12").validate(answer[name]).valid) found[name] = words.form.wrong;
      }
      if (before === undefined && Object.keys(found).length === 0) found[""] = words.form.wrong;
    }
    setFaults(found);
    if (Object.keys(found).length === 0) send(answer);
    else setTimeout(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true], [data-invalid=true] input")?.focus());
  }

  return (
    <form ref={form} className="form" onSubmit={sent} noValidate>
      {fields.map(([name, shape]) => (
        <Field
          key={name}
          name={name}
          shape={shape}
          widget={ui[name]?.["ui:widget"]}
          lookup={ui[name]?.["ui:lookup"]}
          value={raw[name] ?? ""}
          fault={faults[name]}
          needed={schema.required?.includes(name) ?? false}
          change={(value) => setRaw((before) => ({ ...before, [name]: value }))}
        />
      ))}
      {Object.keys(faults).length > 0 && (
        <p role="alert" className="fault">
          {faults[""] ?? words.form.check}
        </p>
      )}
      <div className="row">
        <Button type="submit" loading={busy}>
          {submit}
        </Button>
        {beside}
      </div>
    </form>
  );
}

interface FieldProps {
  name: string;
  shape: FieldShape;
  widget: string | undefined;
  lookup: { tool: string; target?: string } | undefined;
  value: Raw;
  fault: string | undefined;
  needed: boolean;
  change: (value: Raw) => void;
}

function Field({ name, shape, widget, lookup, value, fault, needed, change }: FieldProps) {
  const id = useId();
  const label = visible(shape.title ?? name);
  const text = typeof value === "string" ? value : "";
  const many = shape.type === "array";
  const options = ((many ? shape.items?.oneOf : shape.oneOf) ?? []).map((option) => ({
    value: JSON.stringify(option.const),
    label: visible(option.title ?? String(option.const)),
  }));
  const common = { id, label, error: fault, description: hintOf(shape), withAsterisk: needed, required: needed };

  if (many && options.length > 0) {
    return (
      <Checkbox.Group label={label} error={fault} withAsterisk={needed} value={Array.isArray(value) ? value : []} onChange={change} data-invalid={fault !== undefined}>
        <div className="options">
          {options.map((option) => (
            <Checkbox key={option.value} value={option.value} label={option.label} />
          ))}
        </div>
      </Checkbox.Group>
    );
  }
  if (shape.type === "boolean" || (options.length > 0 && (widget === "radio" || options.length <= RADIOS_MAX))) {
    const drawn = shape.type === "boolean" ? [{ value: "true", label: words.form.yes }, { value: "false", label: words.form.no }] : options;
    return (
      <Radio.Group label={label} error={fault} withAsterisk={needed} name={id} value={text} onChange={change} data-invalid={fault !== undefined}>
        <div className="options">
          {drawn.map((option) => (
            <Radio key={option.value} value={option.value} label={option.label} />
          ))}
        </div>
      </Radio.Group>
    );
  }
  if (options.length > 0) {
    return (
      <NativeSelect
        {...common}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
        data={[{ value: "", label: words.form.choose }, ...options]}
      />
    );
  }
  if (many || shape.type === "object" || widget === "textarea" || (shape.maxLength ?? 0) > 200) {
    return <Textarea {...common} autosize minRows={3} value={text} onChange={(event) => change(event.currentTarget.value)} />;
  }
  if (shape.type === "integer" || shape.type === "number") {
    return (
      <TextInput
        {...common}
        type="number"
        inputMode={shape.type === "integer" ? "numeric" : "decimal"}
        step={shape.type === "integer" ? 1 : "any"}
        min={shape.minimum}
        max={shape.maximum}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  }
  if (shape.format === "date" || shape.format === "date-time") {
    const long = shape.format === "date-time";
    const bound = (day: string | undefined, time: string) => (day === undefined ? undefined : long ? `${day.slice(0, 10)}T${time}` : day.slice(0, 10));
    return (
      <TextInput
        {...common}
        type={long ? "datetime-local" : "date"}
        min={bound(shape.formatMinimum, "00:00")}
        max={bound(shape.formatMaximum, "23:59")}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
      />
    );
  }
  return (
    <div className="looked-up">
      <TextInput {...common} value={text} maxLength={shape.maxLength} onChange={(event) => change(event.currentTarget.value)} />
      {lookup !== undefined && <Lookup {...lookup} label={label} choose={change} />}
    </div>
  );
}

/** What kind of value is meant, and its bounds. */
function hintOf(shape: FieldShape): string | undefined {
  const shown = (bound: number | string) => (typeof bound === "string" ? dayInWords(bound.slice(0, 10)) : String(bound));
  const least = shape.minimum ?? shape.formatMinimum;
  const most = shape.maximum ?? shape.formatMaximum;
  const said = [
    shape.description === undefined ? "" : visible(shape.description),
    least === undefined ? "" : words.form.from(shown(least)),
    most === undefined ? "" : words.form.to(shown(most)),
    shape.type === "array" ? words.form.oneALine : "",
    shape.type === "object" ? words.form.json : "",
  ].filter((word) => word !== "");
  return said.length === 0 ? undefined : said.join(" ");
}

/** A value as it stands in its control. */
function rawOf(value: Json | undefined, shape: FieldShape): Raw {
  if (value === undefined || value === null) return "";
  if (shape.type === "array") {
    const items = Array.isArray(value) ? value : [value];
    return (shape.items?.oneOf ?? []).length > 0 ? items.map((item) => JSON.stringify(item)) : items.map(String).join("\n");
  }
  if ((shape.oneOf ?? []).length > 0) return JSON.stringify(value);
  if (typeof value === "object") return JSON.stringify(value, null, 2);
  return shape.format === "date-time" ? String(value).slice(0, 16) : String(value);
}

/** What was typed as the field's value. */
export function readField(raw: Raw, shape: FieldShape): Read {
  if (shape.type === "array") {
    const chosen = Array.isArray(raw) ? raw.map((each) => JSON.parse(each) as Json) : raw.split("\n").filter((line) => line.trim() !== "");
    return { value: chosen };
  }
  const text = Array.isArray(raw) ? "" : raw;
  if (shape.type === "boolean") return { value: text === "true" };
  if (shape.oneOf !== undefined && shape.oneOf.length > 0) return { value: JSON.parse(text) as Json };
  if (shape.type === "integer" || shape.type === "number") return readNumber(text, shape);
  if (shape.type === "object") return readObject(text);
  if (shape.format === "date" || shape.format === "date-time") return readDate(text, shape);
  return { value: text };
}

function readNumber(text: string, shape: FieldShape): Read {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value) || (shape.type === "integer" && !Number.isInteger(value))) return { fault: words.form.number };
  if (shape.minimum !== undefined && value < shape.minimum) return { fault: words.form.notBefore(String(shape.minimum)) };
  if (shape.maximum !== undefined && value > shape.maximum) return { fault: words.form.notAfter(String(shape.maximum)) };
  return { value };
}

function readObject(text: string): Read {
  try {
    const value = JSON.parse(text) as Json;
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return { value };
  } catch {
    // Said below.
  }
  return { fault: words.form.badJson };
}

/** Bounds of dates are compared by day; a schema validator does not know them. */
function readDate(text: string, shape: FieldShape): Read {
  const moment = new Date(shape.format === "date" ? `${text}T00:00:00Z` : text);
  if (Number.isNaN(moment.getTime()) || !/^\d{4}-/.test(text)) return { fault: words.form.date };
  const day = text.slice(0, 10);
  const [least, most] = [shape.formatMinimum?.slice(0, 10), shape.formatMaximum?.slice(0, 10)];
  if (least !== undefined && day < least) return { fault: words.form.notBefore(dayInWords(least)) };
  if (most !== undefined && day > most) return { fault: words.form.notAfter(dayInWords(most)) };
  return { value: shape.format === "date" ? text : moment.toISOString() };
}
