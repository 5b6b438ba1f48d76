// A card that expires before anybody answers it. The server lets cards live for a few seconds.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ask, base, close, launch, openCard, Person } from "./browser.js";

let ada;

before(async () => {
  await launch();
  ada = await Person.of("dr-ada");
});

after(async () => {
  await ada.leave().finally(close);
});

test("expiry: nothing runs, the page says so by itself", async () => {
  const { page } = ada;
  const card = await ask(page, "too late");
  await card.locator(".countdown.soon").waitFor();
  await page.locator("article.card", { hasText: "Expired: nothing was run" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve", exact: true }).count(), 0);
  await page.locator("article.card.closed").waitFor();
  await page.locator(".answer .speaker .chip", { hasText: "ended early" }).waitFor();
  await page.locator(".corrections").waitFor();
  const [run] = (await ada.api("/runs?limit=1")).body;
  assert.equal((await ada.rest(run.runId)).suspensions[0].status, "expired");
});

test("expiry under the hand: a late answer is refused, and the card says why", async () => {
  const run = await ada.run({ request: "nearly late" });
  const { suspendId, expiresAt } = openCard(run);
  await new Promise((resolve) => setTimeout(resolve, new Date(expiresAt) - Date.now() + 50));
  const late = await ada.api(`/runs/${run.runId}/approve`, { suspendId, approved: true });
  assert.equal(late.status, 409);
  await ada.page.goto(`${base}/inbox/${suspendId}`);
  await ada.page.locator("article.card", { hasText: "Expired: nothing was run" }).waitFor();
});
