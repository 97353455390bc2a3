// A data folder in which the sample files are indexed, made once before all tests; servers begin with a copy of it.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PYTHON, TEMPLATE } from "./server";

const SAMPLES = join(import.meta.dirname, "../../samples");

export default function makeTemplate(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "citewell-template-"));
  execFileSync(PYTHON, ["-m", "citewell.cli", "add", SAMPLES, "--data", join(folder, "data")], { stdio: "pipe" });
  process.env[TEMPLATE] = join(folder, "data");
  return () => rmSync(folder, { recursive: true, force: true });
}
