import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { describe, expect, it } from "vitest";
import type { Citation } from "../src/api/client";
import { citeMarkers, cut, splitLabel, weakest, withReferences } from "../src/chat/markers";

const known = new Set([1, 2]);

function citation(values: Partial<Citation>): Citation {
  return {
    n: 1,
    chunk_id: "c",
    resource_id: "r",
    version: 1,
    filename: "Loan Policy.pdf",
    locator: { page: 3 },
    label: "Loan Policy.pdf (p. 3)",
    quote: "At most 5,000",
    verdict: "supported",
    score: 1,
    available: true,
    ...values,
  };
}

describe("markers in an answer", () => {
  it("belong to the sentence before them, after or before its full stop", () => {
    expect(cut("One. Two. [1] Three [2]. Four", known)).toEqual([
      { text: "One. ", numbers: [] },
      { text: "Two.", numbers: [1] },
      { text: " Three", numbers: [2] },
      { text: ". Four", numbers: [] },
    ]);
  });

  it("side by side or in one bracket cite together", () => {
    expect(cut("Both.[1][2]", known)).toEqual([{ text: "Both.", numbers: [1, 2] }]);
    expect(cut("Both [1, 2]", known)).toEqual([{ text: "Both", numbers: [1, 2] }]);
  });

  it("that name no source stay words", () => {
    expect(cut("See [7] and a[0]", known)).toEqual([{ text: "See [7] and a[0]", numbers: [] }]);
  });

  it("lose no word of the answer", () => {
    const text = "A. B! “C?” [1] d e [2] [1]\nf [9]";
    const kept = cut(text, known)
      .map((piece) => piece.text)
      .join("");
    expect(kept.replace(/\s/g, "")).toBe(text.replace(/\[[12]\]/g, "").replace(/\s/g, ""));
  });
});

/** What is seen of an answer: a chip is `‹n›`. */
function shown(answer: string, citations: readonly Citation[]): string {
  const components = {
    "cite-claim": ({ children }: { children: ReactNode }) => children,
    "cite-chip": ({ n }: { n: number }) => `‹${n}›`,
  } as unknown as Components;
  const remarkPlugins = [remarkGfm, [citeMarkers, { citations }] as [typeof citeMarkers, { citations: Citation[] }]];
  return renderToStaticMarkup(createElement(Markdown, { remarkPlugins, components, skipHtml: true }, answer));
}

describe("chips on the screen", () => {
  const citations = [citation({}), citation({ n: 2 })];

  it.each([
    ["a line that cites and goes on", "Rates fell [1] Prices rose. [2] Wages stood still. [1]"],
    ["lists", "- one [1]\n- two [2]\n  1. three [1][2]"],
    ["headings and emphasis", "# Fees [1]\n\n**Due daily [2]** and ~~never [1]~~"],
    ["a table, also after its last column", "| Fee | Due |\n|---|---|\n| 5 | daily | [1]\n| 6 | never [2] |"],
    ["code", "```markdown\nIt is due daily [1].\n```\n\nCall `pay [2]` then."],
    ["an indented block", "So:\n\n    pay daily [1]\n\nThen rest [2]."],
    ["a block that a citation follows", "```\nrows[ 0 ]\n```\n[1]\nThat is all [2]."],
    ["a mail address", "Write to me@example.org[1] [2]"],
    ["footnotes", "As noted [1][^2].\n\n[^2]: By them [2]."],
  ])("%s: each marker is one, and none is left as words", (_, answer) => {
    const seen = shown(answer, citations);
    expect(seen).not.toMatch(/\[\d/);
    expect(seen).toContain("‹1›");
    expect(seen).toContain("‹2›");
  });

  it("leave code as it is", () => {
    expect(shown("Use `rows[ 0 ]` [1]. [2]", citations)).toContain("<code>rows[ 0 ]</code>");
  });

  it("are there for each citation, whatever became of its marker", () => {
    expect(shown("Due daily [1].", citations)).toMatch(/‹1›.*<p>‹2›<\/p>/s);
    expect(shown("Due daily.", [])).toBe("<p>Due daily.</p>");
  });
});

describe("citations", () => {
  it("show the weakest verdict of a claim", () => {
    expect(weakest([citation({}), citation({ verdict: "unsupported" }), citation({ verdict: "weak" })])).toBe(
      "unsupported",
    );
    expect(weakest([citation({})])).toBe("supported");
  });

  it("name the place briefly", () => {
    expect(splitLabel(citation({}))).toEqual({ name: "Loan Policy.pdf", place: "page 3" });
    expect(splitLabel(citation({ locator: { page: 3, pages: [3, 4] } })).place).toBe("pages 3–4");
    expect(splitLabel(citation({ locator: { slide: 7 } })).place).toBe("slide 7");
    const headed = citation({ label: 'Loan Policy.pdf ("Fees")', locator: { headings: ["Fees"] } });
    expect(splitLabel(headed).place).toBe('"Fees"');
    const cell = citation({
      filename: "F.xlsx",
      label: 'F.xlsx (Sheet "A (1)", Row 5)',
      locator: { sheet: "A (1)", row: 5 },
    });
    expect(splitLabel(cell)).toEqual({ name: "F.xlsx", place: "A (1), row 5" });
    const one = citation({ ...cell, locator: { sheet: "A (1)", row: 5, column: "Fees" } });
    expect(splitLabel(one).place).toBe("A (1), row 5, Fees");
    const bare = citation({ label: "Loan Policy.pdf", locator: {} });
    expect(splitLabel(bare)).toEqual({ name: "Loan Policy.pdf", place: "" });
  });

  it("are copied below the answer in their order", () => {
    const copied = withReferences(
      "Yes. [2] No. [1]",
      [citation({ n: 2, label: "B", quote: "y" }), citation({ n: 1, label: "A", quote: "n" })],
      "References",
    );
    expect(copied).toBe("Yes. [2] No. [1]\n\nReferences\n[1] A: “n”\n[2] B: “y”\n");
    expect(withReferences("Hello", [], "References")).toBe("Hello");
  });
});
