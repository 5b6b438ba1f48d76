// The chat of @ai-sdk/react over its own transport, fed with golden streams: what an application keeps.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { Chat as Chat3 } from "@ai-sdk/react";
import { Chat as Chat4 } from "@ai-sdk/react-4";
import { DefaultChatTransport as Transport6 } from "ai";
import { DefaultChatTransport as Transport7 } from "ai-7";

import { golden, lastCard, run, sse, suspendIds } from "./golden.js";

const PAIRS = {
  "@ai-sdk/react 3.0.328 on ai 6.0.325": [Chat3, Transport6],
  "@ai-sdk/react 4.0.177 on ai 7.0.173": [Chat4, Transport7],
};

/** A chat whose requests are answered with these responses, in order. */
function chatOf([Chat, Transport], answers) {
  const asked = [];
  const faults = [];
  const chat = new Chat({
    id: "ses_1",
    transport: new Transport({
      api: "http://localhost/api/chat",
      fetch: async (url, { method = "GET" } = {}) => {
        asked.push(`${method} ${new URL(url).pathname}`);
        return answers[asked.length - 1];
      },
    }),
    onError: (fault) => faults.push(fault),
    onToolCall: ({ toolCall }) => faults.push(`asked to run ${toolCall.toolName}`),
    sendAutomaticallyWhen: () => false,
  });
  return { chat, asked, faults };
}

const callsOf = (message) => message.parts.filter((part) => part.type === "dynamic-tool");

function checkMessage(message, { runStatus, uiMessage }) {
  assert.equal(message.role, "assistant");
  assert.equal(message.metadata.runStatus, runStatus);
  const calls = callsOf(message);
  const ids = calls.map((part) => part.toolCallId);
  assert.equal(new Set(ids).size, ids.length, "one part an id");
  const cards = calls.filter((part) => part.toolName === "__suspend__");
  assert.deepEqual(cards.map((part) => part.toolCallId), suspendIds(uiMessage));
  for (const card of cards) assert.deepEqual(card.output, lastCard(uiMessage, card.toolCallId));
  const texts = message.parts.filter((part) => part.type === "text").map((part) => part.text);
  assert.ok(texts.length <= 1, "no text is doubled");
}

for (const [name, pair] of Object.entries(PAIRS)) {
  describe(name, () => {
    for (const { name: file, streams } of golden) {
      test(`${file}: sent, then resumed after each answer`, async () => {
        const { chat, asked, faults } = chatOf(pair, streams.map(({ uiMessage }) => sse(uiMessage)));
        await chat.sendMessage({ text: "please" });
        checkMessage(chat.messages.at(-1), streams[0]);
        for (const stream of streams.slice(1)) {
          await chat.resumeStream();
          assert.equal(chat.messages.length, 2, "the message is updated in place");
          checkMessage(chat.messages.at(-1), stream);
        }
        assert.equal(chat.status, "ready");
        assert.deepEqual(faults, []);
        assert.equal(asked.filter((request) => request.startsWith("POST")).length, 1, "no re-post by itself");
      });
    }

    test("reload: a new chat resumes and sees the whole message", async () => {
      const { streams } = run("approved");
      const { chat, asked, faults } = chatOf(pair, [sse(streams.at(-1).uiMessage)]);
      await chat.resumeStream();
      checkMessage(chat.messages.at(-1), streams.at(-1));
      assert.deepEqual(asked, ["GET /api/chat/ses_1/stream"]);
      assert.deepEqual(faults, []);
    });

    test("nothing to resume: 204 leaves the chat as it is", async () => {
      const { chat, faults } = chatOf(pair, [new Response(null, { status: 204 })]);
      await chat.resumeStream();
      assert.deepEqual(chat.messages, []);
      assert.equal(chat.status, "ready");
      assert.deepEqual(faults, []);
    });

    test("cut in the middle, resumed: nothing is doubled or lost", async () => {
      const stream = run("approved").streams.at(-1);
      for (const kept of [3, 6, 10, stream.uiMessage.length - 3]) {
        const cut = sse(stream.uiMessage.slice(0, kept), { done: false });
        const { chat, faults } = chatOf(pair, [cut, sse(stream.uiMessage)]);
        await chat.sendMessage({ text: "please" });
        await chat.resumeStream();
        checkMessage(chat.messages.at(-1), stream);
        assert.deepEqual(faults, []);
      }
    });
  });
}
