import { expect, serious, test } from "./fixtures";

test("a search shows passages, on request each leg's scores and where the time went, and opens its source", {
  tag: "@journey",
}, async ({ home: page, server }) => {
  await page.goto(`${server.address}/playground`);
  await page.getByRole("searchbox", { name: "Search for words or ask a question" }).fill("interest per month");
  await page.keyboard.press("Enter");
  const hits = page.getByRole("list", { name: "Results" }).locator(".hit");
  await expect(hits.first()).toBeVisible();
  await expect(hits.first().locator(".score")).toHaveCount(0);
  await page.getByRole("button", { name: "How this was ranked" }).click();
  await expect(hits.first().locator(".score").filter({ hasText: "Fused" })).toBeVisible();
  await expect(page.locator(".waterfall li").filter({ hasText: "Embed" })).toBeVisible();
  await hits.first().locator(".hit-label").click();
  await expect(page.getByRole("complementary", { name: "Source" })).toBeVisible();
  expect(await serious(page)).toEqual([]);
});

test("what was searched for is there again after a reload, and on the way back", async ({ home: page, server }) => {
  await page.goto(`${server.address}/playground`);
  const field = page.getByRole("searchbox", { name: "Search for words or ask a question" });
  const first = page.getByRole("list", { name: "Results" }).locator(".hit").first();
  await field.fill("interest per month");
  await field.press("Enter");
  await expect(first).toContainText("Interest is 2.5%");
  await field.fill("mobile money");
  await field.press("Enter");
  await expect(first).toContainText("mobile money");
  await page.reload();
  await expect(field).toHaveValue("mobile money");
  await expect(first).toContainText("mobile money");
  await page.goBack();
  await expect(field).toHaveValue("interest per month");
  await expect(first).toContainText("Interest is 2.5%");
  await page.goBack();
  await expect(field).toHaveValue("");
  await expect(page.getByText("Search playground")).toBeVisible();
});

test("kinds and filters narrow what is found", async ({ home: page, server }) => {
  await page.goto(`${server.address}/playground`);
  await page.getByRole("searchbox", { name: "Search for words or ask a question" }).fill("loans");
  await page.getByRole("group", { name: "Passage types" }).getByRole("button", { name: "Rows" }).click();
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  const hits = page.getByRole("list", { name: "Results" }).locator(".hit");
  await expect(hits.first().locator(".tag")).toHaveText("Row");
  expect(new Set(await hits.locator(".tag").allTextContents())).toEqual(new Set(["Row"]));
  await page.getByRole("group", { name: "Passage types" }).getByRole("button", { name: "Rows" }).click();
  await page.getByRole("button", { name: "Options", exact: true }).click();
  await page.getByRole("button", { name: "Add filter" }).click();
  await page.getByRole("textbox", { name: "Value" }).fill("Loan Policy.pdf");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await expect(hits.first().locator(".tag")).not.toHaveText("Row");
  expect(new Set(await hits.locator(".hit-label .truncate").allTextContents())).toEqual(new Set(["Loan Policy.pdf"]));
  expect(await serious(page)).toEqual([]);
});

test("hits are shown with the passages around them", async ({ home: page, server }) => {
  await page.goto(`${server.address}/playground`);
  await page.getByRole("button", { name: "Options", exact: true }).click();
  await page.getByRole("searchbox", { name: "Search for words or ask a question" }).fill("loans");
  await page.getByLabel("Filters from the query").selectOption("off");
  await page.getByLabel("Neighbouring passages").fill("1");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByRole("group", { name: "View" }).getByRole("button", { name: "Passages" }).click();
  await expect(page.getByRole("list", { name: "Passages" }).locator(".hit").first()).toContainText(/hits? in/);
});
