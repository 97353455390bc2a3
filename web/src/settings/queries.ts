// What the settings read of the server.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "../api/client";
import { oneOf } from "../api/codes";

export type Finding = Schemas["FindingOut"];
export type Index = Schemas["IndexOut"];
export type UsageRow = Schemas["UsageRow"];

export function doctorQuery() {
  return queryOptions({
    queryKey: ["doctor"],
    queryFn: async () => (await unwrap(api.GET("/doctor"))).findings,
    refetchInterval: (query) =>
      query.state.data?.some(({ part, level }) => part === "index" && level === "note") ? 2_000 : false,
    staleTime: 60_000,
  });
}

export function memoryQuery() {
  return queryOptions({ queryKey: ["memory"], queryFn: () => unwrap(api.GET("/memory")), staleTime: 60_000 });
}

export function localModelQuery() {
  return queryOptions({ queryKey: ["local-model"], queryFn: () => unwrap(api.GET("/local-model")), staleTime: 60_000 });
}

export function indexesQuery() {
  return queryOptions({
    queryKey: ["indexes"],
    queryFn: async () => (await unwrap(api.GET("/indexes"))).indexes,
    refetchInterval: (query) =>
      query.state.data?.some(({ state, paused }) => (state === "building" || state === "filling") && !paused)
        ? 1_500
        : false,
  });
}

const STORES = ["edge", "qdrant", "pgvector", "redis", "pinecone"] as const;
const PROVIDERS = ["builtin", "openai", "voyage", "pinecone", "fastembed", "store"] as const;

/** What building an index would take; nothing is built. */
export function estimateQuery(index: Index) {
  const { provider, model, dimensions } = index.settings;
  const body: Schemas["IndexIn"] = {
    provider: oneOf(PROVIDERS, String(provider)) ?? null,
    model: typeof model === "string" ? model : null,
    dimensions: typeof dimensions === "number" ? dimensions : null,
    store: oneOf(STORES, index.store) ?? null,
    mode: "dual",
    confirm: false,
    pause_seconds: 0,
  };
  return queryOptions({
    queryKey: ["index-estimate", index.id],
    queryFn: () => unwrap(api.POST("/indexes/estimate", { body })),
    staleTime: 60_000,
  });
}

export function telegramQuery() {
  return queryOptions({ queryKey: ["telegram"], queryFn: () => unwrap(api.GET("/telegram")) });
}

export function tokensQuery() {
  return queryOptions({ queryKey: ["tokens"], queryFn: async () => (await unwrap(api.GET("/tokens"))).tokens });
}

export function serviceAccountsQuery() {
  return queryOptions({
    queryKey: ["service-accounts"],
    queryFn: async () => (await unwrap(api.GET("/service-accounts"))).service_accounts,
  });
}

export function serviceKeysQuery(accountId: string) {
  const path = { account_id: accountId };
  return queryOptions({
    queryKey: ["service-accounts", accountId, "keys"],
    queryFn: async () => (await unwrap(api.GET("/service-accounts/{account_id}/keys", { params: { path } }))).tokens,
  });
}

export function webhooksQuery() {
  return queryOptions({ queryKey: ["webhooks"], queryFn: async () => (await unwrap(api.GET("/webhooks"))).webhooks });
}

/** How many deliveries were given up for a webhook, as far as one page tells. */
export function deadQuery(webhookId: string) {
  const query = { state: "dead" as const, webhook_id: webhookId, limit: 200 };
  return queryOptions({
    queryKey: ["webhooks", "dead", webhookId],
    queryFn: async () => (await unwrap(api.GET("/webhooks/deliveries", { params: { query } }))).deliveries.length,
  });
}

export function usageQuery(days: number) {
  return queryOptions({
    queryKey: ["usage", days],
    queryFn: () => {
      const since = Math.floor(Date.now() / 86_400_000 - days + 1) * 86_400;
      return unwrap(api.GET("/usage", { params: { query: { since, by: "day" } } }));
    },
  });
}

export function quotasQuery() {
  return queryOptions({ queryKey: ["quotas"], queryFn: async () => (await unwrap(api.GET("/quotas"))).quotas });
}

/** Pages of the audit log, newest first: one's own, or everybody's. */
export function auditQuery(action: Schemas["AuditAction"] | null, everybody: boolean) {
  return infiniteQueryOptions({
    queryKey: ["audit", action, everybody],
    queryFn: ({ pageParam }) => {
      const query = { limit: 20, action, cursor: pageParam, owner: everybody ? "all" : null };
      return unwrap(api.GET("/audit", { params: { query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
}

export function personQuery() {
  return queryOptions({ queryKey: ["account"], queryFn: () => unwrap(api.GET("/account")) });
}

export function sessionsQuery() {
  return queryOptions({
    queryKey: ["account", "sessions"],
    queryFn: async () => (await unwrap(api.GET("/account/sessions"))).sessions,
  });
}

/** Everybody with an account, for administrators. */
export function peopleQuery() {
  return queryOptions({ queryKey: ["people"], queryFn: async () => (await unwrap(api.GET("/people"))).people });
}

export function personQuotasQuery(personId: string) {
  const path = { person_id: personId };
  return queryOptions({
    queryKey: ["people", personId, "quotas"],
    queryFn: async () => (await unwrap(api.GET("/people/{person_id}/quotas", { params: { path } }))).quotas,
  });
}

export function sharesQuery() {
  return queryOptions({ queryKey: ["shares"], queryFn: async () => (await unwrap(api.GET("/shares"))).shares });
}

export function membersQuery(projectId: string) {
  const path = { project_id: projectId };
  return queryOptions({
    queryKey: ["members", projectId],
    queryFn: async () => (await unwrap(api.GET("/projects/{project_id}/members", { params: { path } }))).members,
    enabled: projectId !== "",
  });
}

export function invitationsQuery() {
  return queryOptions({
    queryKey: ["invitations"],
    queryFn: async () => (await unwrap(api.GET("/invitations"))).invitations,
  });
}
