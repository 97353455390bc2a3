// `npm run screenshots`: pictures of the screens for the README, made anew.
import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

export default defineConfig(base, { testDir: "screenshots" });
