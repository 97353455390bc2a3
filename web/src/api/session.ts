// Signing in: the token of the printed link is exchanged at once for a cookie that no script can read.
import { api, beforeEachRequest, type Schemas, setSession, signedInAs, unwrap } from "./client";

export interface Session {
  signedIn: boolean;
  /** The same for all tokens of an owner; null while nobody is signed in. */
  owner: string | null;
  version: string;
  /** Whether people have accounts here, and whether they make them themselves or by invitation. */
  accounts: boolean;
  signUp: string | null;
}

export interface NewAccount {
  email: string;
  name: string;
  password: string;
  invitation: string | null;
}

// The cookie is shared by all tabs, so signing in or out in one of them concerns the others.
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("citewell.session");

/** Take the token out of the address bar and the history, before anything else happens. */
export function takeTokenFromAddress(name = "token"): string | null {
  const address = new URL(window.location.href);
  const token = address.searchParams.get(name);
  if (token === null) return null;
  address.searchParams.delete(name);
  window.history.replaceState(null, "", address.pathname + address.search + address.hash);
  return token;
}

export async function signIn(token: string): Promise<Session> {
  const session = adopt(await unwrap(api.POST("/session", { body: { token } })));
  tabs?.postMessage(session.owner);
  return session;
}

export async function currentSession(): Promise<Session> {
  const found = await unwrap(api.GET("/session"));
  // The access token may have ended while the browser was closed; the refresh token lasts longer.
  if (!found.signed_in && found.accounts && renewAt() !== null) return adopt((await exchange()) ?? found);
  return adopt(found);
}

export async function signInWithPassword(email: string, password: string): Promise<Session> {
  return entered(await unwrap(api.POST("/session/password", { body: { email, password } })));
}

export async function signUp(account: NewAccount): Promise<Session> {
  return entered(await unwrap(api.POST("/account", { body: account })));
}

function entered(answer: Schemas["SessionOut"]): Session {
  noteRenewal(answer.seconds);
  const session = adopt(answer);
  tabs?.postMessage(session.owner);
  return session;
}

// When the access token is exchanged for a fresh one: at half of its time. All tabs share the cookies, so they share this.
const RENEW_AT = "citewell.renewAt";

function renewAt(): number | null {
  const kept = window.localStorage.getItem(RENEW_AT);
  return kept === null ? null : Number(kept);
}

function noteRenewal(seconds: number | null | undefined): void {
  if (seconds) window.localStorage.setItem(RENEW_AT, String(Date.now() + seconds * 500));
}

/** A refresh token is good for one use, so one tab exchanges it while the others wait. */
async function renewInTime(): Promise<void> {
  const due = (): boolean => Date.now() >= (renewAt() ?? Number.POSITIVE_INFINITY);
  if (signedInAs() === null || !due()) return;
  const renew = async (): Promise<void> => {
    if (due()) await exchange();
  };
  if (navigator.locks) await navigator.locks.request(RENEW_AT, renew);
  else await renew();
}

async function exchange(): Promise<Schemas["SessionOut"] | null> {
  const response = await fetch("/session/refresh", { method: "POST" }).catch(() => null);
  if (response === null) return null;
  if (!response.ok) {
    if (response.status === 401) window.localStorage.removeItem(RENEW_AT);
    return null;
  }
  const answer = (await response.json()) as Schemas["SessionOut"];
  noteRenewal(answer.seconds);
  return answer;
}

beforeEachRequest(renewInTime);

export async function signOut(): Promise<void> {
  await unwrap(api.DELETE("/session"));
  window.localStorage.removeItem(RENEW_AT);
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
  return {
    signedIn: answer.signed_in,
    owner,
    version: answer.version,
    accounts: answer.accounts ?? false,
    signUp: answer.sign_up ?? null,
  };
}
