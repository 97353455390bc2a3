// Runs biome's program for this machine. Its package installs one for each of eight systems, and a lock file is complete only
// where all of them can be had; the two for Linux, where Citewell runs, are named in package.json themselves.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const program = createRequire(import.meta.url).resolve(`@biomejs/cli-linux-${process.arch}/biome`);
process.exit(spawnSync(program, process.argv.slice(2), { stdio: "inherit" }).status ?? 1);
