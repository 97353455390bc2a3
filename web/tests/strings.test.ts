// What the compiler cannot see about the interface's words.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXTRACTION_CODES, isBusyStatus, isFinal, lookUp, SEARCH_STEPS, wordFor } from "../src/api/codes";
import { stepsOf } from "../src/playground/waterfall";
import { t } from "../src/strings";

const SOURCE = join(import.meta.dirname, "../src");
const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf-8" })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), "utf-8") }));

describe("words for codes", () => {
  it("say what the table says, and make readable what a newer server may send", () => {
    expect(wordFor(t.elementType, "form_field")).toBe("Form field");
    expect(wordFor(t.elementType, "pull_quote")).toBe("Pull quote");
    expect(wordFor(t.status, "constructor")).toBe("Constructor");
    expect(lookUp(t.failedTitle, "toString")).toBeUndefined();
    expect(lookUp(t.failedTitle, null)).toBeUndefined();
  });

  it("advise what to do about every reason for which a file cannot be read", () => {
    expect(lookUp(t.failedDo, "parser_timeout")).toContain("CITEWELL_PARSER_SECONDS");
    for (const code of EXTRACTION_CODES) expect(lookUp<string>(t.failedDo, code), code).toMatch(/\.$/);
  });

  it("know busy files from those that are done, and take an unknown state for neither", () => {
    expect([isBusyStatus("extracting"), isFinal("extracting")]).toEqual([true, false]);
    expect([isBusyStatus("partial"), isFinal("partial")]).toEqual([false, true]);
    expect([isBusyStatus("resting"), isFinal("resting")]).toEqual([false, false]);
  });

  it("lay out every step of a search", () => {
    const timings = Object.fromEntries(SEARCH_STEPS.map((step) => [step, 1]));
    const order = stepsOf({ mystery: 1, ...timings }).map(({ name }) => name);
    expect(order.at(-1)).toBe("mystery");
    expect([...order].sort()).toEqual([...SEARCH_STEPS, "mystery"].sort());
  });
});

describe("the interface's words", () => {
  it("are all used", () => {
    const used = sources
      .filter(({ name }) => name !== "strings.ts" && !name.startsWith("languages"))
      .map(({ text }) => text)
      .join("\n");
    expect(Object.keys(t).filter((key) => !new RegExp(`\\bt\\.${key}\\b`).test(used))).toEqual([]);
  });

  it("and its figures have one locale", () => {
    const own = /Intl\.(?!Collator)\w+\((?!LOCALE)|toLocale\w*\(/;
    expect(sources.filter(({ text }) => own.test(text)).map(({ name }) => name)).toEqual([]);
  });

  it("are looked up by tables that the compiler checks", () => {
    expect(
      sources.filter(({ text }) => /as (Readonly<)?Record<string, string>/.test(text)).map(({ name }) => name),
    ).toEqual([]);
  });
});
