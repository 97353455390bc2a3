// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { Resource } from "../../src/api/client";
import { CoverageCard } from "../../src/library/CoverageCard";
import type { CoverageReport } from "../../src/library/coverage";
import { show } from "./rendering";

const NOTHING = { words: 0, tables: 0, images: 0, rows: 0, elements: 0, skipped: [], warnings: [], units: [] };

function whole(values: Partial<CoverageReport["units"][number]>): CoverageReport["units"][number] {
  return { unit: "file", number: 1, characters: 9, ...NOTHING, ocr_share: 0, ocr_confidence: null, ...values } as never;
}

function card(report: object): void {
  show(<CoverageCard resource={{ coverage: { ...NOTHING, ...report } } as unknown as Resource} />);
}

describe("the coverage of a file that has no pages", () => {
  test("says once what is in it, and how it was read", () => {
    card({ words: 103, tables: 1, units: [whole({ words: 103, tables: 1 })] });
    const { textContent } = screen.getByRole("region", { name: "Coverage" });
    expect(textContent).toBe("Coverage103 words · 1 tableRead");
  });

  test("tells how well letters were recognised", () => {
    card({ words: 42, units: [whole({ words: 42, ocr_share: 1, ocr_confidence: 0.98 })] });
    expect(screen.getByText("100% by OCR · OCR confidence: 98%")).toBeTruthy();
  });

  test("is not there where nothing was read", () => {
    card({});
    expect(screen.queryByRole("region", { name: "Coverage" })).toBeNull();
  });
});
