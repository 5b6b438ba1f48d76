// Approve opens for who has had all of a card on the screen: on every screen, by button, wheel or keyboard.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { base, close, launch, openCard, Person, readByScreens } from "./browser.js";

/** Screens of a desk, two phones, and a phone on its side. */
const SCREENS = [[1280, 900], [390, 844], [360, 640], [844, 390]];
const REQUESTS = JSON.parse(readFileSync(new URL("../hms/data/requests.json", import.meta.url), "utf8"));
const R14 = REQUESTS.find(({ id }) => id === "R14").text;

describe("reading a card", () => {
  let nurse, report;

  before(async () => {
    await launch();
    nurse = await Person.of("rn-castillo");
    report = openCard(await nurse.run({ request: R14 })).suspendId;
  });

  after(async () => {
    await nurse.leave().finally(close);
  });

  const shown = async ([width, height]) => {
    const { page } = nurse;
    await page.setViewportSize({ width, height });
    await page.goto(`${base}/inbox/${report}`);
    const card = page.locator("article.card.open");
    await card.locator(".foreign").first().waitFor();
    return { page, card, approve: card.getByRole("button", { name: "Approve", exact: true }) };
  };

  for (const screen of SCREENS) {
    test(`every line of a long card stands in view before Approve opens, on ${screen.join(" × ")}`, async () => {
      const { page, card, approve } = await shown(screen);
      assert.ok((await card.locator(".difference p").count()) >= 30, "a difference of many rows");
      await page.keyboard.press("End");
      await page.waitForTimeout(900);
      assert.ok(await approve.isDisabled(), "what a jump passed over was not seen");
      await page.reload();
      await card.locator(".foreign").first().waitFor();
      const { presses, height, unseen } = await readByScreens(card);
      assert.equal(unseen, 0, "lines that never stood in view");
      assert.ok(presses >= Math.floor(height / screen[1]) - 1, `${presses} presses for ${height} pixels`);
      assert.ok(await approve.isEnabled());
    });
  }

  test("who scrolls through by wheel needs no button", async () => {
    const { page, card, approve } = await shown(SCREENS[0]);
    const { x, y, width } = await card.boundingBox();
    await page.mouse.move(x + width / 2, y + 300);
    for (let turn = 0; turn < 60 && !(await approve.isEnabled()); turn++) {
      // Down, and once more up where a busy machine drew too few of the screens.
      await page.mouse.wheel(0, turn < 30 ? 120 : -120);
      await page.waitForTimeout(150);
    }
    assert.ok(await approve.isEnabled());
  });
});
