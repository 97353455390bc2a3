// `npm run screenshots`: takes the pictures of the screens for the README.
import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

export default defineConfig(base, { testDir: "screenshots" });
