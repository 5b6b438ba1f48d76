// Pictures of every page, in light, dark and on a phone: to be looked at, and some of them for the docs.
// `python -m tests.console.shots FOLDER` runs it on the demonstration hospital.

import { ask, base, close, launch, openCard, Person, readThrough } from "./browser.js";

const folder = process.env.CONDOR_SHOTS;
const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1200, height: 800 } },
  dark: { colorScheme: "dark", viewport: { width: 1200, height: 800 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
  "phone-dark": { colorScheme: "dark", viewport: { width: 390, height: 844 }, hasTouch: true },
};

await launch();
const okafor = await Person.of("dr-okafor");
const admin = await Person.of("admin");
const PRESCRIBE = "Start Melissa Smith on nitrofurantoin 100 mg twice a day for 5 days for her UTI.";
// What the pages show: something done, something refused, questions, and alerts of every severity.
const card = await ask(okafor.page, PRESCRIBE);
await (await readThrough(card)).click();
await okafor.page.locator(".answer .speaker .chip", { hasText: "done" }).waitFor();
const done = (await okafor.api("/runs?limit=1")).body[0];
const denied = await okafor.run({ request: "Flag Melissa Smith as fall risk" });
await okafor.api(`/runs/${denied.runId}/approve`, { suspendId: openCard(denied).suspendId, approved: false, reason: "seen walking safely" });
await okafor.run({ request: "Record a latex allergy for Melissa Smith" });
await okafor.run({ request: "Order a potassium lab for Melissa Smith" });
await okafor.run({ request: "Start Helen Coleman on ibuprofen 400 mg three times a day by mouth" });
const alerts = await okafor.run({
  request: "Stop Helen Coleman's celecoxib, she's on escitalopram and venlafaxine as well and I don't like the bleeding risk.",
});
const waits = await okafor.run({ request: PRESCRIBE });
const question = (await okafor.api("/suspensions?status=pending")).body.find((each) => each.reasonCode === "clarification");

const kernel = await admin.page.evaluate(async () => {
  const body = JSON.stringify({ hitlTier: "high", approverRoles: ["doctor"], requesterExcluded: false, reason: "drafts were signed unread", rev: 0 });
  return (await fetch("/api/v1/admin/tool-kernels/note.draft", { method: "PUT", headers: { "content-type": "application/json" }, body })).status;
});
if (kernel !== 200) throw new Error(`the kernel was not laid: ${kernel}`);

/** Every page: who looks, where, and what is done before the picture is taken. */
const PAGES = {
  "sign-in": { who: null, path: "/" },
  ask: { path: "/" },
  chat: { path: `/ask/${waits.sessionId}` },
  "chat-done": { path: `/ask/${done.sessionId}` },
  "chat-denied": { path: `/ask/${denied.sessionId}` },
  inbox: { path: `/inbox/${openCard(alerts).suspendId}` },
  "inbox-list": { path: "/inbox" },
  "inbox-empty": { who: "bill-novak", path: "/inbox" },
  question: { path: `/inbox/${question.suspendId}` },
  edit: { path: `/inbox/${openCard(waits).suspendId}`, before: (page) => page.getByRole("button", { name: "Change the call" }).click() },
  runs: { path: "/runs" },
  run: { path: `/runs/${done.runId}` },
  "run-denied": { path: `/runs/${denied.runId}`, before: (page) => page.evaluate(() => document.querySelectorAll("details").forEach((each) => (each.open = true))) },
  "not-found": { path: "/runs/run_that_is_not_there" },
  audit: { who: "audit-reyes", path: "/audit" },
  policy: {
    path: "/policy",
    before: async (page) => {
      await page.getByRole("combobox", { name: "Tool" }).selectOption("medication.discontinue");
      await page.getByRole("button", { name: "Explain" }).click();
      await page.getByText("destructive-op").waitFor();
    },
  },
  builder: {
    who: "admin",
    path: "/builder",
    before: async (page) => {
      await page.getByRole("combobox", { name: "Tool" }).selectOption("order.lab.create");
      await page.getByRole("radio", { name: /^high/ }).check();
      await page.locator(".effects tr.changed").first().waitFor();
    },
  },
  "builder-laid": { who: "admin", path: "/builder", before: (page) => page.getByRole("combobox", { name: "Tool" }).selectOption("note.draft") },
  "builder-processors": {
    who: "admin",
    path: "/builder",
    before: async (page) => {
      for (const title of ["Token limiter", "Moderation"]) {
        const processor = page.locator("details.processor", { has: page.locator("strong", { hasText: title }) });
        await processor.locator("summary").click();
        await processor.getByRole("button", { name: "Turn on" }).click();
      }
      await page.locator("details.processor").first().scrollIntoViewIfNeeded();
      await page.evaluate(() => document.querySelector(".processors").scrollIntoView());
    },
  },
  "builder-others": { path: "/builder" },
  person: { path: "/", before: (page) => page.locator("details.person summary").click() },
};
const wanted = process.env.CONDOR_SHOTS_ONLY?.split(",");
for (const [look, options] of Object.entries(LOOKS)) {
  for (const [name, { who = "dr-okafor", path, before = async () => undefined }] of Object.entries(PAGES)) {
    if (wanted !== undefined && wanted[0] !== "" && !wanted.includes(name)) continue;
    const person = who === null ? await Person.stranger(options) : await Person.of(who, options);
    await person.page.goto(base + path);
    await person.page.locator("main h1, main h2, main .notice").first().waitFor({ state: "attached" });
    await before(person.page);
    await person.page.waitForTimeout(700);
    // A page that is drawn whole has its header at its top.
    if (process.env.CONDOR_SHOTS_WHOLE === "1") await person.page.evaluate(() => scrollTo(0, 0));
    await person.page.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: process.env.CONDOR_SHOTS_WHOLE === "1" });
    await person.leave();
  }
}
await admin.leave();
await okafor.leave();
await close();
