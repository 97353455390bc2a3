import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./build/compress.ts";
import { pdfjsFiles } from "./build/pdfjs-files.ts";

const API =
  /^\/(?:chat|docs|doctor|health|indexes|ingest|openapi\.json|projects|ready|records|reindex|resources|samples|search|session|suggestions|threads|tokens|usage)(?:\/|\?|$)/;

export default defineConfig({
  plugins: [react(), pdfjsFiles(), compress()],
  build: {
    outDir: "../citewell/static",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy admits no inline script or font.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2_500,
    rollupOptions: { input: { index: "index.html", docs: "docs.html" } },
  },
  server: { proxy: { [API.source]: "http://127.0.0.1:8000" } },
});
