// @vitest-environment happy-dom

import { screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Schemas } from "../../src/api/client";
import { queryClient } from "../../src/api/queries";
import { QuotaCard } from "../../src/settings/QuotaCard";
import { show } from "./rendering";

type Quota = Schemas["QuotaOut"];

const UNLIMITED: Quota[] = (["files", "bytes", "questions", "spend"] as const).map((quota) => ({
  quota,
  limit: null,
  used: 3,
  own: false,
  resets_at: null,
}));

let found: Quota[];
let answered: number;

beforeEach(() => {
  queryClient.clear();
  found = UNLIMITED;
  answered = 0;
  vi.stubGlobal("fetch", async () => {
    answered += 1;
    return Response.json({ quotas: found });
  });
});

describe("Quotas in the settings", () => {
  test("are not mentioned where there is no limit", async () => {
    show(<QuotaCard />);
    await waitFor(() => expect(queryClient.getQueryData(["quotas"])).toHaveLength(4));
    expect(answered).toBe(1);
    expect(screen.queryByText("Quotas")).toBeNull();
  });

  test("show how much is used of those that have a limit, and only those", async () => {
    found = UNLIMITED.map((one) => {
      if (one.quota === "bytes") return { ...one, limit: 2_000_000, used: 500_000 };
      if (one.quota === "questions") return { ...one, limit: 0, used: 0, resets_at: "2026-12-01T12:00:00Z" };
      return one;
    });
    show(<QuotaCard />);
    expect(await screen.findByText("500 kB of 2 MB")).toBeTruthy();
    expect(screen.getByRole("progressbar", { name: "Size of all files" }).getAttribute("aria-valuenow")).toBe("25");
    expect(screen.getByText("0 of 0")).toBeTruthy();
    expect(screen.getByText("until 1 Dec 2026")).toBeTruthy();
    expect(screen.getByRole("progressbar", { name: "Questions this month" }).getAttribute("aria-valuenow")).toBe("100");
    expect(screen.queryByText("Files")).toBeNull();
  });
});
