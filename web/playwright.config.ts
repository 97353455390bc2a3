// Debian's Chromium against a real server with the built interface; nothing is downloaded.
import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));
if (!executablePath) throw new Error("The browser tests need Chromium: scripts/ensure_chromium.sh");

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  globalSetup: "./e2e/template.ts",
  // Each has a server of its own (`fixtures.ts`); tests of one file share one, in their order.
  workers: 2,
  // Far more than anything takes on a quiet machine: what does not happen fails a test, and nothing waits for the clock.
  timeout: 300_000,
  expect: { timeout: 90_000 },
  reporter: process.env.CI ? "line" : "list",
  use: {
    viewport: { width: 1360, height: 860 },
    locale: "en-GB",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    launchOptions: { executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] },
  },
});
