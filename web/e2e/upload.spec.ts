import { expect, ready, serious, test } from "./fixtures";

const FILES = [
  {
    name: "notes.md",
    mimeType: "text/markdown",
    buffer: Buffer.from("# Harvest\n\nThe harvest festival is on 3 October in Kumasi.\n"),
  },
  { name: "people.csv", mimeType: "text/csv", buffer: Buffer.from("name,age\nAma,31\nKofi,44\nEsi,29\n") },
  {
    name: "letter.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("Dear all,\n\nthe well was repaired on Tuesday.\n"),
  },
  {
    name: "page.html",
    mimeType: "text/html",
    buffer: Buffer.from("<h1>Opening hours</h1><p>The office opens at nine.</p>"),
  },
  {
    name: "mail.eml",
    mimeType: "message/rfc822",
    buffer: Buffer.from(
      "From: Ama <ama@example.org>\nTo: Kofi <kofi@example.org>\nSubject: Invoice 17\n\nThe invoice is due on Friday.\n",
    ),
  },
  {
    name: "data.json",
    mimeType: "application/json",
    buffer: Buffer.from('[{"city":"Tema","shops":12},{"city":"Accra","shops":40}]'),
  },
];

test("files of six types go up by the dialog, and their stages are shown to the end", { tag: "@journey" }, async ({
  home: page,
}) => {
  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Choose files").setInputFiles(FILES);
  await dialog.getByRole("button", { name: "Add 6 files" }).click();
  const tray = page.getByRole("region", { name: "Uploads" });
  await expect(tray).toContainText("All files are ready", { timeout: 90_000 });
  await expect(tray.getByRole("listitem")).toHaveCount(6);
  for (const { name } of FILES)
    await expect(tray.getByRole("listitem").filter({ hasText: name })).toContainText("Ready");
  await tray.getByRole("button", { name: "Clear finished" }).click();
  await expect(tray).toBeHidden();
});

test("a dropped file opens the dialog; a damaged one fails with a reason, and can be tried again", {
  tag: "@journey",
}, async ({ home: page }) => {
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(["%PDF-1.7\nthis is no PDF"], "broken.pdf", { type: "application/pdf" }));
    return data;
  });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page.getByRole("dialog").getByRole("button", { name: "Add 1 file" }).click();
  const row = page.getByRole("region", { name: "Uploads" }).getByRole("listitem");
  await expect(row).toContainText("Failed", { timeout: 60_000 });
  await expect(row.locator(".upload-problem")).not.toBeEmpty();
  await row.getByRole("button", { name: "Try again" }).click();
  await expect(row).toHaveAttribute("data-status", /uploaded|extracting|sending|failed/);
  await expect(row).toContainText("Failed", { timeout: 60_000 });
});

for (const [where, viewport] of Object.entries({
  "a wide screen": { width: 1360, height: 860 },
  "a phone": { width: 360, height: 740 },
})) {
  test(`long names leave the badges of the upload tray whole on ${where}`, async ({ home: page, server }) => {
    await page.setViewportSize(viewport);
    // Held up, so that the badges of waiting and of sent files are both there.
    await page.route("**/ingest", (route) =>
      /filename="held/.test(route.request().postDataBuffer()?.toString("latin1") ?? "") ? undefined : route.continue(),
    );
    const long = "quarterly_report_of_the_regional_office_for_the_financial_year_2026_final_version";
    const names = [
      `${long}.txt`,
      `${long} with spaces and ${"more ".repeat(20)}.md`,
      ...[1, 2, 3, 4].map((n) => `held ${n} ${long}.csv`),
    ];
    await page.evaluate((chosen) => {
      const data = new DataTransfer();
      for (const name of chosen) data.items.add(new File([`This is ${name}.`], name, { type: "text/plain" }));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
    }, names);
    await page.getByRole("dialog").getByRole("button", { name: "Add 6 files" }).click();
    const tray = page.getByRole("region", { name: "Uploads" });
    const rows = tray.getByRole("listitem");
    for (const name of names.slice(0, 2))
      await expect(rows.filter({ hasText: name })).toContainText("Ready", { timeout: 60_000 });
    await expect(rows.filter({ hasText: "Waiting" })).toHaveCount(1);
    await expect(rows.filter({ hasText: "Uploading" })).toHaveCount(3);
    const frame = (await tray.boundingBox()) as { x: number; width: number };
    for (const row of await rows.all()) {
      await row.scrollIntoViewIfNeeded();
      const badge = row.locator(".badge");
      const box = (await badge.boundingBox()) as { x: number; width: number };
      expect(box.x + box.width).toBeLessThanOrEqual(frame.x + frame.width);
      expect(await badge.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
      // The name gives way, is still to be read, and is whole when it is pointed at.
      const name = row.locator(".upload-name");
      expect((await name.boundingBox())?.width).toBeGreaterThan(60);
      expect(names).toContain(await name.getAttribute("title"));
    }
    expect(await tray.evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0);
    for (const cancel of await tray.getByRole("button", { name: /^Cancel/ }).all()) await expect(cancel).toBeVisible();
    expect(await serious(page)).toEqual([]);
    await page.getByRole("button", { name: /^Cancel held 4/ }).click();
    for (const n of [1, 2, 3]) await page.getByRole("button", { name: new RegExp(`^Cancel held ${n}`) }).click();
    await expect(rows).toHaveCount(2);
    for (const { id, filename } of await ready(server))
      if (filename.startsWith("quarterly")) await server.call("DELETE", `/resources/${id}`);
  });
}
