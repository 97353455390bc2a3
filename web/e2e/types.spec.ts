// Files of six types from the upload to the cited spot: watched through their stages, asked about, opened, and measured where marked.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { ask, expect, question, test } from "./fixtures";

const SAMPLES = join(import.meta.dirname, "../../samples");
const MIME = {
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};
const MAIL = [
  "From: Ama Mensah <ama@example.org>",
  "To: Kofi Boateng <kofi@example.org>",
  "Date: Tue, 3 Mar 2026 09:15:00 +0000",
  "Subject: Repairs at the cold store",
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
  "",
  "Dear Kofi,",
  "",
  "the compressor of the cold store was replaced on Monday for 1,940 cedis.",
  "The technician comes back in June to check the door seals.",
  "",
  "Ama",
].join("\r\n");
// Where the words are on the picture, in pixels.
const SIGN = { text: "The ferry to Ada leaves at 7:45", left: 60, top: 96, width: 1_000, height: 60 };

function sample(name: string): { name: string; mimeType: string; buffer: Buffer } {
  const ending = name.split(".").at(-1) as keyof typeof MIME;
  return { name, mimeType: MIME[ending], buffer: readFileSync(join(SAMPLES, name)) };
}

/** A photograph of a sign, as far as OCR is concerned. */
async function picture(page: Page): Promise<Buffer> {
  const address = await page.evaluate(({ text, left, top, height }) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [1_200, 420];
    const pen = canvas.getContext("2d") as CanvasRenderingContext2D;
    pen.fillStyle = "white";
    pen.fillRect(0, 0, 1_200, 420);
    pen.fillStyle = "black";
    pen.textBaseline = "top";
    pen.font = `${height}px sans-serif`;
    pen.fillText(text, left, top);
    pen.fillText("Tickets are sold on board", left, 260);
    return canvas.toDataURL("image/png");
  }, SIGN);
  return Buffer.from(address.split(",")[1] ?? "", "base64");
}

