// A full inbox and a long run under the hand: what is typed and clicked is answered at once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { base, close, launch, Person } from "./browser.js";

/** Milliseconds between an input and the moment that the page begins to answer it, for 95 of 100. */
const DELAY_MS_P95 = 200;
const CARDS = Number(process.env.CONDOR_CARDS);
const LONG = process.env.CONDOR_LONG_RUN;

let ada;

before(async () => {
  await launch();
  ada = await Person.of("dr-ada");
});

after(async () => {
  await ada.leave().finally(close);
});

/** Input delays of everything done in here, in milliseconds. */
async function delaysOf(page, act) {
  await page.evaluate(() => {
    window.inputDelays = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.interactionId) window.inputDelays.push(entry.processingStart - entry.startTime);
    }).observe({ type: "event", durationThreshold: 16 });
  });
  await act();
  await page.waitForTimeout(300);
  return page.evaluate(() => window.inputDelays.sort((one, other) => one - other));
}

const p95 = (delays) => delays[Math.ceil(delays.length * 0.95) - 1] ?? 0;

test(`an inbox of ${CARDS} cards`, async (t) => {
  const { page } = ada;
  await page.goto(`${base}/inbox`);
  await page.locator(".inbox-line").nth(CARDS - 1).waitFor({ state: "attached" });
  const delays = await delaysOf(page, async () => {
    await page.getByLabel("Patient").pressSequentially("ann of ward 7", { delay: 20 });
    await page.getByLabel("Patient").fill("");
    for (const [place, line] of [0, 40, 200, CARDS - 1].entries()) {
      await page.locator(".inbox-line a").nth(line).click();
      await page.locator("article.card.open").waitFor();
      await page.getByLabel("Reason (kept with your decision)").pressSequentially(`no ${place}`, { delay: 20 });
    }
    await page.getByLabel("Tier").selectOption("low");
    await page.getByLabel("Tier").selectOption("");
  });
  t.diagnostic(`${delays.length} inputs, p95 ${p95(delays).toFixed(0)} ms`);
  assert.ok(delays.length > 10, "inputs were measured");
  assert.ok(p95(delays) < DELAY_MS_P95, `p95 ${p95(delays)} ms`);
});

test("a run of 200 steps", async (t) => {
  const { page } = ada;
  await page.goto(`${base}/runs/${LONG}`);
  await page.locator(".steps > li").nth(199).waitFor({ state: "attached" });
  await page.locator(".graph-step").first().waitFor();
  const delays = await delaysOf(page, async () => {
    for (const line of [0, 50, 199]) await page.locator(".steps > li summary").nth(line).click();
    for (let click = 0; click < 6; click++) await page.locator(".react-flow__controls-zoomin").click();
    for (let click = 0; click < 6; click++) await page.keyboard.press("Tab");
    await page.getByRole("button", { name: /colours/ }).click();
  });
  t.diagnostic(`${delays.length} inputs, p95 ${p95(delays).toFixed(0)} ms`);
  assert.ok(delays.length > 5, "inputs were measured");
  assert.ok(p95(delays) < DELAY_MS_P95, `p95 ${p95(delays)} ms`);
});
