import { describe, expect, it } from "vitest";
import {
  type Filter,
  fieldLabel,
  filterLabel,
  filtersOf,
  filtersParameter,
  operatorsOf,
  readFilters,
  typedValue,
  withFilter,
  within,
  without,
} from "../../src/filters/filters";

const CAMERA: Filter = { field: "metadata.camera", operator: "eq", value: "Leica M6" };

describe("filters in words", () => {
  it("name the field, the operator and the value", () => {
    expect(filterLabel(CAMERA)).toBe("camera is Leica M6");
    expect(filterLabel({ field: "language", operator: "in", value: ["en", "de"] })).toBe("Language is one of en, de");
    expect(filterLabel({ field: "metadata.kept", operator: "eq", value: false })).toBe("kept is no");
    expect(filterLabel({ field: "tag", operator: "exists", value: false })).toBe("Tag is not set");
    expect(filterLabel({ not: { any: [CAMERA, { field: "page", operator: "gte", value: 3 }] } })).toBe(
      "not (camera is Leica M6 or Page is at least 3)",
    );
    expect(fieldLabel("metadata.uploaded_at")).toBe("uploaded_at");
    expect(fieldLabel("toString")).toBe("toString");
  });

  it("call a month or a year by its name, whatever it is made of", () => {
    for (const period of ["2024-12", "2025-02", "0999-01", "1999"]) {
      expect(filterLabel(within("date", period))).toBe(`Date is ${period}`);
    }
    expect(within("date", "2024-12")).toEqual({
      all: [
        { field: "date", operator: "gte", value: "2024-12-01" },
        { field: "date", operator: "lt", value: "2025-01-01" },
      ],
    });
    const odd: Filter = {
      all: [
        { field: "date", operator: "gte", value: "2024-12-01" },
        { field: "date", operator: "lt", value: "2025-01-02" },
      ],
    };
    expect(filterLabel(odd)).toBe("Date is at least 2024-12-01 and Date is less than 2025-01-02");
  });
});

describe("a value as it was written", () => {
  it("has the type of its field, or is none", () => {
    expect(typedValue("number", " 1.8 ")).toBe(1.8);
    expect(typedValue("number", "fast")).toBeNull();
    expect(typedValue("boolean", "false")).toBe(false);
    expect(typedValue("text", " 400 ")).toBe("400");
    expect(typedValue("text", "  ")).toBeNull();
    expect(operatorsOf("boolean")).not.toContain("gte");
    expect(operatorsOf("number")).toContain("gte");
  });
});

describe("filters in an address", () => {
  it("are those that were put there", () => {
    const filters = [CAMERA, within("uploaded_at", "2026-11"), { not: CAMERA }];
    expect(readFilters(filtersParameter(filters))).toEqual(filters);
    expect(filtersParameter([])).toBeNull();
    expect(filtersOf(filters)).toEqual(filters);
  });

  it("leave out what somebody else may have written there", () => {
    const nested = (depth: number): object => (depth ? { not: nested(depth - 1) } : CAMERA);
    const bad = [
      { field: 1, operator: "eq", value: 1 },
      { field: "tag", operator: "toString", value: "x" },
      { field: "tag", operator: "eq", value: { a: 1 } },
      { all: [] },
      { all: [CAMERA, null] },
      nested(9),
      7,
      null,
    ];
    expect(readFilters(JSON.stringify([...bad, CAMERA]))).toEqual([CAMERA]);
    for (const text of ["[", "{}", "7", "", null]) expect(readFilters(text)).toEqual([]);
  });

  it("are there once each", () => {
    const two = withFilter([CAMERA], within("date", "2025"));
    expect(withFilter(two, { ...CAMERA })).toHaveLength(2);
    expect(without(two, { ...CAMERA })).toEqual([within("date", "2025")]);
  });
});
