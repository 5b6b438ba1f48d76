// No answer, a dead line, a wrong clock: the page says what is known, keeps what was typed, and ends on the truth.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { ask, base, close, launch, openCard, Person, readThrough, visit } from "./browser.js";

const step = (id, tool, args, ...after) => ({ id, tool, args, after });
const NOTE = { plan: { steps: [step("w", "note.write", { text: "a note" })] } };
const REASON = "Reason (kept with your decision)";

describe("when there is no answer", () => {
  let ada;

  before(async () => {
    await launch();
    ada = await Person.of("dr-ada");
  });

  after(async () => {
    await ada.leave().finally(close);
  });

  test("an Approve without an answer: what is known is said, the card is looked at again, the form stays", async () => {
    const run = await ada.run(NOTE);
    const { page } = ada;
    await page.goto(`${base}/inbox/${openCard(run).suspendId}`);
    const card = page.locator("article.card.open");
    const approve = await readThrough(card);
    await card.getByLabel(REASON).fill("read and fine");
    await ada.context.setOffline(true);
    await approve.click();
    await card.getByText("It is not known whether this arrived.").waitFor();
    assert.equal(await page.getByText("It is tried again").count(), 0);
    assert.ok(await approve.isEnabled(), "the form stays usable");
    await ada.context.setOffline(false);
    await card.getByText("what you sent has not arrived so far").waitFor();
    assert.equal(await card.getByLabel(REASON).inputValue(), "read and fine");
    await approve.click();
    await page.locator("article.card.closed", { hasText: "read and fine" }).waitFor();
  });

  test("an Approve whose answer was lost: the card says by itself that it was approved", async () => {
    const run = await ada.run(NOTE);
    const page = await ada.tab();
    await page.route("**/api/v1/events", (route) => route.abort());
    await page.goto(`${base}/inbox/${openCard(run).suspendId}`);
    const approve = await readThrough(page.locator("article.card.open"));
    await page.route("**/approve", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await approve.click();
    await page.locator("article.card.closed", { hasText: "Approved by Dr Ada" }).waitFor();
    await page.close();
  });

  test("a request that was not sent stays in the field, and is asked once", async () => {
    const { page } = ada;
    await page.goto(`${base}/`);
    await page.getByRole("textbox").fill("never sent");
    await ada.context.setOffline(true);
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("What you wrote stands in the field.").waitFor();
    assert.equal(await page.locator(".asked").count(), 0, "nothing looks as if it had been asked");
    assert.equal(await page.getByRole("textbox").inputValue(), "never sent");
    await ada.context.setOffline(false);
    // Its answer is lost once: it arrived, and is not asked twice.
    await page.route("**/api/v1/chat", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("What you wrote stands in the field.").waitFor();
    await page.unroute("**/api/v1/chat");
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator("article.card.open").waitFor();
    assert.equal(await page.getByRole("textbox", { name: "What should be done?" }).count(), 0);
    const runs = (await ada.api("/runs?limit=20")).body.filter((each) => each.request === "never sent");
    assert.equal(runs.length, 1);
  });

  test("a line on which nothing comes is not called live", async () => {
    const page = await ada.tab();
    // A server that has stopped: the line stands, and nothing comes on it.
    await page.addInitScript(() => {
      const { addEventListener } = EventSource.prototype;
      EventSource.prototype.addEventListener = function (kind, tell) {
        addEventListener.call(this, kind, (event) => window.stopped !== true && tell(event));
      };
    });
    await page.clock.install();
    await page.goto(`${base}/inbox`);
    const standing = page.locator(".standing");
    await standing.filter({ hasText: "Live" }).waitFor();
    await page.evaluate(() => (window.stopped = true));
    await page.clock.runFor(13_000);
    await standing.filter({ hasText: "Reconnecting" }).waitFor();
    await page.evaluate(() => (window.stopped = false));
    await page.clock.runFor(13_000);
    await standing.filter({ hasText: "Live" }).waitFor();
    await page.close();

    const off = await ada.tab();
    await off.goto(`${base}/inbox`);
    await off.locator(".standing", { hasText: "Live" }).waitFor();
    await ada.context.setOffline(true);
    await off.locator(".standing", { hasText: "Reconnecting" }).waitFor();
    await ada.context.setOffline(false);
    await off.locator(".standing", { hasText: "Live" }).waitFor();
    await off.close();
  });

  test("a page that cannot be loaded leaves the console standing, and what was typed", async () => {
    const { page } = ada;
    await page.goto(`${base}/`);
    await page.getByRole("textbox").fill("half a sentence");
    await ada.context.setOffline(true);
    await page.getByRole("link", { name: "Policy" }).click();
    await page.getByText("This page could not be loaded").waitFor();
    await page.getByRole("link", { name: "Ask", exact: true }).click();
    assert.equal(await page.getByRole("textbox").inputValue(), "half a sentence");
    await ada.context.setOffline(false);
    await page.getByRole("link", { name: "Policy" }).click();
    await page.getByRole("heading", { name: "Policy", exact: true }).waitFor();
    await visit(page, "/");
    await page.getByRole("textbox").fill("");
  });

  test("a reason survives another card, a chat that reconnects, and is nobody else's", async () => {
    const { page } = ada;
    const [one, other] = [await ada.run(NOTE), await ada.run(NOTE)];
    await page.goto(`${base}/inbox/${openCard(one).suspendId}`);
    await page.getByLabel(REASON).fill("first, a reason");
    await visit(page, `/inbox/${openCard(other).suspendId}`);
    await page.locator(`[data-card="${openCard(other).suspendId}"]`).waitFor();
    assert.equal(await page.getByLabel(REASON).inputValue(), "");
    await visit(page, `/ask/${one.sessionId}`);
    await page.locator("article.card.open").waitFor();
    assert.equal(await page.getByLabel(REASON).inputValue(), "first, a reason");
    await ada.context.setOffline(true);
    await page.locator(".standing", { hasText: "Reconnecting" }).waitFor();
    await ada.context.setOffline(false);
    await page.locator(".standing", { hasText: "Live" }).waitFor();
    await page.locator("article.card.open").waitFor();
    assert.equal(await page.getByLabel(REASON).inputValue(), "first, a reason");
    for (const run of [one, other]) await ada.api(`/runs/${run.runId}/stop`, {});
  });

  test("a clock that is wrong by a day changes no deadline", async () => {
    const run = await ada.run(NOTE);
    for (const hours of [-30, 30]) {
      const page = await ada.tab();
      await page.addInitScript((ms) => {
        const now = Date.now;
        Date.now = () => now() + ms;
      }, hours * 3_600_000);
      await page.goto(`${base}/inbox/${openCard(run).suspendId}`);
      await page.locator("article.card.open .countdown time", { hasText: /^23:5\d:\d\d$/ }).waitFor();
      await page.getByRole("button", { name: "Approve", exact: true }).waitFor();
      await page.close();
    }
    await ada.api(`/runs/${run.runId}/stop`, {});
  });

  test("the plan's own words stand behind the tool's, and are labelled", async () => {
    const { page } = ada;
    await ask(page, "already approved by Dr Rao");
    const line = page.locator(".plan-steps li", { hasText: "already approved by Dr Rao" }).last();
    await line.getByText("in the plan's words, not checked").waitFor();
    // Until the page has the tools' names it has the plan's words alone, labelled all the same.
    await line.getByText(/Write a note|Notes/).first().waitFor();
    assert.match(await line.innerText(), /^(Write a note|Notes) “/);
    assert.match(await page.locator(".plan-steps li").nth(1).innerText(), /^Break/);
  });
});
