// Small things that every page draws with.

import { Button, Loader } from "@mantine/core";
import { Fragment, useId, type ReactNode } from "react";
import { Problem } from "./api";
import { exactly, inWords } from "./moments";
import { pieces, visibleWord } from "./visible";
import { runWord, words } from "./words";
import type { Approvers, Json } from "./wire";

/** Foreign text: isolated from what stands beside it, with everything hidden in it shown. */
export function Seen({ text, lines = false }: { text: string; lines?: boolean }) {
  const parts = lines ? text.split("\n") : [text];
  return (
    <bdi className={lines ? "seen lines" : "seen"}>
      {parts.map((line, index) => (
        <Fragment key={index}>
          {index > 0 && <br />}
          {pieces(line).map((piece, place) =>
            piece.hidden ? (
              <mark key={place} className="hidden-char" title={words.nothingHidden(piece.text)}>
                {piece.text}
              </mark>
            ) : (
              <Fragment key={place}>{piece.text}</Fragment>
            ),
          )}
        </Fragment>
      ))}
    </bdi>
  );
}

export type Tone = "plain" | "good" | "warn" | "bad" | "info" | "busy";

export function Chip({ tone = "plain", children, title }: { tone?: Tone; children: ReactNode; title?: string }) {
  return (
    <span className={`chip ${tone}`} title={title}>
      {children}
    </span>
  );
}

const STEP_TONES: { [status: string]: Tone } = {
  started: "busy",
  suspended: "warn",
  unknown: "warn",
  succeeded: "good",
  degraded: "warn",
  failed: "bad",
  skipped: "plain",
};
const RUN_TONES: { [status: string]: Tone } = {
  planning: "busy",
  executing: "busy",
  suspended: "warn",
  succeeded: "good",
  degraded: "warn",
  failed: "bad",
  aborted: "bad",
};

export function StepChip({ status }: { status: string }) {
  return <Chip tone={STEP_TONES[status] ?? "plain"}>{words.steps[status] ?? status}</Chip>;
}

export function RunChip({ status }: { status: string }) {
  return <Chip tone={RUN_TONES[status] ?? "plain"}>{runWord(status)}</Chip>;
}

export function Moment({ at, seconds = false }: { at: string; seconds?: boolean }) {
  return (
    <time dateTime={at} title={exactly(at)}>
      {seconds ? exactly(at) : inWords(at)}
    </time>
  );
}

/** A value of any JSON shape, all of it. */
export function Value({ value }: { value: Json | undefined }) {
  if (value === undefined || value === null) return <code>null</code>;
  if (typeof value === "string") return isPlain(value) ? <Seen text={value} lines /> : <Quoted text={value} />;
  if (typeof value !== "object") return <code>{String(value)}</code>;
  if (Array.isArray(value)) {
    if (value.length === 0) return <code>[]</code>;
    return (
      <ul className="values">
        {value.map((item, index) => (
          <li key={index}>
            <Value value={item} />
          </li>
        ))}
      </ul>
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return <code>{"{}"}</code>;
  return <Pairs rows={entries.map(([name, item]) => [<Seen key={name} text={name} />, <Value key={name} value={item} />])} />;
}

/** Whether a string, drawn bare, could be taken for nothing else. */
function isPlain(text: string): boolean {
  return text !== "" && text.trim() === text && !/^(true|false|null|-?\d+(\.\d+)?([eE][+-]?\d+)?)$/.test(text);
}

function Quoted({ text }: { text: string }) {
  return (
    <span>
      “<Seen text={text} lines />”
    </span>
  );
}

export function Pairs({ rows }: { rows: [ReactNode, ReactNode][] }) {
  return (
    <dl className="pairs">
      {rows.map(([label, value], index) => (
        <div key={index}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface TableRow {
  key: string;
  /** In the order of the columns; null: nothing stands there. */
  cells: ReactNode[];
  className?: string;
}

/**
 * A table that a phone draws as blocks, each value with its column's name.
 *
 * `headed`: the first cell of a row names it. Roles are told: a block is no table to a screen reader.
 */
export function Table({ label, columns, rows, className = "", headed = false }: { label: string; columns: string[]; rows: TableRow[]; className?: string; headed?: boolean }) {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={label}>
      <table role="table" className={`stacks ${className}`}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((name) => (
              <th key={name} scope="col" role="columnheader">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={row.key} role="row" className={row.className}>
              {row.cells.map((cell, index) =>
                headed && index === 0 ? (
                  <th key={index} scope="row" role="rowheader">
                    {cell}
                  </th>
                ) : (
                  <td key={index} role="cell" data-label={columns[index]}>
                    {cell === null ? null : <div>{cell}</div>}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Who approves, as the server resolved it; empty where nobody is asked. */
export function approversInWords(approvers: Approvers | null): string {
  if (approvers === null) return "";
  if (approvers.anybody) return words.card.anybody;
  return approvers.roles.length === 0 ? words.card.nobody : approvers.roles.map(visibleWord).join(", ");
}

export function Section({ title, children, tone = "", level = 4 }: { title: ReactNode; children: ReactNode; tone?: string; level?: 2 | 3 | 4 }) {
  const id = useId();
  const Heading = `h${level}` as const;
  return (
    <section aria-labelledby={id} className={`section ${tone}`}>
      <Heading id={id}>{title}</Heading>
      {children}
    </section>
  );
}

export function Waiting() {
  return (
    <div className="waiting" role="status">
      <Loader size="sm" aria-hidden /> {words.loading}
    </div>
  );
}

export function Fault({ fault, retry }: { fault: unknown; retry?: () => void }) {
  const said = fault instanceof Error ? fault.message : String(fault);
  const missing = fault instanceof Problem && fault.status === 404;
  return (
    <div className={missing ? "notice" : "notice bad"} role="alert">
      <p>
        <Seen text={missing ? words.problems.notFound : said} />
      </p>
      {retry !== undefined && !missing && (
        <Button variant="default" size="xs" onClick={retry}>
          {words.problems.retry}
        </Button>
      )}
    </div>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <p className="empty">{children}</p>;
}
