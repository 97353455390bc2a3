// An answer about frames shows them as thumbnails: a click opens the picture, or the clip at the second of its frame.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ask, test as base, expect } from "./fixtures";
import { PYTHON, type Server } from "./server";

const ROOT = join(import.meta.dirname, "../..");
const PICTURES = "Show me frames tagged 'outdoor' from last week showing a red car.";
const CLIP = "In which video is the sign HARBOUR ROAD 7?";

const test = base.extend<object, { frames: Server }>({
  frames: [
    async ({ server }, use) => {
      // pyairtable against Airtable's contract, into the folder that the server holds.
      execFileSync(PYTHON, ["-m", "tests.transcripts.frames", server.data], { cwd: ROOT, timeout: 180_000 });
      await use(server);
    },
    { scope: "worker", timeout: 240_000 },
  ],
});

test("a thumbnail of a frame opens the frame", async ({ page, frames }) => {
  await page.goto(frames.link);
  const reply = await ask(page, PICTURES);
  await expect(reply).toContainText("A red car on the coastal road.");
  const source = reply.getByRole("list", { name: "Sources" }).getByRole("button", { name: /car\.png/ });
  const thumbnail = source.locator("img");
  await expect(thumbnail).toBeVisible();
  expect(await thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  await thumbnail.click();
  const opened = page.getByRole("complementary", { name: "Source" }).getByRole("document", { name: "car.png" });
  await expect(opened.getByRole("img")).toBeVisible();
  const width = opened.getByRole("img").evaluate((image: HTMLImageElement) => image.naturalWidth);
  await expect.poll(() => width).toBe(640);
});

test("a thumbnail of a clip's frame opens the clip at its second", async ({ page, frames }) => {
  await page.goto(frames.link);
  const reply = await ask(page, CLIP);
  const source = reply
    .getByRole("list", { name: "Sources" })
    .getByRole("button", { name: /drive\.webm/ })
    .first();
  const thumbnail = source.locator("img");
  await expect(thumbnail).toBeVisible();
  const drawn = thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth);
  await expect.poll(() => drawn).toBeGreaterThan(0);
  await expect(source).toContainText("0:06");
  await thumbnail.click();
  const opened = page.getByRole("complementary", { name: "Source" }).getByRole("document", { name: "drive.webm" });
  const player = opened.locator("video");
  await expect.poll(() => player.evaluate((video: HTMLVideoElement) => video.currentTime)).toBeCloseTo(6, 0);
  await expect(opened.getByRole("button", { name: /0:06/ })).toHaveAttribute("aria-current", "true");
  await opened.getByRole("button", { name: /0:12/ }).click();
  await expect.poll(() => player.evaluate((video: HTMLVideoElement) => video.currentTime)).toBeCloseTo(12, 0);
});
