// Every golden UI message stream, read by the AI SDK of every version that people have.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as first from "ai-6-first";
import * as last from "ai-6-last";
import * as seven from "ai-7";

import { golden, lastCard, streamOf, suspendIds } from "./golden.js";

const VERSIONS = { "ai 6.0.0": first, "ai 6.0.326": last, "ai 7.0.173": seven };

/** The message that a client folds a stream into. */
async function fold(ai, chunks, message) {
  const faults = [];
  let folded;
  const stream = streamOf(structuredClone(chunks));
  for await (folded of ai.readUIMessageStream({ message, stream, onError: (fault) => faults.push(fault) }));
  assert.deepEqual(faults, []);
  return folded;
}

for (const [version, ai] of Object.entries(VERSIONS)) {
  describe(version, () => {
    for (const { name, streams } of golden) {
      for (const { runStatus, seq, uiMessage } of streams) {
        test(`${name} at ${seq}: every chunk is valid`, async () => {
          const schema = ai.uiMessageChunkSchema();
          for (const chunk of uiMessage) {
            const read = await schema.validate(chunk);
            assert.ok(read.success, `${JSON.stringify(chunk)}: ${read.error}`);
            assert.deepEqual(read.value, chunk);
          }
        });

        test(`${name} at ${seq}: it folds into one message`, async () => {
          const message = await fold(ai, uiMessage);
          assert.equal(message.id, uiMessage[0].messageId);
          assert.equal(message.metadata.runStatus, runStatus);
          assert.equal(message.metadata.seq, seq);
          const calls = message.parts.filter((part) => part.type === "dynamic-tool");
          const ids = calls.map((part) => part.toolCallId);
          assert.equal(new Set(ids).size, ids.length, "one part an id");
          assert.ok(message.parts.every((part) => !part.type.startsWith("tool-")), "no part broke in two");
          assert.ok(calls.every((part) => part.state.startsWith("output-")), "no call is left open");
          assert.ok(calls.every((part) => part.providerExecuted));
          const cards = calls.filter((part) => part.toolName === "__suspend__");
          assert.deepEqual(cards.map((part) => part.toolCallId), suspendIds(uiMessage));
          for (const card of cards) assert.deepEqual(card.output, lastCard(uiMessage, card.toolCallId));
          const open = cards.filter((part) => part.output.status === "pending");
          assert.equal(open.length > 0, runStatus === "suspended");
          assert.equal(message.parts.filter((part) => part.type === "data-plan").length, name === "not-understood" ? 0 : 1);
          const texts = message.parts.filter((part) => part.type === "text");
          assert.ok(texts.every((part) => part.state === "done"));
          assert.equal(texts.length, runStatus === "suspended" ? 0 : 1);
        });
      }
    }

    test("a null output stays null", async () => {
      const { streams } = golden.find((file) => file.name === "empty-output");
      const message = await fold(ai, streams.at(-1).uiMessage);
      const [part] = message.parts.filter((candidate) => candidate.type === "dynamic-tool");
      assert.equal(part.output, null);
    });
  });
}

test("the strict schema takes no key that is not its own", async () => {
  const read = await first.uiMessageChunkSchema().validate({ type: "start-step", stepId: "s1" });
  assert.equal(read.success, false);
});
