// The main job in a real browser, on the demonstration hospital, under the policy that is served.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { ask, base, checkAccessible, close, launch, openCard, Person, readThrough, visit } from "./browser.js";

const PRESCRIBE = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI.";
const ALLERGY = "Record a latex allergy for Melissa Smith";
const FLAG = "Flag Melissa Smith as fall risk";

describe("the demonstration hospital", () => {
  let okafor;

  before(async () => {
    await launch();
    okafor = await Person.of("dr-okafor");
  });

  after(async () => {
    await okafor.leave().finally(close);
  });

  const written = async (name) => {
    const run = await okafor.run({ request: "What medicines does Melissa Smith take?" });
    return JSON.stringify(run.steps.map((step) => step.result)).split(name).length - 1;
  };

  test("where people ask it is said that no model is configured", async () => {
    await okafor.page.goto(`${base}/`);
    await okafor.page.getByText("No model is configured").waitFor();
  });

  test("ask, card, reload, approve in another tab: written once", async () => {
    const { page } = okafor;
    const card = await ask(page, PRESCRIBE);
    await card.waitFor();
    assert.match(page.url(), /\/ask\/chat_/);
    for (const said of ["Prescribe a medicine", "medication.prescribe · create", "high tier", "Melissa Smith", "47 years", "POP-000035", "Nitrofurantoin 100 mg oral, twice daily", "mutate.high-tier-always-approval"]) {
      assert.ok((await card.innerText()).includes(said), said);
    }
    assert.ok(await card.getByRole("button", { name: "Approve", exact: true }).isDisabled(), "not before it was seen");
    assert.equal(await page.getByRole("textbox", { name: "What should be done?" }).count(), 0, "nothing is asked while it waits");
    await checkAccessible(page, "a chat with a card");

    await page.reload();
    await card.waitFor();
    assert.equal(await page.locator("article.card").count(), 1);
    assert.equal(await page.locator(".asked").count(), 1);

    const other = await okafor.tab();
    await other.goto(`${base}/inbox`);
    await other.locator(".inbox-line", { hasText: "Prescribe a medicine" }).click();
    const there = other.locator("article.card.open");
    await (await readThrough(there)).click();
    await other.locator("article.card.closed", { hasText: "Approved" }).waitFor();
    // Whoever answered stands on the card, not at the page's top.
    assert.ok(await other.evaluate(() => document.activeElement?.matches("article.card") ?? false));
    assert.match(await other.title(), /Inbox · Condor/);
    await other.close();

    await page.locator("article.card.closed", { hasText: "Approved by Dr Okafor" }).waitFor();
    await page.locator(".answer .speaker .chip", { hasText: "done" }).waitFor();
    await page.locator(".prose", { hasText: "Prescribed" }).waitFor();
    const dose = "Nitrofurantoin 100 mg oral, twice daily, for 5 days";
    assert.equal(await page.locator(".plan-steps li.succeeded").count(), 3);
    assert.ok((await written(dose)) >= 1);

    await page.reload();
    await page.locator(".prose", { hasText: "Prescribed" }).waitFor();
    assert.equal(await page.locator(".prose").count(), 1, "nothing is told twice");
    // The chat goes on: the next run is its next message.
    await page.getByRole("textbox").fill("Show the allergies of Melissa Smith");
    await page.keyboard.press("Enter");
    await page.locator(".answer").nth(1).locator(".prose").waitFor();
    await page.reload();
    await page.locator(".answer").nth(1).locator(".prose", { hasText: "allergies" }).waitFor();
    assert.equal(await page.locator(".asked").count(), 2);
    await checkAccessible(page, "a chat that is done");
  });

  test("clarify, then approve, by keyboard alone", async () => {
    const { page } = okafor;
    const card = await ask(page, ALLERGY);
    await card.getByRole("radio", { name: "Environment" }).waitFor();
    await card.getByRole("button", { name: "Answer" }).press("Enter");
    await card.getByText("Some answers are missing").waitFor();
    await checkAccessible(page, "a form with faults");
    await card.getByRole("radio", { name: "Environment" }).press("Space");
    await card.getByRole("radio", { name: "High", exact: true }).press("Space");
    await card.getByRole("button", { name: "Answer" }).press("Enter");
    await page.locator("article.card.closed", { hasText: "Answered" }).waitFor();
    const asks = page.locator("article.card.open.approval");
    await asks.waitFor();
    const next = asks.getByRole("button", { name: "Show the next part" });
    const approve = asks.getByRole("button", { name: "Approve", exact: true });
    await approve.waitFor();
    for (let part = 0; part < 40 && !(await approve.isEnabled()); part++) {
      await next.press("Enter", { timeout: 500 }).catch(() => undefined);
      await page.waitForTimeout(60);
    }
    await approve.press("Enter");
    await page.locator(".answer .speaker .chip", { hasText: "done" }).waitFor();
    assert.ok(await page.evaluate(() => document.activeElement?.matches("article.card") ?? false), "focus stays on the card");
    assert.equal(await page.locator(".asked .speaker").innerText(), "You");
    await page.reload();
    await page.locator(".prose").waitFor();
    assert.equal(await page.locator(".asked .speaker").innerText(), "You");
    // The menu of who is signed in closes on Escape, and when one goes elsewhere.
    const menu = page.locator("details.person");
    await menu.locator("summary").press("Enter");
    await menu.getByRole("button", { name: "Sign out" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await menu.evaluate((each) => each.open), false);
    await menu.locator("summary").click();
    await page.locator(".prose").click();
    assert.equal(await menu.evaluate((each) => each.open), false);
  });

  test("reject: nothing is written, and the closing says so apart from the prose", async () => {
    const { page } = okafor;
    const card = await ask(page, FLAG);
    await card.getByLabel("Reason (kept with your decision)").fill("seen walking safely");
    await card.getByRole("button", { name: "Reject" }).click();
    await page.locator("article.card.closed", { hasText: "Rejected by Dr Okafor" }).waitFor();
    const corrections = page.locator(".corrections", { hasText: "Not completed" });
    await corrections.waitFor();
    assert.ok(!(await page.locator(".prose").allInnerTexts()).join("").includes("Not completed"));
    await page.locator(".answer .speaker .chip", { hasText: "ended early" }).waitFor();
    await checkAccessible(page, "a rejected run");
  });

  test("a stale click: another's answer came first, and the card says whose", async () => {
    const lindholm = await Person.of("dr-lindholm");
    const run = await okafor.run({ request: PRESCRIBE });
    const { suspendId } = openCard(run);
    // A tab that hears nothing of what others do.
    const deaf = await okafor.tab();
    await deaf.route("**/api/v1/events", (route) => route.abort());
    await deaf.goto(`${base}/inbox/${suspendId}`);
    const approve = await readThrough(deaf.locator("article.card.open"));
    const denied = await lindholm.api(`/runs/${run.runId}/approve`, { suspendId, approved: false, reason: "renal function first" });
    assert.equal(denied.status, 202);
    await approve.click();
    const closed = deaf.locator("article.card.closed", { hasText: "Rejected by Dr Lindholm" });
    await closed.waitFor();
    assert.ok((await closed.innerText()).includes("renal function first"));
    assert.equal((await okafor.rest(run.runId)).status, "aborted");
    await deaf.close();
    await lindholm.leave();
  });

  test("edit before approve: a new card asks for the call as changed", async () => {
    const { page } = okafor;
    const card = await ask(page, PRESCRIBE);
    await card.getByRole("button", { name: "Change the call" }).click();
    const form = card.locator(".edit");
    await form.getByRole("spinbutton").first().fill("50");
    await form.getByRole("button", { name: "Ask for this instead" }).click();
    const newer = page.locator("article.card.open", { hasText: "Changed before approval" });
    await newer.waitFor();
    await page.locator("article.card.closed", { hasText: "Replaced by a newer card" }).waitFor();
    assert.ok((await newer.innerText()).includes("Nitrofurantoin 50 mg"));
    await newer.getByRole("button", { name: "Reject" }).click();
    await page.locator(".answer .speaker .chip", { hasText: "ended early" }).waitFor();
  });

  test("the inbox is live: cards come and go by themselves", async () => {
    const inbox = await okafor.tab();
    await inbox.goto(`${base}/inbox`);
    await inbox.getByRole("status").filter({ hasText: "Live" }).waitFor();
    const line = inbox.locator(".inbox-line", { hasText: "Falls risk" });
    assert.equal(await line.count(), 0);
    const run = await okafor.run({ request: FLAG });
    await line.waitFor();
    await checkAccessible(inbox, "the inbox");

    await inbox.getByLabel("Tier").selectOption("low");
    await line.waitFor({ state: "detached" });
    await inbox.getByLabel("Tier").selectOption("high");
    await line.waitFor();
    assert.equal(new URL(inbox.url()).search, "?tier=high");
    await line.click();
    await inbox.locator("article.card.open").waitFor();
    await inbox.reload();
    await inbox.locator("article.card.open").waitFor();
    assert.equal(await inbox.getByLabel("Tier").inputValue(), "high", "the address keeps the filter");
    await inbox.goto(`${base}/inbox?tier=high`);
    await inbox.getByLabel("Patient").fill("POP-000035");
    await line.waitFor();
    await inbox.getByLabel("Patient").fill("nobody of that name");
    await inbox.getByText("No card fits these filters.").waitFor();
    await inbox.getByLabel("Patient").fill("");

    await line.click();
    await inbox.locator("article.card.open").waitFor();
    await checkAccessible(inbox, "a card in the inbox");
    const { suspendId } = openCard(run);
    await okafor.api(`/runs/${run.runId}/approve`, { suspendId, approved: false, reason: "a test" });
    await line.waitFor({ state: "detached" });
    await inbox.locator("article.card.closed", { hasText: "Rejected" }).waitFor();

    // A hidden page holds no connection; who comes back sees what was missed.
    const hide = (hidden) =>
      inbox.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    await inbox.getByRole("status").filter({ hasText: "Paused" }).waitFor();
    const missed = await okafor.run({ request: FLAG });
    await inbox.waitForTimeout(400);
    assert.equal(await line.count(), 0);
    await hide(false);
    await inbox.getByRole("status").filter({ hasText: "Live" }).waitFor();
    await line.waitFor();
    await okafor.api(`/runs/${missed.runId}/stop`, {});
    await line.waitFor({ state: "detached" });
    await inbox.close();
  });

  test("who may not answer is told who may", async () => {
    const tanaka = await Person.of("front-tanaka");
    const run = await tanaka.run({ request: "Find Melissa Smith" });
    await tanaka.page.goto(`${base}/runs/${run.runId}`);
    await tanaka.page.locator(".timeline li").first().waitFor();
    const others = await okafor.run({ request: FLAG });
    await tanaka.page.goto(`${base}/runs/${others.runId}`);
    await tanaka.page.getByText("There is nothing here, or it is not yours to see.").waitFor();
    await tanaka.leave();

    const reyes = await Person.of("audit-reyes");
    await reyes.page.goto(`${base}/inbox/${openCard(others).suspendId}`);
    await reyes.page.getByText("You cannot answer this: doctor or nurse can.").waitFor();
    assert.equal(await reyes.page.getByRole("button", { name: "Approve", exact: true }).count(), 0);
    await reyes.leave();
  });

  test("every page, in light, dark and on a phone, has no serious fault", async () => {
    const run = (await okafor.api("/runs?limit=50")).body.find((each) => each.status === "succeeded");
    const pages = {
      "/": "What should be done?",
      "/inbox": "Inbox",
      "/runs": "Runs",
      [`/runs/${run.runId}`]: run.request,
      "/audit": "Audit",
      "/policy": "Policy",
      "/builder": "Builder",
      [`/ask/${run.sessionId}`]: "Ask",
    };
    // The document is the same in each; in the dark its colours differ, on a phone its widths.
    for (const [options, rules] of [
      [{ colorScheme: "light" }, null],
      [{ colorScheme: "dark" }, ["color-contrast"]],
      [{ viewport: { width: 360, height: 740 } }, []],
    ]) {
      const reyes = await Person.of("audit-reyes", options);
      for (const [path, heading] of Object.entries(pages)) {
        await visit(reyes.page, path);
        await reyes.page.locator("main h1", { hasText: heading }).first().waitFor({ state: "attached" });
        await reyes.page.locator("main .waiting").first().waitFor({ state: "detached" });
        await reyes.page.waitForTimeout(50);
        if (rules === null || rules.length > 0) await checkAccessible(reyes.page, `${path} ${JSON.stringify(options)}`, rules);
        const wide = await reyes.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `${path} is ${wide} px too wide`);
      }
      await reyes.leave();
    }
  });

  test("audit: the chain's verdict, a search, an export", async () => {
    const reyes = await Person.of("audit-reyes");
    const { page } = reyes;
    await page.goto(`${base}/audit`);
    await page.getByText("The chain is whole").waitFor();
    await page.getByLabel("Decision").selectOption("denied");
    await page.getByRole("button", { name: "Search" }).click();
    await page.locator("table.audit tbody tr").first().waitFor();
    assert.equal(new URL(page.url()).search, "?decision=denied");
    await page.reload();
    assert.equal(await page.getByLabel("Decision").inputValue(), "denied");
    await page.locator("table.audit tbody tr").first().waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll("table.audit tbody td:nth-child(2)")].every((cell) => cell.textContent === "denied"));
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export as JSON lines" }).click();
    const { createReadStream } = await import("node:fs");
    let text = "";
    for await (const piece of createReadStream(await (await downloading).path())) text += piece;
    const rows = text.trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(rows.length > 0 && rows.every((row) => row.decision === "denied"));
    await reyes.leave();
  });

  test("audit: a time that is named is searched by the server; how far it is sealed is shown", async () => {
    const reyes = await Person.of("audit-reyes");
    const { page } = reyes;
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(`${base}/audit`);
    await page.getByRole("heading", { name: "Seals" }).waitFor();
    await page.getByText(/^number \d+, of \d+ runs?|^none yet/).waitFor();
    const { body: rows } = await reyes.api("/audit?limit=1000");
    const last = rows.map((row) => row.at).sort().at(-1);
    // The browser's zone is UTC here; a minute that is named counts whole.
    await page.getByLabel("From").fill(last.slice(0, 16));
    await page.getByLabel("Until").fill(last.slice(0, 16));
    await page.getByRole("button", { name: "Search" }).click();
    const fits = rows.filter((row) => row.at.slice(0, 16) === last.slice(0, 16)).length;
    await page.getByText(`${fits} rows`, { exact: true }).waitFor();
    const minute = `since=${encodeURIComponent(`${last.slice(0, 16)}:00.000Z`)}&until=${encodeURIComponent(`${last.slice(0, 16)}:59.999Z`)}`;
    assert.ok(asked.some((url) => url.includes(minute)), "the server searched");
    await page.getByLabel("From").fill("2001-01-01T00:00");
    await page.getByLabel("Until").fill("2001-01-01T00:01");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("No rows fit this search.").waitFor();
    await reyes.leave();
  });

  test("policy: a call is explained and not run", async () => {
    const { page } = okafor;
    const runs = (await okafor.api("/runs?limit=200")).body.length;
    await page.goto(`${base}/policy`);
    await page.getByRole("combobox", { name: "Tool" }).selectOption("medication.discontinue");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("destructive-op").waitFor();
    assert.equal((await okafor.api("/runs?limit=200")).body.length, runs);
  });

  test("signed out: nothing is left of what was seen; a link that was used says so", async () => {
    const osei = await Person.of("pharm-osei");
    const other = await osei.tab();
    await other.goto(`${base}/runs`);
    await other.locator("header.shell").waitFor();
    await osei.page.locator("details.person summary").click();
    await osei.page.getByRole("button", { name: "Sign out" }).click();
    await osei.page.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await checkAccessible(osei.page, "signing in");
    await osei.page.goto(`${base}/inbox#principal=pharm-osei&code=code_that_was_used`);
    await osei.page.getByText("This link did not sign you in").waitFor();
    await osei.leave();
  });

  test("somebody else signs in: nothing of the former is left, in no tab and no request", async () => {
    const desk = await Person.of("dr-okafor");
    const { page } = desk;
    const code = process.env.CONDOR_CODE;
    const run = await desk.run({ request: FLAG });
    const { suspendId } = openCard(run);
    const link = (who) => `${base}/#principal=${who}&code=${code}`;
    const isWho = (tab, display) => tab.locator("header.shell .person summary", { hasText: display }).waitFor();
    const holdsNothing = async (tab, what) => {
      const text = await tab.locator("body").innerText();
      for (const theirs of ["Melissa Smith", "Dr Okafor", "Flag"]) assert.ok(!text.includes(theirs), `${what}: ${theirs} is still there`);
    };
    // A chat, an inbox and a run, each in its tab, of a doctor; then the front desk, who may see none of it.
    const paths = [`/ask/${run.sessionId}`, `/inbox/${suspendId}`, `/runs/${run.runId}`];
    const tabs = await Promise.all(paths.map(async () => desk.tab()));
    for (const [index, tab] of tabs.entries()) {
      await tab.goto(base + paths[index]);
      await tab.locator("article.card.open").waitFor();
    }
    // A link in another tab.
    await page.goto(link("front-tanaka"));
    await isWho(page, "Tanaka");
    for (const [index, tab] of tabs.entries()) {
      await isWho(tab, "Tanaka");
      await tab.getByText(/not yours to see|nothing here/).first().waitFor();
      await holdsNothing(tab, paths[index]);
    }
    // And back, in the same tab.
    await tabs[1].evaluate((hash) => (location.hash = hash), new URL(link("dr-okafor")).hash);
    await isWho(tabs[1], "Okafor");
    await tabs[1].locator("article.card.open").waitFor();
    await isWho(tabs[0], "Okafor");
    await tabs[0].locator("article.card.open").waitFor();
    // By the menu of who is signed in.
    await tabs[2].locator("details.person summary").click();
    await tabs[2].locator(".person-menu select").selectOption("front-tanaka");
    await tabs[2].getByLabel("Code or token").fill(code);
    await tabs[2].locator(".person-menu").getByRole("button", { name: "Sign in" }).click();
    for (const [index, tab] of tabs.entries()) {
      await isWho(tab, "Tanaka");
      await tab.getByText(/not yours to see|nothing here/).first().waitFor();
      await holdsNothing(tab, paths[index]);
    }
    await page.goto(link("dr-okafor"));
    await isWho(tabs[1], "Okafor");
    const reject = tabs[1].getByRole("button", { name: "Reject" });
    await reject.waitFor();
    // A session that changed where no page could tell: what is pressed in the former's name is refused.
    const silent = await desk.api("/session", { principal: "dr-lindholm", code });
    assert.equal(silent.status, 204);
    await reject.click();
    await isWho(tabs[1], "Lindholm");
    const { body } = await desk.api(`/suspensions/${suspendId}`);
    assert.equal(body.status, "pending", "nobody decided it in another's name");
    await desk.api(`/runs/${run.runId}/approve`, { suspendId, approved: false, reason: "a test" });
    await desk.leave();
  });
});
