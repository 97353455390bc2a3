// Debian's Chromium against a real server with the built interface; nothing is downloaded.
import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));
if (!executablePath) throw new Error("The browser tests need Chromium: scripts/ensure_chromium.sh");

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  workers: 1,
  timeout: 120_000,
  // A shared machine may stall a browser for longer than any fair limit; what fails twice is broken.
  retries: 1,
  expect: { timeout: 30_000 },
  reporter: process.env.CI ? "line" : "list",
  use: {
    viewport: { width: 1360, height: 860 },
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    launchOptions: { executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] },
  },
});
