// @vitest-environment happy-dom

import { screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Schemas } from "../../src/api/client";
import { queryClient } from "../../src/api/queries";
import { TelegramCard } from "../../src/settings/TelegramCard";
import { show } from "./rendering";

const ANN = { user_id: 42, name: "Ann", linked_at: "2026-11-23T08:00:00Z" };
const CODE: Schemas["TelegramCodeOut"] = {
  code: "K7QM2-XPD4R",
  expires_at: "2026-11-23T08:15:00Z",
  address: "https://t.me/citewell_bot?start=K7QM2XPD4R",
};

let found: Schemas["TelegramOut"];
let asked: string[];

async function answer(input: Request | string | URL): Promise<Response> {
  const request = input as Request;
  const { pathname } = new URL(request.url, "http://citewell");
  asked.push(`${request.method} ${pathname}`);
  if (request.method === "POST") return Response.json(CODE, { status: 201 });
  if (request.method === "DELETE") {
    found = { ...found, links: [] };
    return new Response(null, { status: 204 });
  }
  return Response.json(found);
}

beforeEach(() => {
  queryClient.clear();
  found = { bot: "citewell_bot", everyone: false, links: [ANN] };
  asked = [];
  vi.stubGlobal("fetch", answer);
});

describe("Telegram in the settings", () => {
  test("shows a code on request, with a link that opens the bot", async () => {
    const { user } = show(<TelegramCard />);
    await user.click(await screen.findByRole("button", { name: "Link an account" }));
    const code = await screen.findByRole<HTMLInputElement>("textbox", { name: "Code for the bot" });
    expect(code.value).toBe("K7QM2-XPD4R");
    expect(screen.getByRole("link", { name: "Open Telegram" }).getAttribute("href")).toBe(CODE.address);
    expect(asked).toContain("POST /telegram/codes");
  });

  test("lists who is linked, and unlinks after a question", async () => {
    const { user } = show(<TelegramCard />);
    await user.click(await screen.findByRole("button", { name: "Unlink Ann" }));
    expect(asked.filter((one) => one.startsWith("DELETE"))).toEqual([]);
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Unlink" }));
    await waitFor(() => expect(screen.queryByText("Ann")).toBeNull());
    expect(asked).toContain("DELETE /telegram/links/42");
  });

  test("says what to do where no bot runs, and offers no code", async () => {
    found = { ...found, bot: null, links: [] };
    show(<TelegramCard />);
    await screen.findByText(/TELEGRAM_BOT_TOKEN/);
    expect(screen.queryByRole("button", { name: "Link an account" })).toBeNull();
  });
});
