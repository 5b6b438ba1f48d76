// The same clients against a running server: start, answer, reload, answer elsewhere, stale, deny, cut, late.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";

import { HttpAgent } from "@ag-ui/client";
import { Chat as Chat3 } from "@ai-sdk/react";
import { Chat as Chat4 } from "@ai-sdk/react-4";
import { DefaultChatTransport as Transport6 } from "ai";
import { DefaultChatTransport as Transport7, uiMessageChunkSchema } from "ai-7";
import { uiMessageChunkSchema as strictSchema } from "ai-6-first";

import { api, chunksOf, post, reason, signedFetch } from "./live.js";

const PAIRS = { "@ai-sdk/react 3.0.328": [Chat3, Transport6], "@ai-sdk/react 4.0.177": [Chat4, Transport7] };

function chatOf([Chat, Transport], id = `chat-${randomUUID()}`) {
  const faults = [];
  const transport = new Transport({ api: api("/chat"), fetch: signedFetch });
  const chat = new Chat({ id, transport, onError: (fault) => faults.push(fault) });
  return { id, chat, faults };
}

const messageOf = (chat) => chat.messages.findLast((message) => message.role === "assistant");
const cardsOf = (chat) => messageOf(chat).parts.filter((part) => part.toolName === "__suspend__");
const openOf = (chat) => cardsOf(chat).filter((part) => part.output.status === "pending");
const statusOf = (chat) => messageOf(chat).metadata.runStatus;

async function started(pair, order) {
  const it = chatOf(pair);
  await it.chat.sendMessage({ text: order });
  assert.deepEqual(it.faults, []);
  it.runId = messageOf(it.chat).metadata.runId;
  return it;
}

const answer = (runId, suspendId, approved = true) =>
  post(`/runs/${runId}/approve`, { suspendId, approved, ...(approved ? {} : { reason: "no" }) });

for (const [name, pair] of Object.entries(PAIRS)) {
  describe(`${name}, live`, { skip: reason }, () => {
    test("start, card, answer: the card changes in place and the run ends", async () => {
      const { chat, runId, faults } = await started(pair, "prescribe");
      assert.equal(statusOf(chat), "suspended");
      const [card] = openOf(chat);
      assert.equal((await answer(runId, card.toolCallId)).status, 202);
      await chat.resumeStream();
      assert.equal(statusOf(chat), "succeeded");
      assert.deepEqual(cardsOf(chat).map((part) => [part.toolCallId, part.output.status]), [
        [card.toolCallId, "approved"],
      ]);
      assert.equal(messageOf(chat).parts.filter((part) => part.type === "text").length, 1);
      assert.deepEqual(faults, []);
    });

    test("reload: another chat of the same id sees the whole message", async () => {
      const { id, chat } = await started(pair, "prescribe");
      const reloaded = chatOf(pair, id);
      await reloaded.chat.resumeStream();
      assert.deepEqual(messageOf(reloaded.chat).parts, messageOf(chat).parts);
    });

    test("answered elsewhere, then here: one wins, the other is told who", async () => {
      const { id, chat, runId } = await started(pair, "prescribe");
      const [card] = openOf(chat);
      const elsewhere = chatOf(pair, id);
      await elsewhere.chat.resumeStream();
      assert.equal((await answer(runId, openOf(elsewhere.chat)[0].toolCallId)).status, 202);
      const late = await answer(runId, card.toolCallId, false);
      assert.equal(late.status, 409);
      assert.equal(late.body.code, "already_decided");
      await chat.resumeStream();
      assert.equal(statusOf(chat), "succeeded");
    });

    test("deny: the run is aborted and its text says so", async () => {
      const { chat, runId } = await started(pair, "prescribe");
      assert.equal((await answer(runId, openOf(chat)[0].toolCallId, false)).status, 202);
      await chat.resumeStream();
      assert.equal(statusOf(chat), "aborted");
      const [text] = messageOf(chat).parts.filter((part) => part.type === "text");
      assert.match(text.text, /⚠ Not completed:/);
    });

    test("two cards open: each is answered apart", async () => {
      const { chat, runId } = await started(pair, "prescribe and note");
      for (let left = 2; left > 0; left -= 1) {
        assert.equal(openOf(chat).length, left);
        assert.equal((await answer(runId, openOf(chat)[0].toolCallId)).status, 202);
        await chat.resumeStream();
      }
      assert.equal(statusOf(chat), "succeeded");
      assert.equal(cardsOf(chat).length, 2);
    });

    test("nothing to resume: an unknown chat stays empty", async () => {
      const { chat, faults } = chatOf(pair);
      await chat.resumeStream();
      assert.deepEqual(chat.messages, []);
      assert.deepEqual(faults, []);
    });
  });
}

