// @vitest-environment happy-dom

import { screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { currentSession, renewTokens, type Session, takeFromAddress } from "../../src/api/session";
import { SignIn } from "../../src/shell/SignIn";
import { show } from "./rendering";

const NOBODY: Session = {
  signedIn: false,
  owner: null,
  version: "1",
  accounts: true,
  signUp: "invitation",
  provider: "Example ID",
  sendsMail: false,
  person: null,
  isAdministrator: false,
};
const LOCAL = { ...NOBODY, accounts: false, signUp: null, provider: null };
const ENTERED = {
  signed_in: true,
  owner: "o",
  csrf: "c",
  version: "1",
  accounts: true,
  administrator: false,
  seconds: 720,
};

let asked: { path: string; body: unknown }[];
let answers: Record<string, () => Response>;

beforeEach(() => {
  asked = [];
  answers = {};
  localStorage.clear();
  vi.stubGlobal("fetch", async (input: Request | string, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(new URL(input, "http://citewell"), init);
    const path = `${request.method} ${new URL(request.url, "http://citewell").pathname}`;
    const text = await request.text();
    asked.push({ path, body: text ? JSON.parse(text) : null });
    return answers[path]?.() ?? Response.json({ error: { code: "not_found", message: "no" } }, { status: 404 });
  });
});

describe("signing in", () => {
  test("without accounts is by token alone, as before", async () => {
    const onSignedIn = vi.fn();
    answers["POST /session"] = () => Response.json({ ...ENTERED, accounts: false, seconds: null });
    const { user } = show(<SignIn session={LOCAL} onSignedIn={onSignedIn} />);
    expect(screen.queryByLabelText("Password")).toBeNull();
    expect(screen.getAllByRole("button").map((button) => button.textContent)).toEqual(["Sign in"]);
    await user.type(screen.getByLabelText("Token"), "cw_1");
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    await waitFor(() => expect(onSignedIn).toHaveBeenCalled());
    expect(asked).toEqual([{ path: "POST /session", body: { token: "cw_1" } }]);
  });

  test("a password that is refused is refused in words, without the path of its field", async () => {
    const problem = "The password must have at least 12 characters.";
    const fields = [
      { field: "body.password", problem },
      { field: "body.name", problem: "String should have at most 200 characters" },
    ];
    const message = `body.password: ${problem}; body.name: String should have at most 200 characters`;
    answers["POST /account"] = () =>
      Response.json({ error: { code: "invalid_request", message, details: { fields } } }, { status: 422 });
    const { user } = show(<SignIn session={{ ...NOBODY, signUp: "open" }} onSignedIn={vi.fn()} />);
    await user.click(screen.getByRole("button", { name: "Create an account" }));
    await user.type(screen.getByLabelText("E-mail address"), "ama@example.org");
    await user.type(screen.getByLabelText("Password"), "short");
    await user.click(screen.getByRole("button", { name: "Create account" }));
    const alert = await screen.findByRole("alert");
    expect(alert.textContent).toBe(`${problem} name: String should have at most 200 characters.`);
  });

  test("with accounts is by password; a wrong one is said to be wrong", async () => {
    const onSignedIn = vi.fn();
    answers["POST /session/password"] = () => Response.json({ error: { code: "wrong_credentials" } }, { status: 401 });
    const { user } = show(<SignIn session={NOBODY} onSignedIn={onSignedIn} />);
    await user.type(screen.getByLabelText("E-mail address"), "ada@example.org");
    await user.type(screen.getByLabelText("Password"), "words of mine");
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    expect((await screen.findByRole("alert")).textContent).toContain("Incorrect");
    answers["POST /session/password"] = () => Response.json(ENTERED);
    await user.click(screen.getByRole("button", { name: "Sign in" }));
    await waitFor(() => expect(onSignedIn).toHaveBeenCalledWith(expect.objectContaining({ owner: "o" }), false));
    expect(asked.at(-1)?.body).toEqual({ email: "ada@example.org", password: "words of mine" });
  });

  test("offers no account without an invitation, and makes one with it", async () => {
    const onSignedIn = vi.fn();
    answers["POST /account"] = () => Response.json(ENTERED, { status: 201 });
    const { user, again } = show(<SignIn session={NOBODY} onSignedIn={onSignedIn} />);
    expect(screen.queryByRole("button", { name: "Create an account" })).toBeNull();
    again(<SignIn key="invited" session={NOBODY} invitation="secret" onSignedIn={onSignedIn} />);
    await user.type(screen.getByLabelText("E-mail address"), "ben@example.org");
    await user.type(screen.getByLabelText("Password"), "words of mine");
    await user.click(screen.getByRole("button", { name: "Create account" }));
    await waitFor(() => expect(onSignedIn).toHaveBeenCalledWith(expect.anything(), true));
    expect(asked.at(-1)?.body).toMatchObject({ invitation: "secret", email: "ben@example.org" });
  });

  test("takes the invitation along to the provider, and says why it came back", async () => {
    answers["POST /session/openid"] = () =>
      Response.json({ error: { code: "unavailable", message: "Out of order." } }, { status: 503 });
    const { user } = show(
      <SignIn session={NOBODY} invitation="secret" problem="domain" onSignedIn={() => undefined} />,
    );
    expect(screen.getByRole("alert").textContent).toContain("from this domain");
    await user.click(screen.getByRole("button", { name: "Continue with Example ID" }));
    expect((await screen.findByText("Out of order.")).textContent).toBe("Out of order.");
    expect(asked.at(-1)?.body).toMatchObject({ invitation: "secret" });
  });
});

describe("a forgotten password", () => {
  test("is no matter where the server sends no mail", () => {
    show(<SignIn session={NOBODY} onSignedIn={() => undefined} />);
    expect(screen.queryByRole("button", { name: "Forgot your password?" })).toBeNull();
  });

  test("gets a link, whether or not there is such an account", async () => {
    answers["POST /account/password-reset"] = () => new Response(null, { status: 202 });
    const { user } = show(<SignIn session={{ ...NOBODY, sendsMail: true }} onSignedIn={() => undefined} />);
    await user.click(screen.getByRole("button", { name: "Forgot your password?" }));
    expect(screen.queryByLabelText("Password")).toBeNull();
    await user.type(screen.getByLabelText("E-mail address"), "ada@example.org");
    await user.click(screen.getByRole("button", { name: "Send link" }));
    expect((await screen.findByRole("status")).textContent).toContain("If there is an account");
    expect(asked).toEqual([{ path: "POST /account/password-reset", body: { email: "ada@example.org" } }]);
    expect(screen.getByLabelText("Password")).toBeTruthy();
  });

  test("is replaced with the link, and then signed in with", async () => {
    answers["POST /account/password"] = () =>
      Response.json(
        { error: { code: "forbidden", message: "This link is no longer valid. Request another one." } },
        { status: 403 },
      );
    const { user } = show(<SignIn session={NOBODY} reset="secret" onSignedIn={() => undefined} />);
    await user.type(screen.getByLabelText("New password"), "words of mine");
    await user.click(screen.getByRole("button", { name: "Set a new password" }));
    expect((await screen.findByRole("alert")).textContent).toContain("no longer valid");
    answers["POST /account/password"] = () => new Response(null, { status: 204 });
    await user.click(screen.getByRole("button", { name: "Set a new password" }));
    expect((await screen.findByRole("status")).textContent).toContain("Sign in with it");
    expect(asked.at(-1)?.body).toEqual({ reset: "secret", password: "words of mine" });
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.getByLabelText("E-mail address")).toBeTruthy();
  });
});

