// The answers about frames in the chat, for docs/airtable.md: thumbnails, and a clip at the second of its frame.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ask, expect, test } from "../e2e/fixtures";
import { PYTHON } from "../e2e/server";

const ROOT = join(import.meta.dirname, "../..");
const IMAGES = join(ROOT, "docs/images");

test.use({ viewport: { width: 1120, height: 720 } });

test("the frames of an answer, and the clip that one is from", async ({ page, server }) => {
  execFileSync(PYTHON, ["-m", "tests.transcripts.frames", server.data], { cwd: ROOT, timeout: 180_000 });
  await page.goto(server.link);
  const pictures = await ask(page, "Show me frames tagged 'outdoor' from last week showing a red car.");
  await pictures.locator(".source-thumb").first().click();
  await expect(page.getByRole("complementary", { name: "Source" }).getByRole("img").first()).toBeVisible();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(IMAGES, "frames.png") });
  await page.goto(server.link);
  const clip = await ask(page, "In which video is the sign HARBOUR ROAD 7?");
  await clip.locator(".source-thumb").first().click();
  const player = page.getByRole("complementary", { name: "Source" }).locator("video");
  await expect.poll(() => player.evaluate((video: HTMLVideoElement) => video.currentTime)).toBeCloseTo(6, 0);
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(IMAGES, "clip.png") });
});
