import { describe, expect, it } from "vitest";
import type { Citation } from "../../src/api/client";
import { byFile, inOrder } from "../../src/chat/order";
import { partsOf, quoteInWords } from "../../src/chat/passages";

const SHEET = "Costs\n| Month | CAC |\n| --- | --- |\n| 2026-05 | 198 |\n| 2026-06 | 214 |";

describe("a passage", () => {
  it("shows the cited row of a table under its header, and how many there are besides", () => {
    expect(partsOf(SHEET, "| 2026-06 | 214 |", true)).toEqual([
      { words: "Costs", isQuoted: false },
      { table: { header: ["Month", "CAC"], rows: [["2026-06", "214"]], left: 1 } },
    ]);
  });

  it("shows a row of names and values as a row, without the rows it was computed from", () => {
    const row = "Branch: Tema | Average of Amount (GHS): 6980 (40 rows, 2-41)";
    expect(partsOf(row, row, true)).toEqual([
      { table: { header: ["Branch", "Average of Amount (GHS)"], rows: [["Tema", "6980"]], left: 0 } },
    ]);
  });

  it("marks quoted words, and takes no sentence with a colon for a row", () => {
    expect(partsOf("Note: it is due. Pay.", "it is due", false)).toEqual([
      { words: "Note: ", isQuoted: false },
      { words: "it is due", isQuoted: true },
      { words: ". Pay.", isQuoted: false },
    ]);
  });

  it("is copied in words", () => {
    expect(quoteInWords("| 2026-06 | 214 |", SHEET, true)).toBe("Month: 2026-06; CAC: 214");
    expect(quoteInWords("Branch: Tema | Amount: 5", "gone", true)).toBe("Branch: Tema; Amount: 5");
    expect(quoteInWords(" it is due ", " it is due ", false)).toBe("it is due");
  });
});

function citation(n: number, values: Partial<Citation> = {}): Citation {
  const place = { filename: "a.pdf", label: "a.pdf", locator: { page: n } };
  const ids = { chunk_id: `c${n}`, resource_id: "r", version: 1 };
  return { n, ...ids, ...place, quote: "q", verdict: "supported", score: 1, available: true, ...values };
}

describe("the numbers of sources", () => {
  it("run in the order of the text", () => {
    const { text, citations } = inOrder(
      "B [3]. A [1, 3]. C [2]",
      [1, 2, 3].map((n) => citation(n)),
    );
    expect(text).toBe("B [1]. A [2, 1]. C [3]");
    expect(citations.map(({ n, chunk_id }) => [n, chunk_id])).toEqual([
      [1, "c3"],
      [2, "c1"],
      [3, "c2"],
    ]);
  });

  it("stay where a bracket that cites nothing would begin to", () => {
    expect(inOrder("Row [2] of [3]", [citation(3), citation(1)]).text).toBe("Row [2] of [3]");
  });

  it("of several pages of one file are together, and of other files and versions apart", () => {
    const groups = byFile([citation(1), citation(2, { resource_id: "s" }), citation(3), citation(4, { version: 2 })]);
    expect(groups.map((group) => group.map(({ n }) => n))).toEqual([[1, 3], [2], [4]]);
  });
});
