// @vitest-environment happy-dom
// Which requests say that they are about somebody else's project, and about which.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ask } from "../../src/api/chat";
import { api, request, setSession, unwrap } from "../../src/api/client";
import { projectsQuery, queryClient, sharedProjectsQuery } from "../../src/api/queries";
import { matchingQuery, newestQuery, resourcesQuery } from "../../src/api/resources";
import {
  chooseWorkspace,
  forgetWorkspace,
  inWorkspace,
  openWorkspace,
  presentWorkspace,
  takeProjectFromAddress,
  takesProject,
} from "../../src/api/workspace";
import { facetsQuery } from "../../src/metadata/facets";

/** Each request as `METHOD /path project`. */
let asked: string[];
let answer: (path: string) => Response;

beforeEach(() => {
  asked = [];
  answer = () => Response.json({ resources: [], projects: [], facets: [], threads: [] });
  vi.stubGlobal("fetch", async (input: Request | string, init?: RequestInit) => {
    const sent = input instanceof Request ? input : new Request(new URL(input, "http://citewell"), init);
    const { pathname } = new URL(sent.url);
    asked.push(`${sent.method} ${pathname} ${sent.headers.get("X-Citewell-Project")}`);
    return answer(pathname);
  });
  window.sessionStorage.clear();
  setSession({ csrf: "proof", owner: "ben", accounts: true });
  openWorkspace("ben");
});
afterEach(() => {
  forgetWorkspace();
  queryClient.clear();
  vi.unstubAllGlobals();
});

describe("requests", () => {
  test("without an address of their own are about the workspace", async () => {
    chooseWorkspace("p1");
    await unwrap(api.GET("/resources"));
    await unwrap(api.POST("/search", { body: { query: "q" } as never }));
    await request("/ingest", { method: "POST", body: new FormData() });
    await request("/resources?limit=1");
    expect(asked).toEqual(["GET /resources p1", "POST /search p1", "POST /ingest p1", "GET /resources p1"]);
  });

  test("of a file, of what is one's own, and of all files are not", async () => {
    chooseWorkspace("p1");
    await unwrap(api.GET("/resources/{resource_id}", { params: { path: { resource_id: "r1" } } }));
    await unwrap(api.GET("/threads"));
    await unwrap(api.GET("/shared-projects"));
    await unwrap(api.GET("/usage"));
    await request("/threads/t1/export?format=json");
    await request("/resources/r1/file", { method: "PUT", body: new FormData() });
    expect(asked.filter((one) => !one.endsWith(" null"))).toEqual([]);
    expect(takesProject("get", "/resources")).toBe(true);
    expect(takesProject("DELETE", "/resources")).toBe(false);
  });

  test("can say which they are about, whatever is shown", async () => {
    chooseWorkspace("p1");
    await unwrap(api.GET("/projects", { params: { header: inWorkspace(null) } }));
    await unwrap(api.GET("/projects", { params: { header: inWorkspace("p2") } }));
    await request("/ingest", { method: "POST" }, null);
    const chat = ask({ message: "?" } as never, new AbortController().signal, "p3");
    await chat.next().catch(() => undefined);
    expect(asked).toEqual(["GET /projects null", "GET /projects p2", "POST /ingest null", "POST /chat p3"]);
  });

  test("that a project refuses have the list of projects read again", async () => {
    chooseWorkspace("p1");
    await queryClient.fetchQuery({ ...sharedProjectsQuery(), staleTime: Infinity });
    const state = () => queryClient.getQueryState(sharedProjectsQuery().queryKey);
    answer = () => Response.json({ error: { code: "quota", message: "no" } }, { status: 429 });
    await api.GET("/resources");
    expect(state()?.isInvalidated).toBe(false);
    for (const status of [403, 404]) {
      answer = () => Response.json({ error: { code: "x", message: "no" } }, { status });
      await api.GET("/resources");
      expect(state()?.isInvalidated).toBe(true);
    }
  });
});

describe("what was read", () => {
  test("is kept by workspace: nothing of one is found in another", async () => {
    const queries = () => [resourcesQuery(), newestQuery(), matchingQuery("[]"), projectsQuery(), facetsQuery()];
    const keys = (): string[] => queries().map(({ queryKey }) => JSON.stringify(queryKey));
    const own = keys();
    chooseWorkspace("p1");
    const first = keys();
    chooseWorkspace("p2");
    expect(new Set([...own, ...first, ...keys()]).size).toBe(own.length * 3);
  });

  test("is of one workspace, also where one leaves it between two pages", async () => {
    chooseWorkspace("p1");
    const query = resourcesQuery();
    answer = () => {
      const isFirst = asked.length === 1;
      if (isFirst) chooseWorkspace(null);
      return Response.json({ resources: [{ id: `r${asked.length}` }], next_cursor: isFirst ? "more" : null });
    };
    await queryClient.fetchQuery(query);
    expect(asked).toEqual(["GET /resources p1", "GET /resources p1"]);
    expect(queryClient.getQueryData(resourcesQuery("p1").queryKey)).toHaveLength(2);
    expect(queryClient.getQueryData(resourcesQuery(null).queryKey)).toBeUndefined();
  });

  test("of one's own is asked for as one's own, when one is elsewhere by then", async () => {
    const query = projectsQuery();
    chooseWorkspace("p1");
    await queryClient.fetchQuery(query);
    expect(asked).toEqual(["GET /projects null"]);
  });
});

describe("the workspace of a tab", () => {
  test("is found again by its owner, and by nobody else", () => {
    chooseWorkspace("p1");
    const kept = window.sessionStorage.getItem("citewell.project") ?? "";
    openWorkspace("kofi");
    expect(presentWorkspace()).toBeNull();
    window.sessionStorage.setItem("citewell.project", kept);
    openWorkspace("ben");
    expect(presentWorkspace()).toBe("p1");
  });

  test("is forgotten by whoever signs out", () => {
    chooseWorkspace("p1");
    forgetWorkspace();
    expect(presentWorkspace()).toBeNull();
    openWorkspace("ben");
    expect(presentWorkspace()).toBeNull();
  });

  test("comes from a link, which leaves the address bar, once somebody is signed in", () => {
    forgetWorkspace();
    window.history.replaceState(null, "", "/library?filters=x&project=p1#top");
    takeProjectFromAddress();
    expect(window.location.pathname + window.location.search + window.location.hash).toBe("/library?filters=x#top");
    expect(presentWorkspace()).toBeNull();
    openWorkspace("kofi");
    expect(presentWorkspace()).toBe("p1");
  });

  test("is one's own where storage holds what another program wrote", () => {
    for (const value of ["{", '"p1"', '{"owner":"ben","project":7}', "null"]) {
      forgetWorkspace();
      window.sessionStorage.setItem("citewell.project", value);
      openWorkspace("ben");
      expect(presentWorkspace()).toBeNull();
    }
  });
});
