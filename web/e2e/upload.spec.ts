import { expect, test } from "./fixtures";

const FILES = [
  { name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Harvest\n\nThe harvest festival is on 3 October in Kumasi.\n") },
  { name: "people.csv", mimeType: "text/csv", buffer: Buffer.from("name,age\nAma,31\nKofi,44\nEsi,29\n") },
  { name: "letter.txt", mimeType: "text/plain", buffer: Buffer.from("Dear all,\n\nthe well was repaired on Tuesday.\n") },
  { name: "page.html", mimeType: "text/html", buffer: Buffer.from("<h1>Opening hours</h1><p>The office opens at nine.</p>") },
  {
    name: "mail.eml",
    mimeType: "message/rfc822",
    buffer: Buffer.from("From: Ama <ama@example.org>\nTo: Kofi <kofi@example.org>\nSubject: Invoice 17\n\nThe invoice is due on Friday.\n"),
  },
  { name: "data.json", mimeType: "application/json", buffer: Buffer.from('[{"city":"Tema","shops":12},{"city":"Accra","shops":40}]') },
];

test("files of six types go up by the dialog, and their stages are shown to the end", async ({ home: page }) => {
  await page.getByRole("button", { name: "Add or narrow" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Choose files").setInputFiles(FILES);
  await dialog.getByRole("button", { name: "Add 6 files" }).click();
  const tray = page.getByRole("region", { name: "Uploads" });
  await expect(tray.getByRole("status")).toHaveText("All files are read", { timeout: 90_000 });
  await expect(tray.getByRole("listitem")).toHaveCount(6);
  for (const { name } of FILES) await expect(tray.getByRole("listitem").filter({ hasText: name })).toContainText("Ready");
  await tray.getByRole("button", { name: "Clear finished" }).click();
  await expect(tray).toBeHidden();
});

test("a dropped file opens the dialog; a damaged one fails with a reason, and can be tried again", async ({ home: page }) => {
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
