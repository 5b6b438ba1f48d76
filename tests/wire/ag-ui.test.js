// Every golden AG-UI stream, through the client's own enforcement, verification and fold.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { HttpAgent } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";

import { golden, run, sse } from "./golden.js";

/** An agent whose posts are answered with golden streams, and what it posted. */
function agentOf(threadId, answers) {
  const posted = [];
  const agent = new HttpAgent({
    url: "http://localhost/agui",
    threadId,
    fetch: async (_, request) => {
      posted.push(JSON.parse(request.body));
      return sse(answers[posted.length - 1], { done: false });
    },
  });
  return { agent, posted };
}

/** Run to the stream's end; its outcome, and what the client complained of. */
async function follow(agent, resume) {
  const warned = [];
  const { warn, error } = console;
  console.warn = console.error = (...said) => warned.push(said.join(" "));
  const seen = {};
  try {
    await agent.runAgent(
      { runId: "stream_1", resume },
      {
        onRunFinishedEvent: ({ event }) => void (seen.finished = event),
        onRunErrorEvent: ({ event }) => void (seen.failed = event),
      },
    );
  } finally {
    Object.assign(console, { warn, error });
  }
  assert.deepEqual(warned, []);
  return seen;
}

const resumeOf = (agent) =>
  agent.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: { approved: true } }));

/** When the golden world's cards are answered: before they expire, whatever the machine's clock says. */
function atTheWardsTime(context) {
  context.mock.timers.enable({ apis: ["Date"], now: new Date("2026-11-30T09:00:00Z") });
}

describe("@ag-ui/core 1.0.0", () => {
  for (const { name, streams } of golden) {
    for (const { seq, agUi, agUiReplay } of streams) {
      test(`${name} at ${seq}: every event is valid`, () => {
        for (const event of [...agUi, ...(agUiReplay ?? [])]) assert.deepEqual(EventSchemas.parse(event), event);
      });
    }
  }
});

describe("@ag-ui/client 1.0.0", () => {
  for (const { name, streams } of golden) {
    test(`${name}: an agent follows it from rest to rest`, async (context) => {
      atTheWardsTime(context);
      const { agent, posted } = agentOf(streams[0].agUi[0].threadId, streams.map((stream) => stream.agUi));
      for (const { runStatus, seq } of streams) {
        const resume = agent.pendingInterrupts.length ? resumeOf(agent) : undefined;
        const seen = await follow(agent, resume);
        assert.deepEqual(agent.state, { runId: agent.state.runId, runStatus, seq });
        checkEnd(runStatus, seen, agent);
        checkMessages(agent);
      }
      assert.equal(posted.length, streams.length);
    });

    test(`${name}: an agent that comes late sees it whole`, async (context) => {
      atTheWardsTime(context);
      const { runStatus, agUi, agUiReplay = agUi } = streams.at(-1);
      const { agent } = agentOf("late", [agUiReplay]);
      checkEnd(runStatus, await follow(agent), agent);
      checkMessages(agent);
    });
  }

  test("two open cards are two interrupts, and resume must cover both", async (context) => {
    atTheWardsTime(context);
    const { streams } = run("gates");
    const { agent } = agentOf("t", [streams[0].agUi, streams[1].agUi]);
    await follow(agent);
    assert.equal(agent.pendingInterrupts.length, 2);
    await assert.rejects(follow(agent, resumeOf(agent).slice(0, 1)), /not addressed by resume/);
    await follow(agent, resumeOf(agent));
    assert.equal(agent.pendingInterrupts.length, 1, "the one that was not answered is asked again");
  });

  test("a continued stream opens no call that was opened before", () => {
    for (const { streams } of golden) {
      const opened = streams.flatMap(({ agUi }) => agUi.filter(({ type }) => type === "TOOL_CALL_START"));
      const ids = opened.map(({ toolCallId }) => toolCallId);
      assert.equal(new Set(ids).size, ids.length);
    }
  });
});

function checkEnd(runStatus, { finished, failed }, agent) {
  if (runStatus === "failed") {
    assert.ok(failed.message && failed.code);
    assert.equal(failed.metadata.condor.runStatus, "failed");
    return;
  }
  const expected = { suspended: "interrupt", aborted: "cancelled" }[runStatus] ?? "success";
  assert.equal(finished.outcome.type, expected);
  assert.equal(agent.pendingInterrupts.length > 0, expected === "interrupt");
  for (const interrupt of agent.pendingInterrupts) {
    assert.equal(interrupt.toolCallId, interrupt.id);
    assert.ok(interrupt.message);
    assert.equal(interrupt.responseSchema.type, "object");
    assert.equal(interrupt.metadata.condor.suspendId, interrupt.id);
  }
}

function checkMessages(agent) {
  const ids = agent.messages.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, "one message an id");
  const calls = agent.messages.flatMap(({ toolCalls = [] }) => toolCalls);
  const results = agent.messages.filter(({ role }) => role === "tool").map(({ toolCallId }) => toolCallId);
  const open = agent.pendingInterrupts.map(({ id }) => id);
  const answered = calls.map(({ id }) => id).filter((id) => !open.includes(id));
  assert.deepEqual([...results].sort(), answered.sort(), "each call has one result, but for the open cards");
  for (const call of calls) JSON.parse(call.function.arguments);
  assert.ok(agent.messages.filter(({ role }) => role === "activity").length <= 1);
}
