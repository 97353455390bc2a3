// Every language has every text, and each is written in it.
import { afterEach, describe, expect, it } from "vitest";
import { german } from "../src/languages/de";
import { spanish } from "../src/languages/es";
import { french } from "../src/languages/fr";
import { formatDay, formatNumber, setLocale } from "../src/lib/format";
import { preferred } from "../src/lib/language";
import { english } from "../src/strings";

/** The texts by their path, `status.failed`; a text with something to fill in is its function. */
function texts(words: object, path = ""): [string, unknown][] {
  return Object.entries(words).flatMap(([key, value]) =>
    typeof value === "object" && value !== null ? texts(value, `${path}${key}.`) : [[path + key, value]],
  );
}

const own = new Map(texts(english));

describe.each([
  ["German", german],
  ["French", french],
  ["Spanish", spanish],
])("%s", (_, words) => {
  const theirs = texts(words);

  it("has every text that English has, and no other", () => {
    expect(theirs.map(([path]) => path).sort()).toEqual([...own.keys()].sort());
  });

  it("has no text that is empty, and takes what English takes", () => {
    for (const [path, value] of theirs) {
      if (typeof value === "string") expect(value.trim(), path).not.toBe("");
      else expect((value as () => string).length, path).toBe((own.get(path) as () => string).length);
    }
  });

  it("leaves no sentence in English", () => {
    const same = theirs.filter(([path, value]) => typeof value === "string" && value === own.get(path));
    expect(same.filter(([, value]) => /\s\S+\s/.test(value as string)).map(([path]) => path)).toEqual([]);
  });

  it("counts one and several", () => {
    const { files, status } = words;
    expect(files(1)).not.toBe(files(2).replace("2", "1"));
    expect(status.failed).not.toBe("Failed");
  });
});

describe("the language of the interface", () => {
  it.each([
    [["de-AT", "en"], null, { language: "de", locale: "de-AT" }],
    [["ru", "fr-CA"], null, { language: "fr", locale: "fr-CA" }],
    [["ru"], null, { language: "en", locale: "en-GB" }],
    [["en-US", "de"], null, { language: "en", locale: "en-US" }],
    [["en-US", "de-CH"], "de", { language: "de", locale: "de-CH" }],
    [["en-US"], "es", { language: "es", locale: "es" }],
    [["de"], "en", { language: "en", locale: "en-GB" }],
  ] as const)("of a browser that prefers %j, with %j chosen, is %j", (preferences, chosen, found) => {
    expect(preferred(preferences, chosen)).toEqual(found);
  });

  describe("has its dates and numbers", () => {
    afterEach(() => setLocale("en-GB"));

    it("by language and region", () => {
      setLocale("de-DE");
      expect(formatNumber(12_345.6)).toBe("12.345,6");
      expect(formatDay("2026-03-04T12:00:00Z")).toBe("04.03.2026");
      setLocale("en-US");
      expect(formatDay("2026-03-04T12:00:00Z")).toBe("Mar 4, 2026");
    });
  });
});
