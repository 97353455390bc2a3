// @vitest-environment happy-dom

import { screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Schemas } from "../../src/api/client";
import { queryClient } from "../../src/api/queries";
import { LocalModelCard, LocalModelOffer } from "../../src/settings/LocalModel";
import { show } from "./rendering";

type Overview = Schemas["LocalModels"];

const OLLAMA = { server: "Ollama", models: ["llama3.2", "qwen3"] };
const STUDIO = { server: "LM Studio", models: ["gpt-oss-20b"] };
const NOTHING: Overview = { state: "none", reason: "", chosen: null, servers: [] };

/** A server with one answer to a look, and another to a change; keeps what it was asked to use. */
let overview: Overview;
let refusal: { code: string; message: string } | null;
let isSlow: boolean;
let used: unknown[];

async function answer(input: Request | string | URL): Promise<Response> {
  const request = input as Request;
  if (!new URL(request.url, "http://citewell").pathname.endsWith("/local-model"))
    return Response.json({ findings: [] });
  if (request.method === "POST") {
    const chosen = (await request.json()) as Schemas["LocalModelOut"];
    used.push(chosen);
    if (isSlow) await new Promise(() => undefined);
    if (refusal) return Response.json({ error: { ...refusal, details: {} } }, { status: 503 });
    overview = { ...overview, state: "used", chosen };
  }
  if (request.method === "DELETE") overview = { ...overview, state: "none", chosen: null };
  return Response.json(overview);
}

beforeEach(() => {
  overview = { ...NOTHING, servers: [OLLAMA, STUDIO] };
  refusal = null;
  isSlow = false;
  used = [];
  vi.stubGlobal("fetch", answer);
});

const click = async (user: ReturnType<typeof show>["user"], name: string): Promise<void> =>
  user.click(await screen.findByRole("button", { name }));

describe("a model of this machine", () => {
  test("is offered on the first screen by name, and used after one click", async () => {
    const { user } = show(<LocalModelOffer />);
    await screen.findByText("Ollama is running llama3.2 on this machine.");
    expect(used).toEqual([]);
    await click(user, "Use it");
    await screen.findByText("Ollama with llama3.2 writes the answers.");
    expect(used).toEqual([{ server: "Ollama", model: "llama3.2" }]);
    expect(screen.queryByRole("button")).toBeNull();
  });

  test("can be another one of those that the server has", async () => {
    const { user } = show(<LocalModelOffer />);
    await user.selectOptions(await screen.findByRole("combobox", { name: "Ollama model" }), "qwen3");
    await click(user, "Use it");
    await waitFor(() => expect(used).toEqual([{ server: "Ollama", model: "qwen3" }]));
  });

  test("is checked meanwhile, which is said, and cannot be asked for twice", async () => {
    isSlow = true;
    const { user } = show(<LocalModelOffer />);
    await click(user, "Use it");
    expect((await screen.findByRole("status")).textContent).toContain("Checking the model");
    expect(screen.getByRole("button", { name: "Use it" })).toHaveProperty("disabled", true);
  });

  test("that does not answer is refused with the reason, and stays on offer", async () => {
    refusal = { code: "provider_rejected", message: "The provider said: does not support tools" };
    const { user } = show(<LocalModelOffer />);
    await click(user, "Use it");
    expect((await screen.findByRole("alert")).textContent).toContain("does not support tools");
    expect(screen.getByRole("button", { name: "Use it" })).toHaveProperty("disabled", false);
  });

  test.each<Overview>([
    NOTHING,
    { ...NOTHING, state: "off", reason: "CITEWELL_CHAT_PROVIDER is 'openai'" },
    { ...NOTHING, state: "used", chosen: { server: "Ollama", model: "llama3.2" }, servers: [OLLAMA] },
    { ...NOTHING, state: "silent", chosen: { server: "Ollama", model: "llama3.2" }, servers: [OLLAMA] },
  ])("is no matter of the first screen where it is $state", async (present) => {
    overview = present;
    show(<LocalModelOffer />);
    await waitFor(() => expect(queryClient.getQueryData(["local-model"])).toEqual(present));
    expect(screen.queryByRole("button")).toBeNull();
    expect(screen.queryByText(/Ollama/)).toBeNull();
  });

  test("is no matter of the settings where those of the server decide", async () => {
    overview = { ...NOTHING, state: "off", reason: "CITEWELL_CHAT_PROVIDER is 'openai'" };
    show(<LocalModelCard />);
    await waitFor(() => expect(queryClient.getQueryData(["local-model"])).toEqual(overview));
    expect(screen.queryByRole("region", { name: "Local model" })).toBeNull();
  });

  test("in the settings: every server is offered, the used one is given up", async () => {
    const { user } = show(<LocalModelCard />);
    const card = await screen.findByRole("region", { name: "Local model" });
    expect(within(card).getAllByRole("button", { name: "Use it" })).toHaveLength(2);
    await user.click(within(card).getAllByRole("button", { name: "Use it" })[1] as HTMLElement);
    await screen.findByText("LM Studio with gpt-oss-20b writes the answers.");
    expect(screen.queryByRole("button", { name: "Use it" })).toBeNull();
    await click(user, "Stop using it");
    await waitFor(() => expect(screen.getAllByRole("button", { name: "Use it" })).toHaveLength(2));
  });

  test("that was silent at the start is said to be, and can be chosen again", async () => {
    overview = { state: "silent", reason: "", chosen: { server: "Ollama", model: "llama3.2" }, servers: [OLLAMA] };
    const { user } = show(<LocalModelCard />);
    await screen.findByText(/did not respond when Citewell started/);
    await click(user, "Use it");
    await screen.findByText("Ollama with llama3.2 writes the answers.");
  });
});
