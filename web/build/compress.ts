// Packs every text file once at build time, so that the server need not do it at every request.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

const PACKED = /\.(?:js|mjs|css|svg|wasm)$/;
const SMALLEST = 1_024;

/** Writes `.br` and `.gz` beside each file of the finished output that gets smaller by it. */
export function compress(): Plugin {
  return {
    name: "compress",
    apply: "build",
    async writeBundle({ dir }, bundle) {
      for (const name of Object.keys(bundle).filter((file) => PACKED.test(file))) {
        const path = join(dir ?? "", name);
        const source = readFileSync(path);
        if (source.length < SMALLEST) continue;
        const [brotli, gzipped] = await Promise.all([
          promisify(brotliCompress)(source, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
          promisify(gzip)(source, { level: 9 }),
        ]);
        writeFileSync(`${path}.br`, brotli);
        writeFileSync(`${path}.gz`, gzipped);
      }
    },
  };
}
