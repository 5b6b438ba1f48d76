// The builder: a kernel that is saved holds for the next call, one that would loosen is refused in the server's
// words, and the setting of the message processors is made and checked.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { base, checkAccessible, close, launch, openCard, Person } from "./browser.js";

const DRAFT = "note.draft";
const CALL = { steps: [{ id: "n", tool: DRAFT, args: { patient: "Patient/POP-000035", doc_type: "34133-9", text: "Seen today; feels well." }, after: [] }] };

describe("the builder", () => {
  let admin, okafor;

  before(async () => {
    await launch();
    admin = await Person.of("admin");
    okafor = await Person.of("dr-okafor");
    const [patient] = (await okafor.run({ request: "Find Melissa Smith" })).steps.flatMap((step) => JSON.stringify(step.result).match(/Patient\/[\w-]+/) ?? []);
    CALL.steps[0].args.patient = patient;
  });

  after(async () => {
    await admin.leave();
    await okafor.leave().finally(close);
  });

  const alone = () => okafor.run({ plan: CALL, autonomy: "autonomous" });
  const choose = (page, tool) => page.getByRole("combobox", { name: "Tool" }).selectOption(tool);

  test("a kernel is saved: a call that ran by itself now asks a person", async () => {
    assert.equal((await alone()).status, "succeeded");
    const { page } = admin;
    await page.goto(base);
    await page.getByRole("link", { name: "Builder" }).click();
    await page.getByText("A kernel raises a tool's tier").waitFor();
    await choose(page, DRAFT);
    assert.equal(await page.getByRole("button", { name: "Save" }).isEnabled(), false, "nothing is chosen yet");
    await page.getByRole("radio", { name: /^high/ }).check();
    const autonomous = page.locator(".effects tr", { hasText: "autonomous" });
    await page.locator(".effects tr.changed", { hasText: "mutate.high-tier-always-approval" }).first().waitFor();
    assert.match(await autonomous.innerText(), /runs\s+mutate.low-tier-autonomous-allow\s+a person is asked\s+mutate.high-tier-always-approval/);
    assert.equal((await alone()).status, "succeeded", "what is only tried is not laid");
    await page.getByLabel("Reason").fill("drafts were signed unread");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Revision 1 is saved").waitFor();
    await page.locator("table.kernels", { hasText: "drafts were signed unread" }).waitFor();
    await page.locator(".revisions", { hasText: "its tier is high" }).waitFor();
    await checkAccessible(page, "the builder");

    const waits = await alone();
    assert.equal(waits.status, "suspended");
    assert.equal(openCard(waits).policy.ruleId, "mutate.high-tier-always-approval");
    await okafor.page.goto(`${base}/inbox/${openCard(waits).suspendId}`);
    await okafor.page.locator("article.card.open", { hasText: "high tier" }).waitFor();
    // Who may approve what shows it as it holds.
    const row = page.locator(".approvers tr", { hasText: DRAFT });
    assert.match(await row.innerText(), /always/);
    assert.equal(await row.locator(".chip.good").count(), 2, "doctors and nurses approve");
    // What takes something away asks, whatever tier it declares: the server's verdict, not the tier's.
    const asks = async (tool) => (await page.locator(".approvers tr", { hasText: tool }).locator("td").first().innerText()).trim();
    assert.equal(await asks("order.cancel"), "always");
    assert.equal(await asks("note.update"), "always for some of what it does");
    assert.equal(await asks("order.lab.create"), "unless autonomous");
  });

  test("a kernel that is gone from the database shuts its tool, until it is laid anew", async () => {
    const { page } = admin;
    await page.goto(`${base}/builder`);
    await page.locator("table.kernels tr", { hasText: "task.create" }).getByText("shut: nobody may approve").waitFor();
    // The table of approvers says so too: no role approves, and nobody is no role.
    const row = page.locator(".approvers tr", { hasText: "task.create" });
    await row.getByText("shut: nobody may approve").waitFor();
    const marks = async () => (await row.locator("td .chip").allInnerTexts()).map((mark) => mark.toLowerCase());
    assert.ok((await marks()).length > 0 && (await marks()).every((mark) => mark === "calls only"), String(await marks()));
    assert.equal(await page.locator(".approvers th", { hasText: "nobody)" }).count(), 0);
    await page.getByRole("button", { name: "task.create" }).click();
    await page.getByText("What was laid on this tool is gone from the database").waitFor();
    await page.getByRole("checkbox", { name: "Whoever asked may not approve" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("is saved, and holds from now on").waitFor();
    await page.locator(".approvers td .chip.good").first().waitFor();
    assert.equal(await page.getByText("shut: nobody may approve").count(), 0);
    assert.ok((await marks()).includes("approves"), String(await marks()));
    assert.equal((await admin.api("/admin/tool-kernels/task.create")).body.isShut, false);
  });

  test("another admin came first: the conflict is told, and the way on", async () => {
    const { page } = admin;
    await page.goto(`${base}/builder`);
    await choose(page, DRAFT);
    await page.getByRole("checkbox", { name: "doctor", exact: true }).check();
    const first = await page.evaluate(async (tool) => {
      const body = JSON.stringify({ hitlTier: "high", requesterExcluded: true, reason: "four eyes", rev: 1 });
      return (await fetch(`/api/v1/admin/tool-kernels/${tool}`, { method: "PUT", headers: { "content-type": "application/json" }, body })).status;
    }, DRAFT);
    assert.equal(first, 200);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("the kernel of note.draft has moved on").waitFor();
    await page.getByRole("button", { name: "Read it as it stands now" }).click();
    await page.locator(".revisions", { hasText: "four eyes" }).waitFor();
    assert.equal(await page.getByRole("checkbox", { name: "doctor", exact: true }).isChecked(), false, "nothing is carried over unseen");
    assert.equal(await page.getByRole("checkbox", { name: "Whoever asked may not approve" }).isChecked(), true);
  });

  test("only roles that a kernel may name are offered", async () => {
    const { page } = admin;
    await page.goto(`${base}/builder`);
    const tools = (await admin.api("/tools")).body;
    const offered = page.getByRole("group", { name: "Who may approve" }).getByRole("checkbox");
    for (const tool of ["billing.invoice.update", "document.archive"]) {
      await choose(page, tool);
      await page.locator(".kernel-form code", { hasText: tool }).waitFor();
      const roles = await offered.evaluateAll((boxes) => boxes.map((box) => box.value));
      assert.deepEqual(roles, tools.find(({ name }) => name === tool).approvers.roles);
    }
  });

  test("what would loosen is refused, in the server's words", async () => {
    const { page } = admin;
    // A page that was read before the tool's author took a role away.
    const kernel = "**/admin/tool-kernels/billing.invoice.update";
    await page.route(kernel, async (route) => {
      if (route.request().method() !== "GET") return route.continue();
      const response = await route.fetch();
      const told = await response.json();
      return route.fulfill({ response, json: { ...told, mayName: [...told.mayName, "doctor"] } });
    });
    await page.goto(`${base}/builder`);
    await choose(page, "billing.invoice.update");
    await page.getByRole("checkbox", { name: "doctor", exact: true }).check();
    const words = page.getByText("a kernel cannot widen who may approve: doctor may not");
    await words.waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await words.nth(1).waitFor();
    await page.unroute(kernel);
    const { body } = await admin.api("/admin/tool-kernels/billing.invoice.update");
    assert.deepEqual([body.rev, body.revisions], [0, []]);
  });

  test("processors: a form of each, checked here and by the server, as the setting that says it", async () => {
    const { page } = admin;
    await page.goto(`${base}/builder`);
    await page.getByText("This is what the server was started with.").waitFor();
    const limiter = page.locator("details.processor", { hasText: "Token limiter" });
    await limiter.locator("summary").click();
    await limiter.getByLabel("Tokens of a message").fill("0");
    await limiter.getByRole("button", { name: "Turn on" }).click();
    await limiter.getByText("Not before 1.").waitFor();
    await limiter.getByLabel("Tokens of a message").fill("900");
    await limiter.getByRole("button", { name: "Turn on" }).click();
    const setting = page.locator(".setting code");
    await page.locator(".setting", { hasText: '"input_tokens_max": 900' }).waitFor();
    assert.match(await setting.innerText(), /^export CONDOR_PROCESSORS='\{.*\}'$/);
    await page.getByText("unicode-normalizer → token-limiter").waitFor();
    const moderation = page.locator("details.processor", { hasText: "Offensive here" });
    await moderation.locator("summary").click();
    await moderation.getByLabel("Word lists").fill("klingon");
    await moderation.getByRole("button", { name: "Turn on" }).click();
    await page.getByRole("alert").getByText("klingon").waitFor();
    await moderation.getByRole("button", { name: "Turn off" }).click();
    await setting.waitFor();
    await limiter.getByRole("button", { name: "Turn off" }).click();
    await page.getByText("This is what the server was started with.").waitFor();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText(/Copied|copy it with the keyboard/).waitFor();
    for (const each of await page.locator("details.processor summary").all()) if (!(await each.evaluate((summary) => summary.parentElement.open))) await each.click();
    await checkAccessible(page, "every processor's form");
  });

  test("an auditor looks, others are told whose it is", async () => {
    const reyes = await Person.of("audit-reyes");
    await reyes.page.goto(`${base}/builder`);
    await reyes.page.getByText("You may look. Only an admin saves here.").waitFor();
    await choose(reyes.page, DRAFT);
    await reyes.page.locator(".revisions", { hasText: "drafts were signed unread" }).waitFor();
    assert.equal(await reyes.page.getByRole("button", { name: "Save" }).count(), 0);
    await reyes.leave();
    await okafor.page.goto(`${base}/builder`);
    await okafor.page.getByText("Only an admin builds here, and auditors may look. Your roles: doctor.").waitFor();
    assert.equal(await okafor.page.getByRole("link", { name: "Builder" }).count(), 0);
    const refused = await okafor.page.evaluate(async (tool) => {
      const given = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ hitlTier: "high" }) };
      return (await fetch(`/api/v1/admin/tool-kernels/${tool}`, given)).status;
    }, DRAFT);
    assert.equal(refused, 403);
  });
});
