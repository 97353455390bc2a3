// A server whose chat model costs: summaries are paid for, and the dialog says so before it sends a byte.
import { expect, serious, test } from "./fixtures";
import { Server } from "./server";

test("the upload dialog says what an upload would cost, and sends nothing above the limit of spending", async ({
  page,
}) => {
  const server = new Server({
    CITEWELL_CHAT_PROVIDER: "anthropic",
    CITEWELL_CHAT_MODEL: "claude-haiku-5-5",
    CITEWELL_ANTHROPIC_API_KEY: "nobody is asked",
    CITEWELL_PRICES: '{"claude-haiku-5-5": [1000, 5000]}',
    CITEWELL_MAX_SPEND: "30",
  });
  await server.start();
  const letter = (name: string, size: number) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.alloc(size, "A pump. "),
  });
  try {
    await page.goto(server.link);
    await page.getByRole("button", { name: "Attach or filter" }).click();
    await page.getByRole("menuitem", { name: "Upload files" }).click();
    const dialog = page.getByRole("dialog");
    const estimate = dialog.getByRole("region", { name: "Estimate" });
    await dialog.getByLabel("Choose files").setInputFiles(letter("note.txt", 2_000));
    await expect(estimate).toContainText("Summaries by claude-haiku-5-5");
    await expect(estimate).toContainText("1 call.");
    await expect(dialog.getByRole("button", { name: "Add 1 file" })).toBeEnabled();
    expect(await serious(page)).toEqual([]);
    await dialog.getByLabel("Choose files").setInputFiles(letter("long.txt", 900_000));
    await expect(estimate.getByRole("alert")).toContainText("CITEWELL_MAX_SPEND");
    await expect(dialog.getByRole("button", { name: "Add 2 files" })).toBeDisabled();
    expect(await serious(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Remove long.txt" }).click();
    await expect(dialog.getByRole("button", { name: "Add 1 file" })).toBeEnabled();
  } finally {
    await server.remove();
  }
});
