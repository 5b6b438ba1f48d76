// Edit before approve: a changed call gets a card of its own; this one is replaced. Nothing is run by it.

import { Button } from "@mantine/core";
import { useState } from "react";
import { post, Problem } from "./api";
import { SchemaForm } from "./form";
import { inWords } from "./moments";
import { Fault, Pairs, Section, Seen, Value } from "./parts";
import { reread } from "./queries";
import { visibleWord } from "./visible";
import { words } from "./words";
import type { CallEdit, Card, JsonObject } from "./wire";

const said = words.card;

export function Edit({ card, edited }: { card: Card; edited: () => void }) {
  const [open, setOpen] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  if (card.editSchema === undefined) return null;

  async function send(args: JsonObject) {
    setBusy(true);
    setFault(null);
    try {
      await post(`/suspensions/${encodeURIComponent(card.suspendId)}/edit`, { args });
      edited();
    } catch (problem) {
      setFault(problem instanceof Problem ? problem : new Problem(0, "unreachable", words.problems.unreachable));
    } finally {
      await reread(card.runId);
      setBusy(false);
    }
  }

  if (!open) {
    return (
      <p>
        <Button variant="subtle" size="compact-sm" onClick={() => setOpen(true)}>
          {said.edit}
        </Button>
      </p>
    );
  }
  return (
    <Section title={said.edit} tone="edit">
      <p className="dim">{said.editAbout}</p>
      <SchemaForm schema={card.editSchema} ui={card.editUiSchema} before={card.toolInput ?? {}} busy={busy} submit={said.editSend} send={(args) => void send(args)} />
      {fault !== null && <Fault fault={fault} />}
      <p>
        <Button variant="subtle" size="compact-sm" onClick={() => setOpen(false)}>
          {said.cancel}
        </Button>
      </p>
    </Section>
  );
}

/** Who changed what, on the cards that this one replaced. */
export function Edits({ edits }: { edits: CallEdit[] }) {
  return (
    <Section title={said.edited}>
      {edits.map((edit, index) => (
        <div key={index}>
          <p className="dim">
            <Seen text={said.editedBy(edit.byDisplay, inWords(edit.at))} />
          </p>
          <Pairs
            rows={[...new Set([...Object.keys(edit.before), ...Object.keys(edit.after)])].map((name) => [
              <code key={name}>{visibleWord(name)}</code>,
              <span key={name}>
                {name in edit.before ? <Value value={edit.before[name]} /> : said.none} → {name in edit.after ? <Value value={edit.after[name]} /> : said.none}
              </span>,
            ])}
          />
        </div>
      ))}
    </Section>
  );
}