describe("the stream itself, live", { skip: reason }, () => {
  test("late join: every chunk is valid, the headers are the protocol's", async () => {
    const { runId } = await started(PAIRS["@ai-sdk/react 4.0.177"], "prescribe");
    const { headers, chunks } = await chunksOf(`/runs/${runId}/stream`);
    assert.match(headers.get("content-type"), /^text\/event-stream/);
    assert.equal(headers.get("x-vercel-ai-ui-message-stream"), "v1");
    assert.equal(headers.get("x-accel-buffering"), "no");
    assert.equal(headers.get("cache-control"), "no-cache");
    for (const schema of [strictSchema(), uiMessageChunkSchema()]) {
      for (const chunk of chunks) assert.ok((await schema.validate(chunk)).success, JSON.stringify(chunk));
    }
    assert.equal(chunks[0].messageId, `msg_${runId}`);
  });

  test("cut by the client: the run goes on without it", async () => {
    const id = `chat-${randomUUID()}`;
    const cut = new AbortController();
    const message = { id: randomUUID(), role: "user", parts: [{ type: "text", text: "prescribe" }] };
    const response = await signedFetch(api("/chat"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id, messages: [message], trigger: "submit-message" }),
      signal: cut.signal,
    });
    await response.body.getReader().read();
    cut.abort();
    const { chat } = chatOf(PAIRS["@ai-sdk/react 3.0.328"], id);
    await chat.resumeStream();
    assert.equal(statusOf(chat), "suspended");
    assert.equal(openOf(chat).length, 1);
  });
});

describe("@ag-ui/client 1.0.0, live", { skip: reason }, () => {
  const agentOf = (threadId = randomUUID()) => new HttpAgent({ url: api("/agui"), threadId, fetch: signedFetch });

  async function follow(agent, parameters) {
    const seen = {};
    await agent.runAgent(parameters, {
      onRunFinishedEvent: ({ event }) => void (seen.outcome = event.outcome.type),
      onRunErrorEvent: ({ event }) => void (seen.failed = event.code),
    });
    return seen;
  }

  const resumeOf = (agent, payload) =>
    agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload }));

  async function asked(order) {
    const agent = agentOf();
    agent.addMessage({ id: randomUUID(), role: "user", content: order });
    return { agent, seen: await follow(agent) };
  }

  test("ask, interrupt, resume: one result for the card's call", async () => {
    const { agent, seen } = await asked("prescribe");
    assert.equal(seen.outcome, "interrupt");
    const [{ id }] = agent.pendingInterrupts;
    assert.equal((await follow(agent, { resume: resumeOf(agent, { approved: true }) })).outcome, "success");
    const results = agent.messages.filter(({ role, toolCallId }) => role === "tool" && toolCallId === id);
    assert.equal(results.length, 1);
    assert.equal(agent.state.runStatus, "succeeded");
  });

  test("deny is a resolved answer: the run is cancelled", async () => {
    const { agent } = await asked("prescribe");
    const resume = resumeOf(agent, { approved: false, reason: "no" });
    assert.equal((await follow(agent, { resume })).outcome, "cancelled");
  });

  test("two interrupts are resumed together", async () => {
    const { agent } = await asked("prescribe and note");
    assert.equal(agent.pendingInterrupts.length, 2);
    assert.equal((await follow(agent, { resume: resumeOf(agent, { approved: true }) })).outcome, "success");
  });

  test("a post that answers nothing gets an error, never the card again", async () => {
    const { agent } = await asked("prescribe");
    const forgetful = agentOf(agent.threadId);
    forgetful.addMessage({ id: randomUUID(), role: "user", content: "prescribe" });
    assert.ok((await follow(forgetful)).failed);
  });

  test("what is not understood is an error with its code", async () => {
    const { seen } = await asked("make everybody well");
    assert.equal(seen.failed, "request_not_understood");
  });
});
