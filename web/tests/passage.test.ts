import { describe, expect, it } from "vitest";
import { type Element, findPassage, findQuote, findRows } from "../src/viewer/passage";

function element(id: string, text: string, values: Partial<Element> = {}): Element {
  return { id, type: "paragraph", text, locator: {}, ...values };
}

function marked(text: string, quote: string): string[] {
  return findQuote(text, quote).map(([from, to]) => text.slice(from, to));
}

describe("a quote in a text", () => {
  it("is found whatever spaces, hyphens and case lie between", () => {
    expect(marked("Most: a First-time  borrower may get 5,000.", "first time borrower may get 5000")).toEqual([
      "First-time  borrower may get 5,000",
    ]);
  });

  it("over several lines marks each of them once", () => {
    expect(marked("Alpha beta. Gamma delta.", "Alpha beta\nGamma delta")).toEqual(["Alpha beta", "Gamma delta"]);
    expect(marked("Alpha beta gamma", "Alpha beta\nbeta gamma")).toEqual(["Alpha beta gamma"]);
  });

  it("that is not there marks nothing", () => {
    expect(marked("Something else entirely", "Alpha beta")).toEqual([]);
  });
});

describe("a passage among elements", () => {
  it("is marked near its place when the same words occur twice", () => {
    const elements = [
      element("a", "The fee is 2%.", { locator: { slide: 1 } }),
      element("b", "The fee is 2%.", { locator: { slide: 4 } }),
    ];
    expect([...findPassage(elements, { slide: 4 }, "The fee is 2%").keys()]).toEqual(["b"]);
  });

  it("is found elsewhere when its place does not hold it", () => {
    expect([...findPassage([element("a", "The fee is 2%.")], { slide: 9 }, "The fee is 2%").keys()]).toEqual(["a"]);
  });

  it("over two elements marks both", () => {
    const elements = [element("a", "First part."), element("b", "Second part."), element("c", "Third part.")];
    expect([...findPassage(elements, undefined, "First part.\n\nSecond part.").keys()]).toEqual(["a", "b"]);
  });

  it("in a table marks its row, never the header", () => {
    const grid = [
      ["Metric", "Value"],
      ["Loan size", "4870"],
      ["Officers", "5"],
    ];
    expect([...findRows(grid, 1, "| Metric | Value |\n| Loan size | 4870 |")]).toEqual([1]);
    const found = findPassage(
      [element("t", "", { type: "table", grid, header_rows: 1 })],
      undefined,
      "Metric: Officers | Value: 5",
    );
    expect([...(found.get("t")?.rows ?? [])]).toEqual([2]);
  });
});
