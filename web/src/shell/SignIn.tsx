// Shown to those who are not signed in: with accounts by password, provider or invitation, without them by the printed token.
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError } from "../api/client";
import { lookUp } from "../api/codes";
import { type Session, signIn, signInElsewhere, signInWithPassword, signUp } from "../api/session";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { countUnderWay } from "../upload/unsent";
import { Brand } from "./Brand";

interface SignInProps {
  session: Session;
  invitation?: string | null;
  /** Why the way back from the identity provider ended here. */
  problem?: string | null;
  onSignedIn: (session: Session, isNew: boolean) => void;
}

type Way = "token" | "password" | "new";

export function SignIn({ session, invitation = null, problem: code = null, onSignedIn }: SignInProps): ReactNode {
  const { accounts, provider } = session;
  const mayJoin = accounts && (invitation !== null || session.signUp === "open");
  const [way, setWay] = useState<Way>(accounts ? (invitation !== null ? "new" : "password") : "token");
  const [problem, setProblem] = useState<string | null>(lookUp<string>(t.signInProblem, code) ?? null);
  const waiting = countUnderWay();
  const turn = (next: Way): void => {
    setWay(next);
    setProblem(null);
  };
  const failed = (error: unknown): void => setProblem(explained(error, way));
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? "");
    const [email, password] = [text("email"), text("password")];
    const entering =
      way === "token"
        ? signIn(text("token"))
        : way === "password"
          ? signInWithPassword(email, password)
          : signUp({ email, password, name: text("name"), invitation });
    entering.then((next) => onSignedIn(next, way === "new"), failed);
  };
  return (
    <main className="sign-in">
      <form className="sign-in-card stack" onSubmit={submit}>
        <Brand />
        <h1>{way === "new" ? t.signUpTitle : t.signInTitle}</h1>
        <p className="muted">{way === "token" ? t.signInText : way === "new" ? t.signUpText : t.signInAccountText}</p>
        {way === "token" ? (
          <Field key="token" name="token" label={t.signInToken} type="password" complete="off" />
        ) : null}
        {way !== "token" && <Field key="email" name="email" label={t.email} type="email" complete="username" />}
        {way === "new" && <Field key="name" name="name" label={t.personName} complete="name" isOptional />}
        {way !== "token" && (
          <Field
            key={`${way} password`}
            name="password"
            label={t.password}
            type="password"
            complete={way === "new" ? "new-password" : "current-password"}
          />
        )}
        {waiting > 0 && <Notice kind="warn">{t.signInWaiting(waiting)}</Notice>}
        {problem && <Notice kind="error">{problem}</Notice>}
        <Button kind="primary" type="submit">
          {way === "new" ? t.createAccount : t.signIn}
        </Button>
        {provider !== null && way !== "token" && (
          <Button onClick={() => void signInElsewhere(invitation).catch(failed)}>{t.continueWith(provider)}</Button>
        )}
        {accounts && (
          <div className="row wrap">
            {mayJoin && (
              <Button small kind="quiet" onClick={() => turn(way === "new" ? "password" : "new")}>
                {way === "new" ? t.haveAccount : t.noAccount}
              </Button>
            )}
            <Button small kind="quiet" onClick={() => turn(way === "token" ? "password" : "token")}>
              {way === "token" ? t.usePassword : t.useToken}
            </Button>
          </div>
        )}
      </form>
    </main>
  );
}

interface FieldProps {
  name: string;
  label: string;
  complete: string;
  type?: "text" | "email" | "password";
  isOptional?: boolean;
}

function Field({ name, label, complete, type = "text", isOptional = false }: FieldProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        name={name}
        type={type}
        autoComplete={complete}
        autoFocus={name === "token" || name === "email"}
        required={!isOptional}
      />
    </label>
  );
}

function explained(error: unknown, way: Way): string {
  if (!(error instanceof ApiError)) return t.noConnection;
  if (error.status !== 401) return error.message;
  return way === "token" ? t.signInWrong : t.signInWrongPassword;
}
