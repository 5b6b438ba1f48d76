// What decides what is shown, without a browser.

import { describe, expect, test } from "vitest";
import { whoMayAnswer } from "./answering";
import { diffLines } from "./difference";
import { readField } from "./form";
import { fits } from "./inbox";
import { liveSteps, withoutNotices } from "./message";
import type { RunMessage } from "./chats";
import { joined, lacking } from "./spans";
import { pieces, visible, visibleWord } from "./visible";
import { titlesOf } from "./timeline";
import type { Card, RunEvent, RunSnapshot } from "./wire";

describe("hidden text", () => {
  test("every character that hides or reorders is named, all other text stays", () => {
    const plain = "Größe 5 mg – ½ ☾ 患者 مريض";
    expect(visible(plain)).toBe(plain);
    for (const code of [0x00, 0x1b, 0xad, 0x200b, 0x200d, 0x202e, 0x2066, 0x2800, 0x3164, 0xfe0f, 0xfeff, 0xe0041, 0xf8ff, 0x2028]) {
      const hidden = String.fromCodePoint(code);
      expect(visible(`a${hidden}b`)).toBe(`a<U+${code.toString(16).toUpperCase().padStart(4, "0")}>b`);
    }
    expect(visible("\ud800")).toBe("<U+D800>");
    expect(pieces("")).toEqual([]);
  });

  test("in a closed vocabulary look-alikes are named too", () => {
    expect(visibleWord("delеte")).toBe("del<U+0435>te");
  });
});

describe("a run's timeline", () => {
  test("what one tool did is not told under the name of the one that took its place", () => {
    const told = (type: string, facts: object) => ({ type, runId: "r", seq: 1, at: "", stepId: "l", ...facts });
    const events = [
      told("step.started", { tool: "lab.read" }),
      told("step.settled", { status: "failed" }),
      told("approval.required", { tool: "lab.archive" }),
      told("suspension.closed", { status: "approved" }),
      told("plan.revised", { fromTool: "lab.read", toTool: "lab.archive" }),
      told("step.started", { tool: "lab.archive" }),
      told("step.settled", { status: "degraded" }),
    ] as RunEvent[];
    const run = { steps: [{ id: "l", tool: "lab.archive", title: "Read the archive" }] } as unknown as RunSnapshot;
    expect(titlesOf(events, run, (tool) => (tool === "lab.read" ? "Read the laboratory" : tool))).toEqual([
      "Read the laboratory", "Read the laboratory", "Read the archive", "Read the archive", "Read the laboratory", "Read the archive", "Read the archive",
    ]);
  });
});

describe("before and after", () => {
  test("what stays, goes and comes, none left out", () => {
    expect(diffLines({ list: ["a", "b", "c"], status: "active", gone: 1 }, { list: ["a", "x", "c"], status: "stopped", come: [true] })).toEqual([
      { mark: " ", path: "list", text: "a" },
      { mark: "-", path: "list", text: "b" },
      { mark: "+", path: "list", text: "x" },
      { mark: " ", path: "list", text: "c" },
      { mark: "-", path: "status", text: "active" },
      { mark: "+", path: "status", text: "stopped" },
      { mark: "-", path: "gone", text: "1" },
      { mark: "+", path: "come", text: "true" },
    ]);
  });

  test("one side alone, and nothing", () => {
    expect(diffLines(undefined, ["a"])).toEqual([{ mark: "+", path: "", text: "a" }]);
    expect(diffLines(null, null)).toEqual([]);
  });

  test("a long list ends", () => {
    const many = Array.from({ length: 1_500 }, (_, index) => `line ${index}`);
    expect(diffLines(many, [...many, "new"]).filter(({ mark }) => mark === "+").map(({ text }) => text)).toContain("new");
  });
});

describe("a form's values", () => {
  test("each kind is read as its type", () => {
    expect(readField("true", { type: "boolean" })).toEqual({ value: true });
    expect(readField('"w7"', { type: "string", oneOf: [{ const: "w7" }] })).toEqual({ value: "w7" });
    expect(readField("7", { type: "integer", oneOf: [{ const: 7 }] })).toEqual({ value: 7 });
    expect(readField(['"a"', '"b"'], { type: "array", items: { oneOf: [{ const: "a" }, { const: "b" }] } })).toEqual({ value: ["a", "b"] });
    expect(readField("Ann\n\nBo", { type: "array" })).toEqual({ value: ["Ann", "Bo"] });
    expect(readField("1.5", { type: "number" })).toEqual({ value: 1.5 });
    expect(readField('{"a":1}', { type: "object" })).toEqual({ value: { a: 1 } });
    expect(readField(" text ", { type: "string" })).toEqual({ value: " text " });
  });

  test("what is none is said", () => {
    for (const [raw, shape] of [
      ["1.5", { type: "integer" }],
      ["NaN", { type: "number" }],
      ["1e999", { type: "number" }],
      ["0", { type: "integer", minimum: 1 }],
      ["[1]", { type: "object" }],
      ["30-11-2026", { type: "string", format: "date" }],
      ["2026-12-01", { type: "string", format: "date", formatMaximum: "2026-11-30" }],
      ["2026-11-29", { type: "string", format: "date", formatMinimum: "2026-11-30" }],
    ] as const) {
      expect(readField(raw, shape), raw).toHaveProperty("fault");
    }
    expect(readField("2026-11-30", { type: "string", format: "date", formatMinimum: "2026-11-30", formatMaximum: "2026-11-30" })).toEqual({ value: "2026-11-30" });
  });
});

