// @vitest-environment happy-dom

import { screen, within } from "@testing-library/react";
import { describe, expect, test } from "vitest";
import type { Citation } from "../../src/api/client";
import { Sources } from "../../src/chat/Sources";
import { viewer } from "../../src/viewer/state";
import { show } from "./rendering";

function citation(n: number, values: Partial<Citation> = {}): Citation {
  const filename = `file ${n}.pdf`;
  const label = `${filename} (p. ${n})`;
  const place = { filename, label, locator: { page: n } };
  const ids = { chunk_id: `c${n}`, resource_id: `r${n}`, version: 1 };
  return { n, ...ids, ...place, quote: "words", verdict: "supported", score: 1, available: true, ...values };
}

const lines = (): string[] => screen.getAllByRole("listitem").map((line) => line.textContent ?? "");

describe("the sources of an answer", () => {
  test("are in the order of their numbers, with file and place, and open there", async () => {
    const { user } = show(<Sources citations={[citation(2), citation(1)]} />);
    expect(lines()).toEqual(["1file 1.pdfpage 1", "2file 2.pdfpage 2"]);
    await user.click(screen.getByRole("button", { name: /file 2/ }));
    expect(viewer.get()).toMatchObject({ resourceId: "r2", locator: { page: 2 }, quote: "words" });
  });

  test("are folded up when there are many, and not for the sake of one line", async () => {
    const { user, again } = show(<Sources citations={[1, 2, 3, 4].map((n) => citation(n))} />);
    expect(lines()).toHaveLength(4);
    again(<Sources citations={[1, 2, 3, 4, 5].map((n) => citation(n))} />);
    expect(lines()).toHaveLength(3);
    await user.click(screen.getByRole("button", { name: "Show all 5 sources", expanded: false }));
    expect(lines()).toHaveLength(5);
    await user.click(screen.getByRole("button", { name: "Show fewer sources", expanded: true }));
    expect(lines()).toHaveLength(3);
  });

  test("say what is doubtful, and what is gone and cannot be opened", () => {
    show(<Sources citations={[citation(1, { verdict: "weak" }), citation(2, { available: false })]} />);
    expect(lines()[0]).toContain("Weakly supported");
    expect(lines()[1]).toContain("This file was deleted.");
    expect(within(screen.getByRole("list", { name: "Sources" })).getAllByRole("button")).toHaveLength(1);
  });

  test("are nothing where nothing is cited", () => {
    show(<Sources citations={[]} />);
    expect(screen.queryByRole("list")).toBeNull();
  });
});
