// `npm run performance`: how smooth large lists are, and how soon a newcomer has an answer. Figures are printed; limits are checked.
import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

export default defineConfig(base, {
  testDir: "performance",
  timeout: 600_000,
  reporter: "list",
  use: { reducedMotion: "no-preference" },
});
