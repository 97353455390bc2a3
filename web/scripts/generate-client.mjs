// Writes src/api/schema.d.ts from the OpenAPI document of the installed server, so that no type of the API is written by hand.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const python = process.env.CITEWELL_PYTHON ?? new URL("../../.venv/bin/python", import.meta.url).pathname;
const program =
  "import json; from citewell.app import build; from citewell.settings import load_settings; print(json.dumps(build(load_settings()).openapi()))";
const document = execFileSync(python, ["-c", program], { maxBuffer: 64 * 1024 * 1024, encoding: "utf-8" });
writeFileSync(new URL("../src/api/schema.d.ts", import.meta.url), astToString(await openapiTS(JSON.parse(document))));
