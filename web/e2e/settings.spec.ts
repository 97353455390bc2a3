import { expect, serious, test } from "./fixtures";

test("what is configured and reachable is listed", async ({ home: page, server }) => {
  await page.goto(`${server.address}/settings`);
  const findings = page.locator(".finding");
  await expect(findings.filter({ hasText: "Embeddings" })).toContainText("builtin");
  await expect(findings.filter({ hasText: "Database" })).toContainText("works");
  await expect(page.locator(".index").first()).toContainText("In use");
});

test("every screen says that the index is being rebuilt, until it is whole", async ({ home: page, server }) => {
  const parts = { index: { ok: true, ms: 1, note: "being rebuilt from SQL: 1,200 of 5,000 chunks" } };
  await page.route("**/ready", (route) =>
    route.fulfill({ json: { ready: true, parts, rebuilding: { done: 1200, total: 5000, problem: "" } } }),
  );
  const notice = page.getByRole("status").filter({ hasText: "being rebuilt" });
  for (const screen of ["/settings", "/library", "/"]) {
    await page.goto(server.address + screen);
    await expect(notice).toContainText("1,200 of 5,000 passages");
  }
  expect(await serious(page)).toEqual([]);
  await page.unroute("**/ready");
  await expect(notice).toHaveCount(0);
});

test("a token is shown once, works, and is refused after it was revoked", { tag: "@journey" }, async ({
  home: page,
  server,
}) => {
  await page.goto(`${server.address}/settings`);
  await page.getByRole("button", { name: "Create token" }).click();
  const dialog = page.getByRole("dialog", { name: "Create token" });
  await dialog.getByLabel("Name").fill("Nightly job");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const secret = await dialog.getByRole("textbox", { name: "Token" }).inputValue();
  expect(await serious(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Copy token" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  const status = async (): Promise<number> =>
    (await fetch(`${server.address}/tokens`, { headers: { Authorization: `Bearer ${secret}` } })).status;
  expect(await status()).toBe(200);
  expect(await page.content()).not.toContain(secret);
  await page.getByRole("button", { name: "Revoke Nightly job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("Nightly job")).toHaveCount(0);
  expect(await status()).toBe(401);
});

test("the theme stays after the page is loaded again", async ({ home: page, server }) => {
  await page.goto(`${server.address}/settings`);
  await page.getByRole("radio", { name: "Dark" }).check({ force: true });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.getByRole("radio", { name: "Dark" })).toBeChecked();
});

test("a chosen theme overrules the system's, and without one the system's is followed", async ({
  home: page,
  server,
}) => {
  const [light, dark] = ["rgb(250, 249, 246)", "rgb(23, 22, 20)"];
  await page.goto(`${server.address}/settings`);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.getByRole("radio", { name: "System" }).check({ force: true });
    await expect(page.locator("body")).toHaveCSS("background-color", colorScheme === "dark" ? dark : light);
    await page.getByRole("radio", { name: "Dark" }).check({ force: true });
    await expect(page.locator("body")).toHaveCSS("background-color", dark);
    await page.getByRole("radio", { name: "Light" }).check({ force: true });
    await expect(page.locator("body")).toHaveCSS("background-color", light);
  }
});

test("a model that cannot be used is refused with the reason, and the present index goes on answering", async ({
  home: page,
  server,
}) => {
  await page.goto(`${server.address}/settings`);
  await page.getByRole("button", { name: "Build another index" }).click();
  const dialog = page.getByRole("dialog", { name: "Build an index" });
  await dialog.getByLabel("Provider").selectOption("voyage");
  await dialog.getByRole("button", { name: "Build another index" }).click();
  await expect(dialog.getByRole("alert")).toContainText("there is no key");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(page.locator(".index")).toHaveCount(1);
  await expect(page.locator(".index")).toContainText("In use");
});

test("an index that is ready is compared with the present one, switched to, and back", async ({
  home: page,
  server,
}) => {
  const { indexes } = await server.call<{ indexes: Record<string, unknown>[] }>("GET", "/indexes");
  const present = { ...indexes[0], id: "present", state: "active" };
  const other = {
    ...indexes[0],
    id: "other",
    state: "ready",
    activated_at: null as string | null,
    fingerprint: "openai/other-model/256@r1",
  };
  await page.route("**/indexes", (route) => route.fulfill({ json: { indexes: [present, other] } }));
  await page.route("**/indexes/*/compare", (route) => {
    const { queries } = route.request().postDataJSON() as { queries: string[] };
    const compared = queries.map((query) => ({
      query,
      active: ["a", "b"],
      candidate: ["b", "c"],
      overlap: 0.5,
      change: 0.7,
      cited: ["a"],
    }));
    const passage = (id: string, is_cited: boolean) => ({
      chunk_id: id,
      filename: "policy.txt",
      label: "policy.txt",
      text: `passage ${id}`,
      is_cited,
    });
    const changed = queries.map((query) => ({
      query,
      active: [passage("a", true), passage("b", false)],
      candidate: [passage("b", false), passage("c", false)],
    }));
    const side = { ndcg: 0.75, milliseconds: 12.5, dollars: null };
    return route.fulfill({
      json: { queries: compared, mean_overlap: 0.5, judged: 2, active: side, candidate: side, changed },
    });
  });
  await page.route("**/indexes/*/switch", (route) => {
    const chosen = route.request().url().includes("/other/") ? other : present;
    for (const index of [present, other]) index.state = index === chosen ? "active" : "retired";
    other.activated_at ??= "2026-01-01T00:00:00Z";
    return route.fulfill({ json: chosen });
  });
  await page.goto(`${server.address}/settings`);
  const lines = page.locator(".index");
  await expect(lines).toHaveCount(2);
  await lines.nth(1).getByRole("button", { name: "Compare" }).click();
  const comparison = page.getByRole("dialog", { name: /^Compare/ });
  await comparison.getByLabel("Questions, one per line").fill("maximum loan size\n\ninterest per month");
  await comparison.getByRole("button", { name: "Compare" }).click();
  await expect(comparison.locator(".overlaps li")).toHaveCount(2);
  await expect(comparison).toContainText("50%");
  await expect(comparison).toContainText("0.750");
  await comparison.getByText("maximum loan size", { exact: true }).last().click();
  await expect(comparison.getByText("passage c").first()).toBeVisible();
  await comparison.getByRole("button", { name: "Close" }).click();
  for (const name of ["Switch", "Switch back"]) {
    await lines.nth(1).getByRole("button", { name, exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch", exact: true }).click();
    await expect(page.getByText(/^Searches now use /).last()).toBeVisible();
    await expect(lines.first()).toContainText("In use");
  }
  expect([present.state, other.state]).toEqual(["active", "retired"]);
});
