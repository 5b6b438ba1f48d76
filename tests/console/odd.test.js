// Forms of every kind, outcomes that nobody knows, stand-ins, and text that must be shown and never run.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { ask, base, checkAccessible, close, launch, openCard, Person, readByScreens, readThrough } from "./browser.js";

const PAYLOADS = JSON.parse(readFileSync(new URL("./payloads.json", import.meta.url), "utf8"));
/** Texts of one request: each stands in arguments, titles, results, reasons, alerts, names and the audit. */
const TOGETHER = 5;
const step = (id, tool, args, ...after) => ({ id, tool, args, after });

describe("everything a card can hold", () => {
  let ada;

  before(async () => {
    await launch();
    ada = await Person.of("dr-ada");
  });

  after(async () => {
    await ada.leave().finally(close);
  });

  test("a form has a control for every hint, and keeps their bounds", async () => {
    const { page } = ada;
    const run = await ada.run({ plan: { steps: [step("f", "form.fill", {})] } });
    await page.goto(`${base}/inbox/${openCard(run).suspendId}`);
    const card = page.locator("article.card.open");
    await checkAccessible(page, "a form of every kind");
    await card.getByRole("radio", { name: "blue" }).check();
    await card.getByLabel("Ward").selectOption({ label: "Ward 7" });
    await card.getByRole("checkbox", { name: "Mon" }).check();
    await card.getByRole("checkbox", { name: "Wed" }).check();
    await card.getByLabel("Names").fill("Ann\nBo");
    await card.getByLabel("Born").fill("2999-01-01");
    await card.getByLabel("Seen").fill("2026-11-30T09:30");
    await card.getByLabel("Count").fill("12");
    await card.getByLabel("Weight").fill("71.5");
    await card.getByRole("radio", { name: "No", exact: true }).check();
    await card.getByLabel("Notes").fill("a line\nand another");
    await card.getByLabel("More").fill("{\"a\": [1]");
    await card.getByText("Look up", { exact: true }).first().click();
    await card.getByLabel("Look up: Patient").fill("Ann Haddad");
    await card.getByLabel("Look up: Patient").press("Enter");
    await card.getByRole("button", { name: "Ann Haddad, 47 y, female, MRN 1" }).click();
    assert.equal(await card.getByLabel("Patient", { exact: false }).first().inputValue(), "Patient/p-1");
    await card.getByRole("button", { name: "Answer" }).click();
    for (const fault of ["Not after", "This is no JSON object."]) await card.getByText(fault).first().waitFor();
    await card.getByLabel("Born").fill("1979-04-01");
    await card.getByLabel("Count").fill("3");
    await card.getByLabel("More").fill("{\"a\": [1]}");
    await card.getByRole("button", { name: "Answer" }).click();
    await page.locator("article.card.closed", { hasText: "Answered" }).waitFor();
    await page.getByRole("link", { name: "Read the card that asks now" }).click();
    const approval = page.locator("article.card.open.approval");
    await (await readThrough(approval)).click();
    await page.locator("article.card.closed", { hasText: "Approved" }).waitFor();
    const { filled } = (await ada.rest(run.runId)).steps[0].result;
    assert.deepEqual(filled, {
      colour: "blue", ward: "w7", days: ["Mon", "Wed"], names: ["Ann", "Bo"], born: "1979-04-01", seen: "2026-11-30T09:30:00.000Z",
      count: 3, weight: 71.5, fasting: false, notes: "a line\nand another", more: { a: [1] }, patient: "Patient/p-1",
    });
  });

  test("no press passes over a screen of a 100 kB argument", async () => {
    const page = await ada.tab();
    const run = await ada.run({ plan: { steps: [step("w", "note.write", { text: "lorem ipsum dolor ".repeat(5_600) })] } });
    for (const [width, height] of [[1280, 900], [390, 844], [360, 640], [844, 390]]) {
      await page.setViewportSize({ width, height });
      await page.goto(`${base}/inbox/${openCard(run).suspendId}`);
      const card = page.locator("article.card.open");
      await card.locator(".foreign").first().waitFor();
      const screens = (await card.boundingBox()).height / height;
      assert.ok(screens > 30, `${screens} screens`);
      // Each press that shows at most a screen more: all of it takes as many as it has screens.
      const { unseen } = await readByScreens(card, 2);
      assert.ok(unseen > 0);
      assert.ok((await page.evaluate(() => scrollY)) <= 3 * height, "two presses, two screens");
      const approve = card.getByRole("button", { name: "Approve", exact: true });
      await page.keyboard.press("End");
      await page.waitForTimeout(900);
      assert.ok(await approve.isDisabled(), `${screens} screens, a few of them seen`);
    }
    await page.close();
  });

  test("did it happen? A person knows, and says how", async () => {
    const { page } = ada;
    const run = await ada.run({ plan: { steps: [step("o", "order.send", { drug: "Amoxicillin" })] } });
    await page.goto(`${base}/runs/${run.runId}`);
    await (await readThrough(page.locator("article.card.open.approval"))).click();
    const asks = page.locator("article.card.open.reconcile");
    await asks.waitFor();
    assert.ok((await asks.innerText()).includes("does not expire"));
    await checkAccessible(page, "a run of unknown outcome");
    await asks.getByRole("radio", { name: "Yes" }).check();
    await asks.getByRole("button", { name: "Answer" }).click();
    await asks.getByText("This is needed.").waitFor();
    await asks.getByLabel("How you know").fill("the pharmacy has it");
    await asks.getByRole("button", { name: "Answer" }).click();
    await page.locator("h1 .chip", { hasText: "done" }).waitFor();
    const gates = page.locator("details.gate");
    assert.equal(await gates.count(), 2);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as JSON" }).click();
    const kept = JSON.parse(readFileSync(await (await downloading).path(), "utf8"));
    assert.equal(kept.run.runId, run.runId);
    assert.ok(kept.audit.some((row) => row.decision === "reconciled"));
    assert.deepEqual(kept.events.map((event) => event.seq), kept.events.map((_, index) => index + 1), "no event is missing or doubled");
  });

  test("did it happen? No: it goes back to its gate, and is asked anew", async () => {
    const { page } = ada;
    const run = await ada.run({ plan: { steps: [step("o", "order.send", { drug: "Amoxicillin" })] } });
    await page.goto(`${base}/runs/${run.runId}`);
    await (await readThrough(page.locator("article.card.open.approval"))).click();
    const asks = page.locator("article.card.open.reconcile");
    await asks.getByRole("radio", { name: "No" }).check();
    await asks.getByLabel("How you know").fill("the pharmacy has nothing");
    await asks.getByRole("button", { name: "Answer" }).click();
    const again = page.locator("article.card.open.approval");
    await again.waitFor();
    await again.getByRole("button", { name: "Reject" }).click();
    await page.locator("h1 .chip", { hasText: "ended early" }).waitFor();
    assert.equal((await ada.rest(run.runId)).suspensions.length, 3);
  });

  test("a stand-in: the plan's change is asked, named and drawn", async () => {
    const { page } = ada;
    const run = await ada.run({ plan: { steps: [step("l", "lab.read", { patient: "p" }), step("t", "step.take", { number: 1 }, "l")] } });
    await page.goto(`${base}/inbox/${openCard(run).suspendId}`);
    const card = page.locator("article.card.open");
    await card.getByText("the plan of this run would be changed").waitFor();
    await card.getByRole("heading", { name: "The plan, before and after" }).waitFor();
    await (await readThrough(card)).click();
    await page.locator("article.card.closed", { hasText: "Approved" }).waitFor();
    const rested = await ada.rest(run.runId);
    assert.equal(rested.status, "degraded");
    await page.goto(`${base}/runs/${run.runId}`);
    await page.getByText("instead of lab.read").waitFor();
    await page.locator(".timeline", { hasText: "Plan changed" }).waitFor();
    await page.locator(".timeline li", { hasText: "Call started" }).first().getByText("Read the laboratory").waitFor();
    await page.locator(".graph-step.degraded").waitFor();
    await page.locator(".budget", { hasText: "1 of 8" }).waitFor();
    await checkAccessible(page, "a run whose plan was changed");
  });

  for (const bypassCSP of [false, true]) {
    test(`hostile text is shown and never run, with the policy ${bypassCSP ? "off" : "on"}`, async () => {
      const mallory = await Person.of("dr-mallory", { bypassCSP });
      const { page } = mallory;
      const runs = [];
      for (let at = 0; at < PAYLOADS.length; at += TOGETHER) {
        const text = PAYLOADS.slice(at, at + TOGETHER).join("\n");
        // In words they are normalised and planned; as a plan they come through as they are.
        const write = { ...step("w", "note.write", { text, also: { [text.slice(0, 60)]: [text] } }, "l"), title: text };
        const plan = { steps: [{ ...step("l", "note.list", { text }), title: text }, step("b", "note.break", { text }), write] };
        runs.push(await mallory.run({ plan }));
        if (at === 0) runs.push(await mallory.run({ request: text }));
      }
      await page.goto(`${base}/inbox`);
      await page.locator(".inbox-line").nth(runs.length - 1).waitFor();
      const unfold = () => page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
      for (const [index, run] of runs.entries()) {
        await page.goto(`${base}/ask/${run.sessionId}`);
        await page.locator("article.card.open").waitFor();
        await unfold();
        const answer = { suspendId: openCard(run).suspendId, approved: index % 2 === 0, reason: PAYLOADS.slice(index, index + TOGETHER).join("\n") };
        await mallory.api(`/runs/${run.runId}/approve`, answer);
        await page.locator("article.card.closed").waitFor();
        await unfold();
      }
      for (const run of runs.slice(0, 3)) {
        await page.goto(`${base}/runs/${run.runId}`);
        await page.locator(".timeline li").first().waitFor();
        await unfold();
        await page.locator("table.audit .hash-button").first().click();
      }
      await page.goto(`${base}/runs`);
      await page.locator(".rows li").first().waitFor();
      const made = await page.evaluate(() => document.querySelectorAll("main script, main iframe, main object, main embed, main svg[onload], main [onerror], main a[href^='javascript:']").length);
      assert.equal(made, 0, "no element was made of a text");
      await mallory.leave();
    });
  }

  test("what hides or reorders is named, wherever it stands", async () => {
    const { page } = ada;
    const hidden = "give\u202E0091\u202C \u200Bmg\u2066";
    // As a plan: what is asked in words is normalised before it is planned.
    const write = { ...step("w", "note.write", { text: hidden }), title: `A title ${hidden}` };
    const run = await ada.run({ plan: { steps: [write] } });
    await page.goto(`${base}/inbox/${openCard(run).suspendId}`);
    const card = page.locator("article.card.open");
    await card.locator(".foreign").nth(1).waitFor();
    for (const part of [".pairs", ".foreign"]) {
      const text = (await card.locator(part).allInnerTexts()).join("\n");
      for (const named of ["U+202E", "U+202C", "U+200B", "U+2066"]) assert.ok(text.includes(named), `${named} in ${part}`);
    }
    assert.doesNotMatch(await page.locator("main").innerText(), /[\u202E\u202C\u200B\u2066]/, "none is left as it was");
    // By severity, each with its source; the model's words apart.
    assert.deepEqual(await card.locator(".alert-head .chip").allInnerTexts(), ["Critical", "Warning", "Note"]);
    assert.equal(await card.locator(".alert", { hasText: "the book, 2026" }).count(), 2);
    assert.ok((await card.locator(".foreign").last().innerText()).includes("a model may have written them"));
  });

  test("hidden characters in names, titles, reasons and evidence are named on every page", async () => {
    const NAMED = ["U+202E", "U+202C", "U+200B", "U+2066"];
    const veiled = await Person.of("dr-veiled");
    const { page } = veiled;
    const hidden = "a \u202Ereason\u202C\u200B\u2066";
    const call = { ...step("w", "note.veiled", { text: hidden }), title: `A title ${hidden}` };
    const run = await veiled.run({ plan: { steps: [call] } });
    const { suspendId } = openCard(run);
    const bare = /[\u202A-\u202E\u200B-\u200F\u2060-\u2069]/;
    const named = async (place, what) => {
      const text = await place.innerText();
      for (const name of NAMED) assert.ok(text.includes(name), `${name} in ${what}`);
    };
    const clean = async (what) => {
      assert.doesNotMatch(await page.locator("body").innerText(), bare, what);
      const told = await page.evaluate(() => [...document.querySelectorAll("[title], [aria-label], [placeholder]")].map((each) => `${each.title} ${each.getAttribute("aria-label")}`).join(" ") + document.title);
      assert.doesNotMatch(told, bare, `${what}: attributes`);
    };

    await page.goto(`${base}/inbox`);
    const line = page.locator(".inbox-line", { hasText: "Write a veiled note" });
    await line.waitFor();
    await named(line, "a line of the inbox");
    await named(page.locator("header.shell"), "the name of who is signed in");
    await clean("the inbox");
    await page.goto(`${base}/inbox/${suspendId}`);
    const card = page.locator("article.card.open");
    await card.locator(".foreign").nth(1).waitFor();
    for (const part of [".subject-name", ".facts", ".exactly", ".alert-head", ".alert .pairs", ".difference", ".foreign >> nth=0", ".foreign >> nth=1"]) await named(card.locator(part), part);
    await named(card.locator(".section", { hasText: "Worth knowing" }), "the context");
    await clean("a card");
    const refused = await veiled.api(`/runs/${run.runId}/approve`, { suspendId, approved: false, reason: hidden });
    // A reason that hides something is refused or shown for what it is; it is never drawn bare.
    if (refused.status === 422) {
      await card.getByLabel("Reason (kept with your decision)").fill(hidden);
      await card.getByRole("button", { name: "Reject" }).click();
      await card.getByRole("alert").waitFor();
      await clean("a reason that was refused");
      await veiled.api(`/runs/${run.runId}/approve`, { suspendId, approved: false, reason: "plain" });
    } else {
      await named(page.locator("article.card.closed .outcome"), "the reason");
    }
    await page.locator("article.card.closed", { hasText: "Rejected" }).waitFor();
    for (const path of [`/runs/${run.runId}`, `/ask/${run.sessionId}`, "/runs", `/inbox/${suspendId}`]) {
      await page.goto(base + path);
      await page.locator("main h1, main h2").first().waitFor({ state: "attached" });
      await page.locator("main").getByText("U+202E").first().waitFor();
      await page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true)));
      await clean(path);
    }
    await veiled.leave();
  });

  test("a chat goes back as far as it has runs, a page at a time", async () => {
    const { page } = ada;
    const begun = await ada.run({ plan: { steps: [step("t", "step.take", { number: 1 })] } });
    const sessionId = begun.sessionId;
    for (let number = 2; number <= 43; number++) await ada.api("/runs", { sessionId, plan: { steps: [step("t", "step.take", { number })] } });
    await ada.rest((await ada.api("/runs?limit=1")).body[0].runId);
    await page.goto(`${base}/ask/${sessionId}`);
    const earlier = page.getByRole("button", { name: "Show what was asked before" });
    await earlier.waitFor();
    const asked = page.locator(".asked");
    assert.equal(await asked.count(), 20);
    await earlier.click();
    await asked.nth(39).waitFor();
    await earlier.click();
    await asked.nth(42).waitFor();
    await earlier.waitFor({ state: "detached" });
    assert.equal(await page.locator(".answer .chip", { hasText: "done" }).count() >= 43, true, "each with its answer");
  });

  test("a question that was not understood ends, and says what can be asked", async () => {
    const { page } = ada;
    await page.goto(`${base}/`);
    await page.getByRole("textbox").fill("nonsense");
    await page.keyboard.press("Enter");
    await page.locator(".answer .speaker .chip", { hasText: "failed" }).waitFor();
    await page.locator(".answer", { hasText: "this is not understood" }).waitFor();
  });

  test("a connection that breaks is taken up; the run went on", async () => {
    const { page } = ada;
    let cut = 0;
    await page.route("**/api/v1/chat", async (route) => {
      const answer = await route.fetch();
      const body = (await answer.text()).split("\n\n").slice(0, 4).join("\n\n") + "\n\n";
      cut += 1;
      await route.fulfill({ response: answer, body });
    });
    const card = await ask(page, "cut off");
    await card.waitFor();
    assert.equal(cut, 1);
    await page.unroute("**/api/v1/chat");
    assert.equal(await page.locator("article.card").count(), 1);
    assert.equal(await page.locator(".plan").count(), 1, "nothing is doubled");
  });

  test("the check for accessibility finds what it should", async () => {
    const page = await ada.tab();
    await page.goto(`${base}/policy`);
    await page.locator("main h1").waitFor();
    await page.evaluate(() => document.querySelector("main").append(document.createElement("button")));
    await assert.rejects(checkAccessible(page, "a button without a name"), /button-name/);
    await page.close();
  });
});
