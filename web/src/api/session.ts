// Signing in: the token of the printed link is exchanged at once for a cookie that no script can read.
import { api, setCsrf, unwrap } from "./client";

export interface Session {
  signedIn: boolean;
  version: string;
}

/** Take the token out of the address bar and the history, before anything else happens. */
export function takeTokenFromAddress(): string | null {
  const address = new URL(window.location.href);
  const token = address.searchParams.get("token");
  if (token === null) return null;
  address.searchParams.delete("token");
  window.history.replaceState(null, "", address.pathname + address.search + address.hash);
  return token;
}

export async function signIn(token: string): Promise<Session> {
  const answer = await unwrap(api.POST("/session", { body: { token } }));
  setCsrf(answer.csrf ?? null);
  return { signedIn: answer.signed_in, version: answer.version };
}

export async function currentSession(): Promise<Session> {
  const answer = await unwrap(api.GET("/session"));
  setCsrf(answer.csrf ?? null);
  return { signedIn: answer.signed_in, version: answer.version };
}

export async function signOut(): Promise<void> {
  await unwrap(api.DELETE("/session"));
  setCsrf(null);
}
