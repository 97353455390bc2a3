// @vitest-environment happy-dom

import { screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Schemas } from "../../src/api/client";
import { WebhooksCard } from "../../src/settings/WebhooksCard";
import { show } from "./rendering";

const HOOK: Schemas["WebhookOut"] = {
  id: "w1",
  url: "https://hooks.example/in",
  events: ["resource.indexed"],
  description: "",
  enabled: true,
  problem: "",
  created_at: "2026-03-01T00:00:00Z",
};

let hooks: Schemas["WebhookOut"][];
let dead: number;
let asked: string[];

async function answer(input: Request | string | URL): Promise<Response> {
  const request = input as Request;
  const path = new URL(request.url, "http://citewell").pathname.replace(/^.*\/webhooks/, "/webhooks");
  if (request.method !== "GET") asked.push(`${request.method} ${path}`);
  if (path === "/webhooks/deliveries") return Response.json({ deliveries: Array(dead).fill({}), next_cursor: null });
  if (request.method === "POST" && path === "/webhooks") {
    const { url } = (await request.json()) as { url: string };
    hooks = [...hooks, { ...HOOK, id: "w2", url }];
    return Response.json({ ...HOOK, id: "w2", url, secret: "whsec_shown_once" }, { status: 201 });
  }
  if (request.method === "DELETE") {
    hooks = [];
    return new Response(null, { status: 204 });
  }
  if (path.endsWith("/replay")) return Response.json({ replayed: dead }, { status: 202 });
  if (request.method === "PATCH") hooks = hooks.map((hook) => ({ ...hook, enabled: true, problem: "" }));
  return Response.json(path === "/webhooks" ? { webhooks: hooks } : {});
}

beforeEach(() => {
  hooks = [HOOK];
  dead = 0;
  asked = [];
  vi.stubGlobal("fetch", answer);
});

describe("webhooks in the settings", () => {
  test("a new one shows its secret once", async () => {
    hooks = [];
    const { user } = show(<WebhooksCard />);
    await user.click(await screen.findByRole("button", { name: "Add webhook" }));
    await user.type(await screen.findByLabelText("URL"), "https://new.example/in");
    await user.keyboard("{Enter}");
    expect((await screen.findByLabelText<HTMLInputElement>("Signing secret")).value).toBe("whsec_shown_once");
    await user.keyboard("{Escape}");
    await screen.findByText("https://new.example/in");
    expect(screen.queryByLabelText("Signing secret")).toBeNull();
  });

  test("what was given up is said and sent again", async () => {
    dead = 2;
    const { user } = show(<WebhooksCard />);
    await screen.findByText("2 events were not delivered within a day.");
    await user.click(screen.getByRole("button", { name: "Resend" }));
    await waitFor(() => expect(asked).toContain("POST /webhooks/w1/replay"));
  });

  test("one whose receiver is gone says why and can be enabled", async () => {
    hooks = [{ ...HOOK, enabled: false, problem: "The receiver is gone." }];
    const { user } = show(<WebhooksCard />);
    await screen.findByText("The receiver is gone.");
    await user.click(screen.getByRole("button", { name: "Enable" }));
    await waitFor(() => expect(screen.queryByText("The receiver is gone.")).toBeNull());
  });

  test("one is removed after a question", async () => {
    const { user } = show(<WebhooksCard />);
    await user.click(await screen.findByRole("button", { name: "Remove https://hooks.example/in" }));
    await user.click(await screen.findByRole("button", { name: "Remove" }));
    await waitFor(() => expect(asked).toContain("DELETE /webhooks/w1"));
  });
});
