// Signing in: the token of the printed link is exchanged at once for a cookie that no script can read.
import { api, type Schemas, setSession, signedInAs, unwrap } from "./client";

export interface Session {
  signedIn: boolean;
  /** The same for all tokens of an owner; null while nobody is signed in. */
  owner: string | null;
  version: string;
}

// The cookie is shared by all tabs, so signing in or out in one of them concerns the others.
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("citewell.session");

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
  const session = adopt(await unwrap(api.POST("/session", { body: { token } })));
  tabs?.postMessage(session.owner);
  return session;
}

export async function currentSession(): Promise<Session> {
  return adopt(await unwrap(api.GET("/session")));
}

export async function signOut(): Promise<void> {
  await unwrap(api.DELETE("/session"));
  setSession({ csrf: null, owner: null });
  tabs?.postMessage(null);
}

/** Called with the owner (null after signing out) when another tab has signed in or out. */
export function whenAnotherTabSigns(listener: (owner: string | null) => void): void {
  if (tabs) tabs.onmessage = ({ data }: MessageEvent<string | null>) => listener(data);
}

/** Go on with the token that the browser has now; false where it is another owner's, or none. */
export async function renewSession(): Promise<boolean> {
  const owner = signedInAs();
  const fresh = await unwrap(api.GET("/session"));
  if (!fresh.signed_in || fresh.owner !== owner) return false;
  adopt(fresh);
  return true;
}

function adopt(answer: Schemas["SessionOut"]): Session {
  const owner = answer.owner ?? null;
  setSession({ csrf: answer.csrf ?? null, owner });
  return { signedIn: answer.signed_in, owner, version: answer.version };
}
