// Audit rows as a table; each opens to all of its members.

import { Link } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import { Chip, Moment, Pairs, Seen, Value, type Tone } from "./parts";
import { visibleWord } from "./visible";
import { words } from "./words";
import type { AuditRow } from "./wire";

const said = words.audit.columns;
const TONES: { [decision: string]: Tone } = {
  approved: "good",
  executed: "good",
  answered: "good",
  denied: "bad",
  expired: "bad",
  stopped: "bad",
  "decision-rejected": "bad",
  suspended: "warn",
  unknown: "warn",
  reconciled: "info",
  "plan-revised": "info",
};

export function AuditTable({ rows, ofOneRun = false }: { rows: AuditRow[]; ofOneRun?: boolean }) {
  const [open, setOpen] = useState<string | null>(null);
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label={words.audit.title}>
      <table className="audit stacks" role="table">
        <thead role="rowgroup">
          <tr role="row">
            {[said.at, said.decision, said.tool, said.rule, said.actor, ...(ofOneRun ? [] : [said.run]), said.step, said.hash].map((name) => (
              <th key={name} scope="col" role="columnheader">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => {
            const key = `${row.runId}:${row.seq}`;
            return (
              <Fragment key={key}>
                <tr role="row">
                  <td role="cell" data-label={said.at}>{row.at !== undefined && <Moment at={row.at} seconds />}</td>
                  <td role="cell" data-label={said.decision}>
                    <Chip tone={TONES[row.decision ?? ""] ?? "plain"}>{visibleWord(row.decision ?? "?")}</Chip>
                  </td>
                  <td role="cell" data-label={said.tool}>{row.tool !== undefined && <code>{visibleWord(row.tool)}</code>}</td>
                  <td role="cell" data-label={said.rule}>{row.ruleId !== undefined && <code>{visibleWord(row.ruleId)}</code>}</td>
                  <td role="cell" data-label={said.actor}>{row.actor !== undefined && <Seen text={row.actor} />}</td>
                  {!ofOneRun && (
                    <td role="cell" data-label={said.run}>
                      <Link to="/runs/$runId" params={{ runId: row.runId }}>
                        <code>{visibleWord(row.runId.slice(0, 12))}…</code>
                      </Link>
                    </td>
                  )}
                  <td role="cell" data-label={said.step}>{row.stepId !== undefined && <Seen text={row.stepId} />}</td>
                  <td role="cell" data-label={said.hash}>
                    <button type="button" className="hash-button" aria-expanded={open === key} onClick={() => setOpen(open === key ? null : key)}>
                      <code>{row.hash.slice(0, 8)}</code>
                    </button>
                  </td>
                </tr>
                {open === key && (
                  <tr role="row">
                    <td role="cell" colSpan={8}>
                      <Pairs rows={Object.entries(row).map(([name, value]) => [<code key={name}>{visibleWord(name)}</code>, <Value key={name} value={value} />])} />
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
