// Writes src/schema.ts from an OpenAPI document: of a running server (CITEWELL_URL), or of the installed package.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const url = process.env.CITEWELL_URL;
const python = process.env.CITEWELL_PYTHON ?? new URL("../../../.venv/bin/python", import.meta.url).pathname;
const program =
  "import json; from citewell.app import build; from citewell.settings import load_settings; print(json.dumps(build(load_settings()).openapi()))";

const document = url
  ? await (await fetch(new URL("/openapi.json", url))).json()
  : JSON.parse(execFileSync(python, ["-c", program], { maxBuffer: 64 * 1024 * 1024, encoding: "utf-8" }));
writeFileSync(new URL("../src/schema.ts", import.meta.url), astToString(await openapiTS(document)));
