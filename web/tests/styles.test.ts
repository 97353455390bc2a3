// Style sheets stay findable: a class belongs to one file, is used by something, and its name is written out where it is used.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { describe, expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "../src");
const LAYERS = ["tokens", "base", "components", "screens"];
/** Made by pdf.js within its text layer. */
const FOREIGN = new Set(["markedContent"]);

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
const read = (endings: RegExp): { name: string; text: string }[] =>
  files
    .filter((name) => endings.test(name) && !name.endsWith("schema.d.ts"))
    .map((name) => ({ name: relative(SOURCE, join(SOURCE, name)), text: readFileSync(join(SOURCE, name), "utf8") }));
const sheets = read(/\.css$/).map(({ name, text }) => ({ name, text: text.replaceAll(/\/\*[\s\S]*?\*\//g, "") }));
const code = read(/\.tsx?$/);

/** The classes that the selectors of a style sheet name. */
function classesOf(text: string): Set<string> {
  const selectors = [...text.matchAll(/([^{};]+)\{/g)].map(([, selector]) => selector?.trim() ?? "");
  const names = selectors
    .filter((selector) => !selector.startsWith("@"))
    .flatMap((selector) => [...selector.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name]) => name ?? ""));
  return new Set(names);
}

/** Every word of every text in the code. */
function wordsOf(text: string): string[] {
  const texts = [...text.matchAll(/"([^"\n]*)"|'([^'\n]*)'|`([^`]*)`/g)];
  return texts.flatMap(([, double, single, template]) => (double ?? single ?? template ?? "").split(/[^\w-]+/));
}

describe("style sheets", () => {
  test("each class belongs to one file", () => {
    const owners = new Map<string, string[]>();
    for (const { name, text } of sheets)
      for (const one of classesOf(text)) owners.set(one, [...(owners.get(one) ?? []), name]);
    expect(owners.size).toBeGreaterThan(300);
    expect([...owners].filter(([, names]) => names.length > 1)).toEqual([]);
  });

  test("each class is used", () => {
    const used = new Set(code.flatMap(({ text }) => wordsOf(text)));
    const defined = sheets.flatMap(({ text }) => [...classesOf(text)]);
    expect(defined.filter((name) => !used.has(name) && !FOREIGN.has(name))).toEqual([]);
  });

  test("no class name is put together from parts, which nobody could search for", () => {
    const parts = code.flatMap(({ name, text }) =>
      [...text.matchAll(/className=\{[^\n]*?[\w-]-\$\{/g)].map(([found]) => `${name}: ${found}`),
    );
    expect(parts).toEqual([]);
  });

  test("each file is one layer, so that the order in which screens load changes nothing", () => {
    for (const { name, text } of sheets) {
      if (name.endsWith("layers.css")) expect(text.trim()).toBe(`@layer ${LAYERS.join(", ")};`);
      else expect(LAYERS, name).toContain(/^@layer (\w+) \{\n[\s\S]*\n\}$/.exec(text.trim())?.[1]);
      // A brace in the first column ends the layer: nothing comes after it.
      if (!name.endsWith("layers.css")) expect(text.match(/^\}/gm), name).toHaveLength(1);
    }
  });

  test("they are imported by the page and by what it loads later, or a shared part's sheet could come before the order of layers", () => {
    const lazy = code.flatMap(({ text }) => [...text.matchAll(/import\("[./\w-]*?(\w+)"\)/g)].map(([, name]) => name));
    const importers = code.filter(({ text }) => /^import ".*\.css";$/m.test(text)).map(({ name }) => basename(name));
    const allowed = ["main.tsx", "docs.ts", ...lazy.map((name) => `${name}.tsx`)];
    expect(importers.length).toBeGreaterThan(3);
    expect(importers.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  test("each token has its value in one place", () => {
    const tokens = sheets.flatMap(({ name, text }) =>
      [...text.matchAll(/:root[^{]*\{([^}]*)\}/g)].flatMap(([, body]) =>
        [...(body ?? "").matchAll(/(--[\w-]+):/g)].map(([, token]) => ({ name, token })),
      ),
    );
    expect(tokens.length).toBeGreaterThan(30);
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(tokens.length);
    expect(new Set(tokens.map(({ name }) => name))).toEqual(new Set([join("styles", "tokens.css")]));
  });
});
