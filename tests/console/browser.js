// A browser on a running server: pages of people, and what no page may ever do.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const web = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = web("playwright-core");
const axe = readFileSync(web.resolve("axe-core/axe.min.js"), "utf8");

export const base = process.env.CONDOR_URL.replace(/\/$/, "");
const code = process.env.CONDOR_CODE;
/** Milliseconds for what a page does by itself; only a bug waits for it. */
const PATIENCE_MS = 20_000;

let browser;

export async function launch() {
  browser = await chromium.launch({
    executablePath: process.env.CONDOR_CHROMIUM,
    // As root there is no sandbox to be had; everything that is loaded is ours.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
}

export const close = () => browser.close();

/** A person's own browser: cookies of their own. */
export class Person {
  faults = [];
  dialogs = [];

  /** Somebody who has not signed in. */
  static async stranger(options = {}) {
    const person = new Person();
    person.context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-GB", timezoneId: "UTC", ...options });
    person.context.setDefaultTimeout(PATIENCE_MS);
    person.page = await person.tab();
    return person;
  }

  static async of(principal, options = {}) {
    const person = await Person.stranger(options);
    await person.page.goto(`${base}/#principal=${principal}&code=${code}`);
    await person.page.waitForSelector("header.shell");
    assert.equal(new URL(person.page.url()).hash, "", "the code is out of the address");
    return person;
  }

  /** A further tab; whatever it does wrong is kept. */
  async tab() {
    const page = await this.context.newPage();
    page.on("pageerror", (fault) => this.faults.push(String(fault)));
    page.on("console", (message) => {
      if (/Content Security Policy|Trusted|Refused to/.test(message.text())) this.faults.push(message.text());
    });
    page.on("dialog", (dialog) => {
      this.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(`${base}/`) && !request.url().startsWith("blob:")) this.faults.push(`asked elsewhere: ${request.url()}`);
    });
    return page;
  }

  /** JSON of the API, as this person. */
  async api(path, body) {
    return this.page.evaluate(
      async ([path, body]) => {
        const given = body === null ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
        const answer = await fetch(`/api/v1${path}`, given);
        return { status: answer.status, body: answer.status === 204 ? null : await answer.json() };
      },
      [path, body ?? null],
    );
  }

  /** Start a run and wait for its rest. */
  async run(body) {
    const begun = await this.api("/runs", body);
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    return this.rest(begun.body.runId);
  }

  async rest(runId) {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
      const { body } = await this.api(`/runs/${runId}`);
      if (!["created", "planning", "executing"].includes(body.status)) return body;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`run ${runId} does not come to rest`);
  }

  /** Nothing went wrong, nothing was asked from elsewhere, no dialog was opened. */
  async leave() {
    await this.context.close();
    assert.deepEqual(this.faults, []);
    assert.deepEqual(this.dialogs, []);
  }
}

export const openCard = (run) => run.suspensions.find((card) => card.status === "pending");

/** Go to another page of the console without loading it anew, as its own links do. */
export async function visit(page, path) {
  await page.evaluate((path) => {
    history.pushState(null, "", path);
    dispatchEvent(new PopStateEvent("popstate"));
  }, path);
}

/** Ask in the page's own composer; the card that comes. */
export async function ask(page, text) {
  await page.goto(`${base}/`);
  await page.getByRole("textbox").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  return page.locator("article.card.open");
}

/** Go through a card to its end, screen by screen, as one must before Approve opens. */
export async function readThrough(card) {
  const approve = card.getByRole("button", { name: "Approve", exact: true });
  const next = card.getByRole("button", { name: "Show the next part" });
  await approve.waitFor();
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    if (await approve.isEnabled()) return approve;
    if (await next.isVisible()) await next.click({ timeout: 500 }).catch(() => undefined);
    await card.page().waitForTimeout(60);
  }
  throw new Error("Approve never opens");
}

/** What a reader of a card sees line by line: every text of it outside its form, and whether it stands in the free view. */
const LINES_IN_VIEW = (card) => {
  const bottom = Math.min(innerHeight, card.querySelector(".unread")?.getBoundingClientRect().top ?? innerHeight);
  const top = document.querySelector("header.shell").getBoundingClientRect().bottom;
  const lines = [];
  const texts = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement: parent } = texts.currentNode;
    if (texts.currentNode.data.trim() === "" || parent.closest(".answering, .unread, .sr-only") !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(texts.currentNode);
    for (const { top: from, bottom: to, width } of range.getClientRects()) if (width > 0) lines.push(from >= top - 1 && to <= bottom + 1);
  }
  return lines;
};

/**
 * Read a card by its own button, and keep account: Approve opens after every line stood whole in the free view, not
 * before, and no press passes one over.
 *
 * `most` ends the reading early. The presses, how high the card is, and lines that never stood in view.
 */
export async function readByScreens(card, most = Infinity) {
  const page = card.page();
  const approve = card.getByRole("button", { name: "Approve", exact: true });
  const next = card.getByRole("button", { name: "Show the next part" });
  await next.waitFor();
  const { height } = await card.boundingBox();
  let seen = [];
  const look = async () => {
    const now = await card.evaluate(LINES_IN_VIEW);
    assert.ok(seen.length === 0 || now.length === seen.length, "the card's lines stay the same");
    seen = now.map((inView, line) => inView || (seen[line] ?? false));
  };
  let presses = 0;
  for (; presses < most && !(await approve.isEnabled()); presses++) {
    await look();
    await next.click({ timeout: 1_000 }).catch(() => undefined);
    await look();
    await page.waitForTimeout(270);
  }
  return { presses, height, unseen: seen.filter((each) => !each).length };
}

/** No serious fault of accessibility, by axe-core; by some of its rules alone where they are named. */
export async function checkAccessible(page, what, rules = null) {
  // The page's policy forbids scripts of others; the debugger is not bound by it.
  const session = await page.context().newCDPSession(page);
  if (await page.evaluate(() => window.axe === undefined)) await session.send("Runtime.evaluate", { expression: axe });
  const found = await page.evaluate(async (rules) => {
    const only = rules === null ? {} : { runOnly: { type: "rule", values: rules } };
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"], ...only });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary ?? ""}`).join(" | ")}`);
  }, rules);
  await session.detach();
  assert.deepEqual(found, [], what);
}