async function addByDialog(page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
  await page.getByRole("button", { name: "Attach or filter" }).click();
  await page.getByRole("menuitem", { name: "Upload files" }).click();
  await page.getByRole("dialog").getByLabel("Choose files").setInputFiles(files);
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Add ${files.length} files` })
    .click();
}

async function addByDrop(page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> {
  const plain = files.map(({ name, mimeType, buffer }) => ({ name, mimeType, base64: buffer.toString("base64") }));
  const transfer = await page.evaluateHandle((dropped) => {
    const data = new DataTransfer();
    for (const { name, mimeType, base64 } of dropped) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      data.items.add(new File([bytes], name, { type: mimeType }));
    }
    return data;
  }, plain);
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await page
    .getByRole("dialog")
    .getByRole("button", { name: `Add ${files.length} files` })
    .click();
}

/** Ask, open the first source of that file, and return the panel that shows it. */
async function openSource(page: Page, text: string, file: string): Promise<Locator> {
  await page.goto(new URL("/", page.url()).href);
  await expect(question(page)).toBeVisible();
  const reply = await ask(page, text);
  await reply
    .getByRole("button", { name: new RegExp(`^Source \\d+: ${file.replaceAll(".", "\\.")}`) })
    .first()
    .click();
  const panel = page.getByRole("complementary", { name: "Source" });
  await expect(panel.getByRole("heading", { name: file })).toBeVisible();
  return panel;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What share of `inner` the marks cover, and how much larger than it the best of them is. */
async function covering(marks: Locator, inner: Box): Promise<{ share: number; excess: number }> {
  const boxes = await marks.evaluateAll((all) => all.map((mark) => mark.getBoundingClientRect().toJSON() as Box));
  const shares = boxes.map((outer) => {
    const width = Math.min(inner.x + inner.width, outer.x + outer.width) - Math.max(inner.x, outer.x);
    const height = Math.min(inner.y + inner.height, outer.y + outer.height) - Math.max(inner.y, outer.y);
    return {
      share: (Math.max(0, width) * Math.max(0, height)) / (inner.width * inner.height),
      excess: outer.height / inner.height,
    };
  });
  return shares.sort((a, b) => b.share - a.share)[0] ?? { share: 0, excess: Infinity };
}

test("six types by dialog and by drop: stages, answers, and the cited spot marked in each viewer", async ({
  page,
  server,
}) => {
  test.setTimeout(240_000);
  await page.goto(`${server.address}/?token=${server.tokenOf("six types")}`);
  await expect(question(page)).toBeVisible();
  const image = { name: "ferry sign.png", mimeType: "image/png", buffer: await picture(page) };
  const mail = { name: "Repairs.eml", mimeType: "message/rfc822", buffer: Buffer.from(MAIL) };
  await addByDialog(page, [sample("Loan Policy.pdf"), sample("Growth Plan.docx"), sample("Finance Sheet.xlsx")]);
  await addByDrop(page, [sample("Pitch Deck.pptx"), image, mail]);
  const tray = page.getByRole("region", { name: "Uploads" });
  await expect(tray.getByRole("listitem")).toHaveCount(6);
  await expect(
    tray
      .getByRole("listitem")
      .filter({ has: page.locator("[data-status]") })
      .or(tray.locator("[data-status='extracting'], [data-status='indexing']"))
      .first(),
  ).toBeVisible();
  await expect(tray).toContainText("All files are ready", { timeout: 120_000 });
  await expect(
    tray.locator("[data-status='indexed'], [data-status='analyzed'], [data-status='described']"),
  ).toHaveCount(6);
  await tray.getByRole("button", { name: "Clear finished" }).click();

  await test.step("PDF: the mark lies on the quoted words of the page", async () => {
    const panel = await openSource(page, "What is the maximum loan size for first-time borrowers?", "Loan Policy.pdf");
    await expect(panel.locator(".pdf-mark").first()).toBeInViewport();
    const words = panel.locator("[data-page='3'] .textLayer span", { hasText: "GHS 5,000" }).first();
    await expect(words).toBeAttached();
    const inner = (await words.boundingBox()) as Box;
    expect((await covering(panel.locator(".pdf-mark"), inner)).share).toBeGreaterThan(0.8);
  });

  await test.step("image: the region lies on the words that were read there", async () => {
    const panel = await openSource(page, "When does the ferry to Ada leave?", image.name);
    const drawn = panel.getByRole("document").locator("img");
    await expect(panel.locator(".pdf-mark").first()).toBeVisible();
    const frame = (await drawn.boundingBox()) as Box;
    const scale = frame.width / 1_200;
    const inner = {
      x: frame.x + SIGN.left * scale,
      y: frame.y + SIGN.top * scale,
      width: 840 * scale,
      height: SIGN.height * scale,
    };
    const { share, excess } = await covering(panel.locator(".pdf-mark"), inner);
    expect(share).toBeGreaterThan(0.7);
    expect(excess).toBeLessThan(2.5);
  });

  await test.step("PPTX: the quoted line is marked on its slide", async () => {
    const panel = await openSource(page, "What does it cost to visit and call for an average loan?", "Pitch Deck.pptx");
    const mark = panel.locator("mark").first();
    await expect(mark).toBeInViewport();
    await expect(mark).toContainText("GHS 175");
    await expect(panel).toContainText("Slide 6");
  });

  await test.step("e-mail: who wrote, and the quoted sentence", async () => {
    const panel = await openSource(page, "When was the compressor of the cold store replaced?", mail.name);
    await expect(panel.locator("mark").first()).toBeInViewport();
    await expect(panel.locator("mark").first()).toContainText("compressor");
    await expect(panel.locator(".mail-head")).toContainText("ama@example.org");
    await expect(panel.locator(".mail-head")).toContainText("Repairs at the cold store");
  });

  await test.step("DOCX: the quoted words are marked in place", async () => {
    const panel = await openSource(page, "How much is the emergency top-up fund?", "Growth Plan.docx");
    await expect(panel.locator("mark").first()).toBeInViewport();
    await expect(panel.locator("mark").first()).toContainText("30,000");
  });

  await test.step("XLSX: the cited row of the sheet", async () => {
    const panel = await openSource(page, "Which quarter had the highest expenses?", "Finance Sheet.xlsx");
    await expect(panel.locator(".grid-row[data-marked]")).toBeInViewport();
    await expect(panel.locator(".grid-row[data-marked]")).toContainText("82,750");
  });
});

test("where there is no answer, the nearest passages are open below it, and lead to the viewer", async ({
  home: page,
  server,
}) => {
  const reply = await ask(page, "What is the melting point of tungsten?");
  await expect(reply).toContainText("I don't have enough information");
  await expect(reply.getByRole("heading", { name: /^Closest passages? \(\d\)/ })).toBeVisible();
  await page.goto(`${server.address}/`);
  await page
    .getByRole("region", { name: "Chats" })
    .getByRole("link", { name: "What is the melting point of tungsten?" })
    .click();
  const passage = reply.locator(".nearest-passage").first();
  await expect(passage.locator(".nearest-text")).not.toBeEmpty();
  await passage.click();
  await expect(page.getByRole("complementary", { name: "Source" })).toBeVisible();
});
