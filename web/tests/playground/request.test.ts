import { expect, it } from "vitest";
import {
  conditionOf,
  EMPTY_FORM,
  type FilterDraft,
  inputOf,
  operatorsOf,
  requestOf,
} from "../../src/playground/request";

const draft = (part: Partial<FilterDraft>): FilterDraft => ({
  id: 1,
  field: "filename",
  operator: "eq",
  value: "",
  ...part,
});

it("leaves out what the server is to decide", () => {
  expect(requestOf({ ...EMPTY_FORM, query: "  loans " })).toEqual({
    query: "loans",
    top_k: 10,
    debug: true,
    neighbours: 0,
    filters: [],
  });
});

it("says what was chosen, and leaves out conditions without a value", () => {
  const form = {
    ...EMPTY_FORM,
    query: "q",
    rerank: "off" as const,
    types: ["row" as const],
    project: "p",
    filters: [draft({ value: " " }), draft({ value: "a.pdf" })],
  };
  expect(requestOf(form)).toMatchObject({
    rerank: false,
    types: ["row"],
    project: "p",
    filters: [{ field: "filename", operator: "eq", value: "a.pdf" }],
  });
});

it("makes numbers, dates and lists of what is typed", () => {
  expect(conditionOf(draft({ field: "page", operator: "gte", value: "3" }))?.value).toBe(3);
  expect(conditionOf(draft({ field: "date", operator: "lte", value: "2026-01-31" }))?.value).toBe("2026-01-31");
  expect(conditionOf(draft({ field: "page", operator: "in", value: "1, 2,," }))?.value).toEqual([1, 2]);
  expect(conditionOf(draft({ field: "filename", operator: "in", value: "a, b" }))?.value).toEqual(["a", "b"]);
  expect(conditionOf(draft({ field: "page", operator: "in", value: "1, two" }))).toBeNull();
});

it("offers an order only where there is one", () => {
  expect(operatorsOf("filename")).toEqual(["eq", "in"]);
  expect(operatorsOf("date")).toContain("gte");
  expect(inputOf({ field: "date", operator: "eq" })).toBe("date");
  expect(inputOf({ field: "date", operator: "in" })).toBe("text");
  expect(inputOf({ field: "row", operator: "lte" })).toBe("number");
});
