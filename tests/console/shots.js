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

const PAGES = {
  ask: "/",
  chat: `/ask/${waits.sessionId}`,
  "chat-done": `/ask/${done.sessionId}`,
  "chat-denied": `/ask/${denied.sessionId}`,
  inbox: `/inbox/${openCard(alerts).suspendId}`,
  question: `/inbox/${question.suspendId}`,
  runs: "/runs",
  run: `/runs/${done.runId}`,
  audit: "/audit",
  policy: "/policy",
};
for (const [look, options] of Object.entries(LOOKS)) {
  for (const [name, path] of Object.entries(PAGES)) {
    const person = await Person.of(name === "audit" ? "audit-reyes" : "dr-okafor", options);
    await person.page.goto(base + path);
    await person.page.locator("main h1, main h2").first().waitFor({ state: "attached" });
    await person.page.waitForTimeout(700);
    await person.page.screenshot({ path: `${folder}/${name}-${look}.png`, fullPage: process.env.CONDOR_SHOTS_WHOLE === "1" });
    await person.leave();
  }
}
await okafor.leave();
await close();
