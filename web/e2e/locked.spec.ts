// PDFs that the browser cannot simply draw: one that needs a password, and one that is damaged.
import { execFileSync } from "node:child_process";
import { expect, ready, test } from "./fixtures";
import { PYTHON } from "./server";

const ENCRYPTED = `
import io, sys
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
out = io.BytesIO()
canvas = Canvas(out, encrypt=StandardEncryption("open sesame"))
canvas.drawString(72, 700, "The vault opens at noon.")
canvas.save()
sys.stdout.buffer.write(out.getvalue())
`;

test("a PDF that is encrypted asks for its password where it is shown, once", async ({ home: page, server }) => {
  const form = new FormData();
  form.set("password", "open sesame");
  form.set("file", new Blob([execFileSync(PYTHON, ["-c", ENCRYPTED])]), "vault.pdf");
  const { id } = await server.call<{ id: string }>("POST", "/ingest", form);
  await ready(server);
  await page.goto(`${server.address}/library/${id}`);
  await page.getByRole("button", { name: "Open the source" }).click();
  const source = page.getByRole("complementary", { name: "Source" });
  await expect(source).toContainText("This file is password-protected.");
  await source.getByLabel("Password").fill("mellon");
  await source.getByRole("button", { name: "Open with password" }).click();
  await expect(source.getByRole("alert")).toContainText("The password is incorrect.");
  await source.getByLabel("Password").fill("open sesame");
  await source.getByRole("button", { name: "Open with password" }).click();
  await expect(source.getByText("The vault opens at noon.")).toBeVisible();

  await source.getByRole("button", { name: "Close source" }).click();
  await page.getByRole("button", { name: "Open the source" }).click();
  await expect(source.getByText("The vault opens at noon.")).toBeVisible();
});

test("a damaged PDF is not taken for a server that is away", async ({ home: page, server }) => {
  const form = new FormData();
  form.set("file", new Blob(["%PDF-1.7\nthis is no PDF"]), "broken.pdf");
  const { id } = await server.call<{ id: string }>("POST", "/ingest", form);
  await ready(server);
  await page.goto(`${server.address}/library/${id}`);
  await page.getByRole("button", { name: "Open the source" }).click();
  const source = page.getByRole("complementary", { name: "Source" });
  await expect(source).toContainText("There is no preview of this file.");
});