describe("the address", () => {
  test("loses what an invitation or the provider put there", () => {
    window.history.replaceState(null, "", "/library?sort=name&sign_in=taken#invitation=abc_-1");
    expect(takeFromAddress()).toEqual({ invitation: "abc_-1", reset: null, problem: "taken" });
    expect(window.location.pathname + window.location.search + window.location.hash).toBe("/library?sort=name");
    window.history.replaceState(null, "", "/library#invitation=<x>");
    expect(takeFromAddress()).toEqual({ invitation: null, reset: null, problem: null });
    expect(window.location.hash).not.toBe("");
    window.history.replaceState(null, "", "/#reset=abc_-2");
    expect(takeFromAddress()).toEqual({ invitation: null, reset: "abc_-2", problem: null });
    expect(window.location.hash).toBe("");
  });
});

describe("staying signed in", () => {
  test("renews tokens once half of their time is over, and not before", async () => {
    answers["GET /session"] = () => Response.json(ENTERED);
    answers["POST /session/refresh"] = () => Response.json(ENTERED);
    await currentSession();
    localStorage.setItem("citewell.renewed", String(Date.now() - 300_000));
    await renewTokens();
    expect(asked.map(({ path }) => path)).toEqual(["GET /session"]);
    localStorage.setItem("citewell.renewed", String(Date.now() - 400_000));
    await renewTokens();
    await renewTokens();
    expect(asked.map(({ path }) => path)).toEqual(["GET /session", "POST /session/refresh"]);
  });

  test("renews them when the page was closed for longer than they are valid, and forgets a session that ended", async () => {
    let isAlive = true;
    answers["GET /session"] = () =>
      Response.json({ ...ENTERED, signed_in: asked.length > 2 && isAlive, seconds: null });
    answers["POST /session/refresh"] = () => Response.json(isAlive ? ENTERED : {}, { status: isAlive ? 200 : 401 });
    localStorage.setItem("citewell.renewed", "1");
    expect((await currentSession()).signedIn).toBe(true);
    isAlive = false;
    expect((await currentSession()).signedIn).toBe(false);
    expect(localStorage.getItem("citewell.renewed")).toBeNull();
  });

  test("takes the tokens of somebody who came back from a provider for fresh", async () => {
    answers["GET /session"] = () => Response.json(ENTERED);
    await currentSession();
    await renewTokens();
    expect(asked.map(({ path }) => path)).toEqual(["GET /session"]);
  });

  test("does not send a token again that a page sent which was left", async () => {
    answers["GET /session"] = () => Response.json(ENTERED);
    localStorage.setItem("citewell.renewed", "1");
    await currentSession();
    void renewTokens();
    await renewTokens();
    expect(asked.filter(({ path }) => path === "POST /session/refresh")).toHaveLength(1);
  });

  test("asks nothing of a server without accounts", async () => {
    answers["GET /session"] = () => Response.json({ ...ENTERED, accounts: false, signed_in: false, seconds: null });
    localStorage.setItem("citewell.renewed", "1");
    await currentSession();
    await renewTokens();
    expect(asked.map(({ path }) => path)).toEqual(["GET /session"]);
  });
});
