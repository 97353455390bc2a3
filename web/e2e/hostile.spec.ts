import { ask, expect, ready, test } from "./fixtures";

const SCRIPT = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
const HOSTILE = [
  `# ${SCRIPT}`,
  "The hostile lighthouse opens at noon. [click](javascript:document.title='owned') ![pixel](https://tracker.example/pixel.png)",
  `| a | b |\n| --- | --- |\n| ${SCRIPT} | [x](javascript:alert(1)) |`,
  `<svg onload="document.title='owned'"></svg>`,
].join("\n\n");

test("hostile names and documents are inert on every screen", async ({ home: page, server }) => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(new URL(request.url()).host));
  const ids: string[] = [];
  for (const [name, content] of [
    [`"><img src=x onerror=document.title='owned'>.md`, HOSTILE],
    ["<b>table</b>.csv", `city,note\n"${SCRIPT.replaceAll('"', '""')}",1\nAccra,2\n`],
  ] as const) {
    const form = new FormData();
    form.set("file", new Blob([content]), name);
    ids.push((await server.call<{ id: string }>("POST", "/ingest", form)).id);
  }
  await ready(server);
  const reply = await ask(page, `When does the hostile lighthouse open? ${SCRIPT}`);
  const chip = reply.getByRole("button", { name: /^Source 1/ }).first();
  if (await chip.isVisible()) {
    await chip.click();
    await expect(page.getByRole("complementary", { name: "Source" })).toContainText("lighthouse");
  }
  for (const address of ["/", "/library", ...ids.map((id) => `/library/${id}`), "/playground"]) {
    await page.goto(server.address + address);
    await expect(page.getByRole("main")).toBeVisible();
    await expect(page).not.toHaveTitle("owned");
    expect(await page.locator("img[src='x'], svg[onload], script:not([src])").count()).toBe(0);
  }
  expect(new Set(requests)).toEqual(new Set([new URL(server.address).host]));
});
