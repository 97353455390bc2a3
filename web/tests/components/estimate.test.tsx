// @vitest-environment happy-dom
import { act, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Schemas, setSession } from "../../src/api/client";
import { UploadDialog } from "../../src/upload/UploadDialog";
import { openUploadDialog, uploadDialog, uploads } from "../../src/upload/uploads";
import { show } from "./rendering";

type Estimate = Schemas["UploadEstimateOut"];

const PART: Estimate["parts"][number] = {
  purpose: "embeddings",
  provider: "voyage",
  model: "voyage-4",
  tokens: { low: 12_345, high: 24_690 },
  calls: { low: 1, high: 3 },
  minutes: { low: 0.1, high: 2.4 },
  dollars: { low: 0.02, high: 0.05 },
};
const NOTHING: Estimate = {
  files: 1,
  measured: 0,
  parts: [],
  minutes: { low: 0, high: 0 },
  dollars: { low: 0, high: 0 },
  max_spend: null,
  dollars_left: null,
  exceeds: "no",
};
const COSTS: Estimate = { ...NOTHING, parts: [PART], minutes: PART.minutes, dollars: PART.dollars };

let asked: Schemas["UploadEstimateIn"][] = [];
let answer: (files: number) => Estimate = () => NOTHING;

beforeEach(() => {
  asked = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (!request.url.endsWith("/ingest/estimate")) return new Promise(() => undefined);
    const body = (await request.json()) as Schemas["UploadEstimateIn"];
    asked.push(body);
    return new Response(JSON.stringify(answer(body.files.length)), { headers: { "Content-Type": "application/json" } });
  });
  setSession({ csrf: "proof", owner: "ama" });
});
afterEach(() =>
  act(() => {
    uploads.set([]);
    uploadDialog.set({ open: false, files: [], workspace: null });
  }),
);

const dialog = (): HTMLElement => screen.getByRole("dialog", { name: "Add files" });
const files = (...names: string[]): File[] => names.map((name) => new File(["12345"], name, { type: "text/plain" }));
const note = (): HTMLElement => within(dialog()).getByRole("region", { name: "Estimate" });

test("says tokens, calls, minutes and price of the chosen files, and asks again when pictures are to be described", async () => {
  answer = () => COSTS;
  const { user } = show(<UploadDialog />);
  act(() => openUploadDialog(files("a.txt")));
  await waitFor(() => expect(note().textContent).toContain("$0.02–$0.05"));
  expect(note().textContent).toContain("1–2 min");
  expect(note().textContent).toContain("Embeddings by voyage-4: 12k–25k tokens, 1–3 calls.");
  expect(asked).toEqual([{ files: [{ filename: "a.txt", media_type: "text/plain", size: 5 }], multimodal: false }]);
  await user.click(within(dialog()).getByText("Options"));
  await user.click(within(dialog()).getByRole("switch", { name: /Describe images/ }));
  await waitFor(() => expect(asked.at(-1)?.multimodal).toBe(true));
});

test("sends nothing that certainly costs more than is left, and warns of what may", async () => {
  const limit = { max_spend: 10, dollars_left: 0.01 };
  answer = (count) => ({ ...COSTS, ...limit, exceeds: count > 1 ? "yes" : "perhaps" });
  const { user } = show(<UploadDialog />);
  act(() => openUploadDialog(files("a.txt", "b.txt")));
  await waitFor(() => expect(within(note()).getByRole("alert").textContent).toContain("CITEWELL_MAX_SPEND"));
  expect(within(note()).getByRole("alert").textContent).toContain("$0.01 left of this month's $10.00");
  expect(within(dialog()).getByRole("button", { name: "Add 2 files" })).toHaveProperty("disabled", true);
  await user.click(within(dialog()).getByRole("button", { name: "Remove b.txt" }));
  await waitFor(() => expect(note().textContent).toContain("This may cost more"));
  expect(within(dialog()).getByRole("button", { name: "Add 1 file" })).toHaveProperty("disabled", false);
});

test("names a model without a price", async () => {
  answer = () => ({ ...COSTS, parts: [{ ...PART, dollars: null }], dollars: null });
  show(<UploadDialog />);
  act(() => openUploadDialog(files("a.txt")));
  await waitFor(() => expect(note().textContent).toContain("CITEWELL_PRICES has no price for voyage-4."));
});

test("says nothing where nothing costs", async () => {
  answer = () => NOTHING;
  show(<UploadDialog />);
  act(() => openUploadDialog(files("a.txt")));
  await waitFor(() => expect(asked).toHaveLength(1));
  expect(within(dialog()).queryByRole("region", { name: "Estimate" })).toBeNull();
});
