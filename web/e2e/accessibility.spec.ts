import { ask, expect, serious, test } from "./fixtures";

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    test("axe finds nothing serious while chatting", { tag: "@journey" }, async ({ home: page }) => {
      expect(await serious(page)).toEqual([]);
      const reply = await ask(page, "What is the maximum loan size for first-time borrowers?");
      await reply
        .getByRole("button", { name: /^Source 1/ })
        .first()
        .click();
      await expect(page.locator(".pdf-mark").first()).toBeVisible();
      expect(await serious(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await expect(page.getByRole("combobox")).toBeVisible();
      expect(await serious(page)).toEqual([]);
      await page.getByRole("combobox").fill("upload");
      await page.keyboard.press("Enter");
      await expect(page.getByRole("dialog", { name: "Add files" })).toBeVisible();
      await page.locator("summary").click();
      expect(await serious(page)).toEqual([]);
    });

    test("axe finds nothing serious on the other screens", async ({ home: page, server, samples }) => {
      for (const address of ["/library", `/library/${samples[0]?.id}`, "/playground", "/settings"]) {
        await page.goto(server.address + address);
        await expect(page.getByRole("main").getByRole("heading").first()).toBeVisible();
        expect(await serious(page), address).toEqual([]);
      }
    });
  });
}

test("nothing is cut off on a phone of 360 pixels", async ({ home: page, server }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const address of ["/", "/library", "/playground", "/settings"]) {
    await page.goto(server.address + address);
    await expect(page.getByRole("main")).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  }
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Chat", exact: true }).click();
  await expect(page.getByRole("textbox", { name: "Your question" })).toBeVisible();
});