test("an inbox's filters", () => {
  const now = Date.parse("2026-11-30T12:00:00Z");
  const card = {
    toolName: "medication.prescribe",
    reasonCode: "approval",
    requester: "dr-okafor",
    openedAt: "2026-11-30T10:00:00Z",
    mayAnswer: false,
    policy: { effectiveTier: "high" },
    evidence: { subject: { name: "Melissa Smith", mrn: "POP-000035" } },
  } as unknown as Card;
  const all = { tool: "", tier: "", kind: "", patient: "", age: "", requester: "", mine: false };
  for (const some of [{}, { tool: "medication.prescribe" }, { tier: "high" }, { patient: "pop-000035" }, { patient: "smith" }, { age: "hour" }, { requester: "dr-okafor" }]) {
    expect(fits(card, { ...all, ...some }, now), JSON.stringify(some)).toBe(true);
  }
  for (const other of [{ tool: "x" }, { tier: "low" }, { kind: "reconcile" }, { patient: "jones" }, { age: "day" }, { age: "fresh" }, { requester: "x" }, { mine: true }]) {
    expect(fits(card, { ...all, ...other }, now), JSON.stringify(other)).toBe(false);
  }
});

describe("a run's message", () => {
  const steps = [
    { id: "s1", title: "", status: "pending" as const, deps: [] },
    { id: "s2", title: "", status: "pending" as const, deps: ["s1"] },
  ];
  const call = (stepId: string, state: string) => ({ type: "dynamic-tool", toolName: "t", toolCallId: stepId, state, callProviderMetadata: { condor: { stepId } } });
  const message = (runStatus: string, ...parts: unknown[]) => ({ id: "m", role: "assistant", metadata: { runStatus }, parts }) as unknown as RunMessage;

  test("between two tellings of the plan its calls say how the steps stand", () => {
    const live = liveSteps({ revision: 1, steps }, message("executing", call("s1", "output-available"), call("s2", "input-available")));
    expect(live.map((step) => step.status)).toEqual(["succeeded", "started"]);
  });

  test("at rest the plan itself is the truth", () => {
    expect(liveSteps({ revision: 1, steps }, message("aborted", call("s1", "output-available")))).toEqual(steps);
  });

  test("what the guard appended is taken out of the prose, to stand apart", () => {
    const notice = { kind: "not-completed", stepId: "s2", text: "⚠ Not completed: it was declined." };
    expect(withoutNotices(`Done.\n${notice.text}`, [notice])).toBe("Done.");
  });
});

describe("who may answer a card", () => {
  const said = (roles: string[], anybody: boolean, more: Partial<Card> = {}) =>
    whoMayAnswer({ answerers: { roles, anybody }, requester: "ann", requesterMayAnswer: false, ...more } as Card);

  test("as the server resolved it: nobody is never said as anybody", () => {
    expect(said([], true)).toBe("anybody signed in");
    expect(said([], false)).toBe("nobody");
    expect(said([], false, { requesterExcluded: true })).toBe("nobody");
    expect(said(["doctor", "nurse"], false)).toBe("doctor or nurse");
    expect(said([], true, { requesterExcluded: true })).toBe("anybody signed in, but not ann, who asked");
    expect(said(["doctor"], false, { requesterMayAnswer: true })).toBe("doctor, or ann, who asked");
    expect(said([], false, { requesterMayAnswer: true })).toBe("nobody, or ann, who asked");
  });
});

describe("what of a card was seen", () => {
  test("strips join, and the first that lacks is found", () => {
    const spans = joined([[300, 500], [0, 200], [150, 250]]);
    expect(spans).toEqual([[0, 250], [300, 500]]);
    expect(lacking(spans, 500, 2)).toBe(250);
    expect(lacking(joined([...spans, [249, 301]]), 501, 2)).toBe(null);
    expect(lacking([], 10, 2)).toBe(0);
    expect(lacking([[5, 10]], 10, 2)).toBe(0);
  });
});
