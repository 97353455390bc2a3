// What pdf.js fetches while it reads a document: character maps, the standard fonts, image decoders.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const FOLDERS = ["cmaps", "standard_fonts", "wasm", "iccs"];
const require = createRequire(import.meta.url);

/** Copies those folders to `assets/pdfjs-<version>/`, an address that changes with the version. */
export function pdfjsFiles(): Plugin {
  return {
    name: "pdfjs-files",
    apply: "build",
    generateBundle() {
      const manifest = require.resolve("pdfjs-dist/package.json");
      const { version } = JSON.parse(readFileSync(manifest, "utf-8")) as { version: string };
      for (const folder of FOLDERS) {
        const source = join(dirname(manifest), folder);
        for (const name of readdirSync(source)) {
          this.emitFile({
            type: "asset",
            fileName: `assets/pdfjs-${version}/${folder}/${name}`,
            source: readFileSync(join(source, name)),
          });
        }
      }
    },
  };
}
