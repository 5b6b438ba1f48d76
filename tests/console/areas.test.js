// A card of each area of the hospital: whom it is about, what is written, alerts, the record before and after.
// What the API says of a card stands on it, all of it; nothing of it is made here.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { checkAccessible, close, launch, openCard, Person, readThrough, visit } from "./browser.js";

const EXAMPLES = JSON.parse(readFileSync(new URL("../hms/data/example_writes.json", import.meta.url), "utf8"));
/** By area: the tool whose example is shown, who asks, severities of its alerts, labels of its context. */
const CARDS = {
  allergy: { tool: "allergy.record", alerts: ["Warning"], context: ["Allergies", "Alert rules"] },
  appointment: { tool: "appointment.book" },
  billing: { tool: "billing.invoice.update", who: "bill-novak", context: ["Payer", "Total", "Meaning of the signature", "Printed name", "Time"] },
  communication: { tool: "communication.send", context: ["Recipient", "Exact text", "Contact consent"] },
  condition: { tool: "condition.record" },
  document: { tool: "document.sign", alerts: ["Warning"], context: ["Meaning of the signature", "Printed name", "Time"] },
  flag: { tool: "flag.set", context: ["Existing flag"] },
  immunization: { tool: "immunization.record" },
  // R12: the ticagrelor that stands beside it has its limit exceeded whatever becomes of the aspirin: it is told
  // as a warning, because nobody is asked here to pass over it, and no critical alert is passed without a reason.
  medication: { tool: "medication.update", alerts: ["Warning", "Warning"], context: ["Ordered", "Allergies", "Latest creatinine", "Latest potassium", "Latest weight", "Alert rules", "Meaning of the signature", "Printed name", "Time"] },
  note: { tool: "note.draft" },
  order: { tool: "order.lab.create" },
  prescription: { tool: "prescription.renew", context: ["Last fill", "Ordered", "Allergies", "Meaning of the signature", "Printed name", "Time"] },
  referral: { tool: "referral.create" },
  task: { tool: "task.create" },
  treatment: { tool: "treatment.create" },
  vitals: { tool: "vitals.record" },
};

/** Every text and number in a JSON value. */
const leaves = (value) => (value === null || value === undefined ? [] : typeof value === "object" ? Object.values(value).flatMap(leaves) : [String(value)]);
const flat = (text) => text.replace(/\s+/g, " ");

describe("a card of each area", () => {
  const people = {};
  let tools;

  before(async () => {
    await launch();
    people["dr-okafor"] = await Person.of("dr-okafor");
    people["bill-novak"] = await Person.of("bill-novak");
    tools = (await people["dr-okafor"].api("/tools")).body;
  });

  after(async () => {
    for (const person of Object.values(people)) await person.leave();
    await close();
  });

  const shown = async (area) => {
    const { tool, who = "dr-okafor" } = CARDS[area];
    const run = await people[who].run({ plan: { steps: [{ id: "w", tool, args: EXAMPLES[tool][0].args, after: [] }] } });
    const { page } = people[who];
    await visit(page, `/inbox/${openCard(run).suspendId}`);
    const card = page.locator("article.card.open");
    await card.locator(".foreign").first().waitFor();
    return { page, card, run, told: (await people[who].api(`/suspensions/${openCard(run).suspendId}`)).body };
  };

  test("every area of the catalogue that writes or speaks has one here", () => {
    const areas = new Set(Object.keys(EXAMPLES).map((tool) => tool.split(".")[0]));
    assert.deepEqual([...areas].sort(), Object.keys(CARDS).sort());
  });

  for (const area of Object.keys(CARDS).sort()) {
    const { tool, alerts = [], context = [] } = CARDS[area];
    test(`${area}: ${tool}`, async () => {
      const { page, card, told } = await shown(area);
      const { subject, summary, before: was, after: becomes, alerts: raised = [], context: known = [] } = told.evidence;
      const text = flat(await card.innerText());
      const says = (what) => assert.ok(text.includes(flat(String(what))), `${what} is not on the card`);
      // The order, in words of descriptor and policy; never shortened.
      assert.equal(await card.locator(".headline").innerText(), tools.find((each) => each.name === tool).title);
      for (const said of [`${tool} · ${told.op}`, told.policy.policyClass, told.policy.ruleId, summary]) says(said);
      // Whom it is about.
      const banner = flat(await card.locator(".subject").innerText());
      for (const said of [subject.name, subject.mrn, subject.sex, `${subject.age} years`]) assert.ok(banner.includes(said), `${said} is not in the banner`);
      // Every alert with what to do and its source, the worst first.
      assert.deepEqual(await card.locator(".alert-head .chip").allInnerTexts(), alerts);
      assert.equal(raised.length, alerts.length);
      for (const alert of raised) for (const said of [alert.summary, alert.action, alert.source]) says(said);
      // The record, the facts around it, the exact arguments.
      assert.ok((await card.locator(".difference .added").count()) > 0, "what is added");
      const difference = flat(await card.locator(".difference").innerText());
      for (const leaf of [...leaves(was), ...leaves(becomes)]) assert.ok(difference.includes(flat(leaf)), `${leaf} is not in the difference`);
      for (const label of context) assert.ok(known.some((item) => item.label === label), `${label} is known`);
      for (const item of known) for (const said of [item.label, item.text]) says(said);
      for (const [name, value] of Object.entries(told.toolInput)) for (const said of [name, ...leaves(value)]) says(said);
      if (alerts.length > 1) await checkAccessible(page, `${tool} with alerts`);
    });
  }

  test("a signature: approved on the card, it stands in the record with its meaning", async () => {
    const { page, card, run } = await shown("document");
    await (await readThrough(card)).click();
    await page.locator("article.card.closed", { hasText: "Approved by Dr Okafor" }).waitFor();
    const rested = await people["dr-okafor"].rest(run.runId);
    assert.equal(rested.status, "succeeded");
    assert.match(rested.closing, /[Ss]igned/);
  });
});
