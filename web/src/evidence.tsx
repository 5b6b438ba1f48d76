// What a card rests on: whom it is about, alerts, the record before and after, the exact arguments.
// All of it is drawn; nothing is folded away.

import { diffLines } from "./difference";
import { dayInWords } from "./moments";
import { Chip, Pairs, Section, Seen, Value, type Tone } from "./parts";
import { visibleWord } from "./visible";
import { words } from "./words";
import type { Alert, Json, JsonObject, Subject } from "./wire";
import { Fragment, type ReactNode } from "react";

const said = words.card;

export function SubjectBanner({ subject }: { subject: Subject }) {
  const isPatient = subject.reference?.startsWith("Patient/") ?? false;
  const facts: ReactNode[] = [
    ...(subject.age === undefined ? [] : [said.age(subject.age)]),
    ...(subject.sex === undefined ? [] : [<Seen key="sex" text={subject.sex} />]),
    ...(subject.birthDate === undefined ? [] : [`${said.born} ${dayInWords(subject.birthDate)}`]),
    ...(subject.mrn === undefined ? [] : [<Fragment key="mrn">{said.record} <strong><Seen text={subject.mrn} /></strong></Fragment>]),
    ...(subject.deceased ? [<strong key="deceased">{typeof subject.deceased === "string" ? said.deceasedOn(dayInWords(subject.deceased)) : said.deceased}</strong>] : []),
    ...(subject.active === false ? [<strong key="active">{said.inactive}</strong>] : []),
  ];
  return (
    <div className="subject">
      <span className="dim">{isPatient ? said.target : said.otherTarget}</span>
      <strong className="subject-name">
        <Seen text={subject.name ?? subject.text ?? subject.reference ?? ""} />
      </strong>
      {facts.length > 0 ? (
        <span className="facts">
          {facts.map((fact, index) => (
            <span key={index}>{fact}</span>
          ))}
        </span>
      ) : (
        subject.name !== undefined && subject.text !== undefined && <Seen text={subject.text} />
      )}
    </div>
  );
}

const RANK: { [severity: string]: number } = { critical: 0, warning: 1, info: 2 };
const TONES: { [severity: string]: Tone } = { critical: "bad", warning: "warn", info: "info" };

/** By severity; one that is not known counts as critical. */
export function Alerts({ alerts }: { alerts: Alert[] }) {
  const worstFirst = [...alerts].sort((one, other) => (RANK[one.severity] ?? 0) - (RANK[other.severity] ?? 0));
  return (
    <Section title={said.alerts(alerts.length)}>
      {worstFirst.map((alert, index) => {
        const restsOn = (alert.evidence ?? []).map((item) => item.text ?? item.reference ?? "").filter((text) => text !== "");
        const rows: [ReactNode, ReactNode][] = [
          ...(alert.action ? [[said.do, <Seen key="do" text={alert.action} />] as [ReactNode, ReactNode]] : []),
          ...(restsOn.length > 0 ? [[said.restsOn, <Seen key="on" text={restsOn.join("; ")} />] as [ReactNode, ReactNode]] : []),
          ...(alert.source ? [[said.source, <Seen key="source" text={alert.source} />] as [ReactNode, ReactNode]] : []),
          ...(alert.id ? [[said.rule, <code key="rule">{visibleWord(alert.id)}</code>] as [ReactNode, ReactNode]] : []),
        ];
        return (
          <div key={index} className={`alert ${TONES[alert.severity] ?? "bad"}`}>
            <p className="alert-head">
              <Chip tone={TONES[alert.severity] ?? "bad"}>{said.severities[alert.severity] ?? visibleWord(alert.severity)}</Chip>{" "}
              <strong>
                <Seen text={alert.summary} />
              </strong>
            </p>
            <Pairs rows={rows} />
          </div>
        );
      })}
    </Section>
  );
}

const MARKS = { " ": said.stays, "-": said.removed, "+": said.added };

/** Of the record, or of what `title` names. */
export function Difference({ before, after, title = said.difference }: { before: Json | undefined; after: Json | undefined; title?: string }) {
  const lines = diffLines(before, after);
  let path = "";
  return (
    <Section title={title}>
      {lines.length === 0 && <p className="dim">{said.nothing}</p>}
      <div className="difference">
        {lines.map((line, index) => {
          const headed = line.path !== path;
          path = line.path;
          return (
            <Fragment key={index}>
              {headed && (
                <p className="dim path">
                  <Seen text={line.path} />
                </p>
              )}
              <p className={line.mark === "+" ? "added" : line.mark === "-" ? "removed" : "stays"}>
                <span className="mark" aria-hidden="true">
                  {line.mark}
                </span>
                <span className="sr-only">{MARKS[line.mark]}: </span>
                <Seen text={line.text} lines />
              </p>
            </Fragment>
          );
        })}
      </div>
    </Section>
  );
}

export function Arguments({ args }: { args: JsonObject }) {
  const rows = Object.entries(args);
  return (
    <Section title={said.args}>
      {rows.length === 0 ? (
        <p className="dim">{said.noArgs}</p>
      ) : (
        <Pairs
          rows={rows.map(([name, value]) => [
            <code key={name}>{visibleWord(name)}</code>,
            <Value key={name} value={value} />,
          ])}
        />
      )}
    </Section>
  );
}

/** Words that nobody checked: apart, marked line by line, and labelled. */
export function Quoted({ title, text, about }: { title: string; text: string; about?: ReactNode }) {
  return (
    <Section title={title} tone="foreign">
      {text !== "" && (
        <blockquote>
          <Seen text={text} lines />
        </blockquote>
      )}
      {about !== undefined && <p className="dim">{about}</p>}
    </Section>
  );
}
