// A changed call gets a card of its own; the old one is replaced. Nothing is run by it.

import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { post, Problem } from "./api";
import { Seen } from "./parts";
import { reread } from "./queries";
import { words } from "./words";
import type { Card, Json } from "./wire";

const said = words.card;

export function Edit({ card }: { card: Card }) {
  const [text, setText] = useState<string | null>(null);
  const [fault, setFault] = useState("");
  const [busy, setBusy] = useState(false);
  const args = (card as { editable?: boolean }).editable === true ? card.toolInput : undefined;
  if (args === undefined) return null;

  async function send() {
    let changed: Json;
    try {
      changed = JSON.parse(text ?? "") as Json;
    } catch {
      setFault(words.form.badJson);
      return;
    }
    setBusy(true);
    try {
      await post(`/suspensions/${encodeURIComponent(card.suspendId)}/edit`, { args: changed });
      setText(null);
    } catch (problem) {
      setFault(problem instanceof Problem ? problem.message : String(problem));
    } finally {
      await reread(card.runId);
      setBusy(false);
    }
  }

  if (text === null) {
    return (
      <Button variant="subtle" size="compact-sm" onClick={() => setText(JSON.stringify(args, null, 2))}>
        {said.edit}
      </Button>
    );
  }
  return (
    <div className="edit">
      <Textarea label={words.card.args} description={said.editAbout} autosize minRows={4} value={text} onChange={(event) => setText(event.currentTarget.value)} />
      {fault !== "" && (
        <p className="fault" role="alert">
          <Seen text={fault} />
        </p>
      )}
      <div className="row">
        <Button variant="default" loading={busy} onClick={() => void send()}>
          {said.editSend}
        </Button>
        <Button variant="subtle" onClick={() => setText(null)}>
          {said.cancel}
        </Button>
      </div>
    </div>
  );
}
