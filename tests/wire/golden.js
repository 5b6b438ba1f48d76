// The golden streams of wire/, as a client would get them.

import { readdirSync, readFileSync } from "node:fs";

const STREAMS = new URL("../../wire/streams/", import.meta.url);

/** Every golden file: `{ name, shows, streams: [{ runStatus, seq, uiMessage, agUi, agUiReplay? }] }`. */
export const golden = readdirSync(STREAMS)
  .filter((file) => file.endsWith(".json"))
  .sort()
  .map((file) => ({
    name: file.replace(".json", ""),
    ...JSON.parse(readFileSync(new URL(file, STREAMS), "utf8")),
  }));

/** One golden file by name. */
export function run(name) {
  return golden.find((file) => file.name === name);
}

/** A stream of values. */
export function streamOf(values) {
  return new ReadableStream({
    start(controller) {
      for (const value of values) controller.enqueue(value);
      controller.close();
    },
  });
}

/** The bytes of a server-sent event stream, as the server frames it: LF alone. */
export function sse(values, { done = true } = {}) {
  const lines = values.map((value) => `data: ${JSON.stringify(value)}\n\n`);
  return new Response(lines.join("") + (done ? "data: [DONE]\n\n" : ""), {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-vercel-ai-ui-message-stream": "v1",
      "x-accel-buffering": "no",
    },
  });
}

/** The ids of the cards that a stream of chunks shows, in their order. */
export function suspendIds(chunks) {
  return chunks.filter((chunk) => chunk.toolName === "__suspend__").map((chunk) => chunk.toolCallId);
}

/** The last state of a card in a stream of chunks. */
export function lastCard(chunks, suspendId) {
  return chunks.findLast((chunk) => chunk.type === "tool-output-available" && chunk.toolCallId === suspendId)
    .output;
}
