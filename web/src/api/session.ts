// Signing in: the token of the printed link is exchanged at once for a cookie that no script can read.
import { api, type Schemas, setSession, signedInAs, unwrap } from "./client";
import { forgetWorkspace, openWorkspace } from "./workspace";

export interface Session {
  signedIn: boolean;
  /** The same for all tokens of an owner; null while nobody is signed in. */
  owner: string | null;
  version: string;
  /** Whether people have accounts here, how they get one, and what the identity provider is called that they may use. */
  accounts: boolean;
  signUp: string | null;
  provider: string | null;
  /** Whether a forgotten password can be reset by e-mail. */
  sendsMail: boolean;
  /** Who is signed in with an account. */
  person: string | null;
  isAdministrator: boolean;
}

/** When the tokens of an account were last renewed, in all tabs: an access token is valid for minutes. */
const RENEWED = "citewell.renewed";
let seconds: number | null = null;

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

/** What a link brought: the secret of an invitation or of another password, or why the identity provider sent the browser back. */
export interface Arrived {
  invitation: string | null;
  reset: string | null;
  problem: string | null;
}

/** Take it out of the address bar and the history. */
export function takeFromAddress(): Arrived {
  const address = new URL(window.location.href);
  const problem = address.searchParams.get("sign_in");
  const [, kind, secret = null] = /^#(invitation|reset)=([\w-]{1,200})$/.exec(address.hash) ?? [];
  const arrived = {
    invitation: kind === "invitation" ? secret : null,
    reset: kind === "reset" ? secret : null,
    problem,
  };
  if (secret === null && problem === null) return arrived;
  address.searchParams.delete("sign_in");
  window.history.replaceState(null, "", address.pathname + address.search + (secret === null ? address.hash : ""));
  return arrived;
}

/** The link that an invitation is given away as; what follows # stays in the browser. */
export function invitationLink(secret: string): string {
  return `${window.location.origin}/#invitation=${secret}`;
}

export async function signIn(token: string): Promise<Session> {
  const session = adopt(await unwrap(api.POST("/session", { body: { token } })));
  localStorage.removeItem(RENEWED);
  tabs?.postMessage(session.owner);
  return session;
}

export async function signInWithPassword(email: string, password: string): Promise<Session> {
  return entered(await unwrap(api.POST("/session/password", { body: { email, password } })));
}

export async function signUp(body: Schemas["SignUpIn"]): Promise<Session> {
  return entered(await unwrap(api.POST("/account", { body })));
}

/** Have a link sent with which another password is set; nobody learns whether there is such an account. */
export async function askForReset(email: string): Promise<void> {
  await unwrap(api.POST("/account/password-reset", { body: { email } }));
}

/** Set another password with the secret of such a link; it signs out everywhere. */
export async function resetPassword(reset: string, password: string): Promise<void> {
  await unwrap(api.POST("/account/password", { body: { reset, password } }));
}

/** Go to the identity provider, which sends the browser back to this path. */
export async function signInElsewhere(invitation: string | null): Promise<void> {
  const { pathname, search } = window.location;
  const body = { return_to: pathname + search, invitation };
  window.location.assign((await unwrap(api.POST("/session/openid", { body }))).address);
}

export async function currentSession(): Promise<Session> {
  const answer = await unwrap(api.GET("/session"));
  // Whoever comes back from an identity provider has fresh tokens.
  if (answer.signed_in && answer.seconds && localStorage.getItem(RENEWED) === null) {
    localStorage.setItem(RENEWED, String(Date.now()));
  }
  if (answer.signed_in || !answer.accounts || localStorage.getItem(RENEWED) === null) return adopt(answer);
  // The access token may have expired while the page was closed.
  seconds = 0;
  await renewTokens();
  return adopt(await unwrap(api.GET("/session")));
}

/** Exchange the tokens of an account for fresh ones when half of their time is over. One tab does it for all: a token sent twice ends the session. */
export async function renewTokens(): Promise<void> {
  const renew = async (): Promise<void> => {
    const age = Date.now() - Number(localStorage.getItem(RENEWED) ?? 0);
    if (seconds === null || (age >= 0 && age < seconds * 500)) return;
    // Noted first, and sent to its end even where the page is left: the next page must not send the same token again.
    localStorage.setItem(RENEWED, String(Date.now()));
    const response = await fetch("/session/refresh", { method: "POST", keepalive: true });
    if (response.status === 401) localStorage.removeItem(RENEWED);
  };
  // Browsers have locks where the connection is safe, which passwords need anyway.
  await (navigator.locks ? navigator.locks.request(RENEWED, renew) : renew());
}

/** Stay signed in while the page is open, also after the machine slept. Returns what ends it. */
export function keepSignedIn(): () => void {
  const renew = (): void => void renewTokens().catch(() => undefined);
  const timer = setInterval(renew, 30_000);
  document.addEventListener("visibilitychange", renew);
  renew();
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", renew);
  };
}

export async function signOut(): Promise<void> {
  await unwrap(api.DELETE("/session"));
  signedOut();
}

/** End every session of the account, this one too. */
export async function signOutEverywhere(): Promise<void> {
  await unwrap(api.DELETE("/account/sessions"));
  signedOut();
}

function signedOut(): void {
  localStorage.removeItem(RENEWED);
  setSession({ csrf: null, owner: null });
  forgetWorkspace();
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

function entered(answer: Schemas["SessionOut"]): Session {
  localStorage.setItem(RENEWED, String(Date.now()));
  const session = adopt(answer);
  tabs?.postMessage(session.owner);
  return session;
}

function adopt(answer: Schemas["SessionOut"]): Session {
  const owner = answer.owner ?? null;
  setSession({ csrf: answer.csrf ?? null, owner, accounts: answer.accounts });
  if (owner !== null) openWorkspace(owner);
  seconds = answer.seconds ?? null;
  return {
    signedIn: answer.signed_in,
    owner,
    version: answer.version,
    accounts: answer.accounts,
    signUp: answer.sign_up ?? null,
    provider: answer.provider ?? null,
    sendsMail: answer.sends_mail,
    person: answer.person ?? null,
    isAdministrator: answer.administrator,
  };
}
