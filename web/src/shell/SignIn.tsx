// Shown to those who are not signed in: with accounts by password, provider or invitation, without them by the printed token.
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError } from "../api/client";
import { lookUp } from "../api/codes";
import {
  askForReset,
  resetPassword,
  type Session,
  signIn,
  signInElsewhere,
  signInWithPassword,
  signUp,
} from "../api/session";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { countUnderWay } from "../upload/unsent";
import { Brand } from "./Brand";

interface SignInProps {
  session: Session;
  invitation?: string | null;
  /** The secret of a link that sets another password. */
  reset?: string | null;
  /** Why the way back from the identity provider ended here. */
  problem?: string | null;
  onSignedIn: (session: Session, isNew: boolean) => void;
}

type Way = "token" | "password" | "new" | "forgotten" | "reset";

/** What each way says, and what it asks for. */
const ways = (): Record<
  Way,
  { title: string; text: string; action: string; email: boolean; password: string | null }
> => ({
  token: { title: t.signInTitle, text: t.signInText, action: t.signIn, email: false, password: null },
  password: {
    title: t.signInTitle,
    text: t.signInAccountText,
    action: t.signIn,
    email: true,
    password: "current-password",
  },
  new: { title: t.signUpTitle, text: t.signUpText, action: t.createAccount, email: true, password: "new-password" },
  forgotten: {
    title: t.forgottenTitle,
    text: t.forgottenText,
    action: t.forgottenSend,
    email: true,
    password: null,
  },
  reset: {
    title: t.resetTitle,
    text: `${t.signUpText} ${t.resetText}`,
    action: t.resetTitle,
    email: false,
    password: "new-password",
  },
});

export function SignIn(props: SignInProps): ReactNode {
  const { session, invitation = null, reset = null, problem: code = null, onSignedIn } = props;
  const [way, setWay] = useState<Way>(firstWay(session, invitation, reset));
  const [problem, setProblem] = useState<string | null>(lookUp<string>(t.signInProblem, code) ?? null);
  const [done, setDone] = useState<string | null>(null);
  const waiting = countUnderWay();
  const turn = (next: Way, said: string | null = null): void => {
    setWay(next);
    setProblem(null);
    setDone(said);
  };
  const failed = (error: unknown): void => setProblem(explained(error, way));
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string): string => String(form.get(name) ?? "");
    const [email, password] = [text("email"), text("password")];
    const enter = (entering: Promise<Session>): Promise<void> =>
      entering.then((next) => onSignedIn(next, way === "new"));
    const steps: Record<Way, () => Promise<void>> = {
      token: () => enter(signIn(text("token"))),
      password: () => enter(signInWithPassword(email, password)),
      new: () => enter(signUp({ email, password, name: text("name"), invitation })),
      forgotten: () => askForReset(email).then(() => turn("password", t.forgottenSent(email))),
      reset: () => resetPassword(reset ?? "", password).then(() => turn("password", t.resetDone)),
    };
    steps[way]().catch(failed);
  };
  const { title, text, action, email, password } = ways()[way];
  return (
    <main className="sign-in">
      <form className="sign-in-card stack" onSubmit={submit}>
        <Brand />
        <h1>{title}</h1>
        <p className="muted">{text}</p>
        {way === "token" && (
          <Field key="token" name="token" label={t.signInToken} type="password" complete="off" isFirst />
        )}
        {email && <Field key="email" name="email" label={t.email} type="email" complete="username" isFirst />}
        {way === "new" && <Field key="name" name="name" label={t.personName} complete="name" isOptional />}
        {password !== null && (
          <Field
            key={`${way} password`}
            name="password"
            label={way === "reset" ? t.newPassword : t.password}
            type="password"
            complete={password}
            isFirst={way === "reset"}
          />
        )}
        {waiting > 0 && <Notice kind="warn">{t.signInWaiting(waiting)}</Notice>}
        {done && (
          <Notice kind="info">
            <span role="status">{done}</span>
          </Notice>
        )}
        {problem && <Notice kind="error">{problem}</Notice>}
        <Button kind="primary" type="submit">
          {action}
        </Button>
        {session.provider !== null && (way === "password" || way === "new") && (
          <Button onClick={() => void signInElsewhere(invitation).catch(failed)}>
            {t.continueWith(session.provider)}
          </Button>
        )}
        {session.accounts && <OtherWays session={session} way={way} invitation={invitation} onTurn={turn} />}
      </form>
    </main>
  );
}

function firstWay(session: Session, invitation: string | null, reset: string | null): Way {
  if (!session.accounts) return "token";
  if (reset !== null) return "reset";
  return invitation !== null ? "new" : "password";
}

interface OtherWaysProps {
  session: Session;
  way: Way;
  invitation: string | null;
  onTurn: (way: Way) => void;
}

function OtherWays({ session, way, invitation, onTurn }: OtherWaysProps): ReactNode {
  const mayJoin = invitation !== null || session.signUp === "open";
  const offered: [Way, string, boolean][] = [
    ["new", t.noAccount, mayJoin && (way === "password" || way === "token")],
    ["password", t.haveAccount, way === "new"],
    ["forgotten", t.forgotten, session.sendsMail && way === "password"],
    ["password", t.backToSignIn, way === "forgotten" || way === "reset"],
    ["token", t.useToken, way === "password" || way === "new"],
    ["password", t.usePassword, way === "token"],
  ];
  return (
    <div className="row wrap">
      {offered
        .filter(([, , isOffered]) => isOffered)
        .map(([next, label]) => (
          <Button key={label} small kind="quiet" onClick={() => onTurn(next)}>
            {label}
          </Button>
        ))}
    </div>
  );
}

interface FieldProps {
  name: string;
  label: string;
  complete: string;
  type?: "text" | "email" | "password";
  isOptional?: boolean;
  isFirst?: boolean;
}

function Field({ name, label, complete, type = "text", isOptional = false, isFirst = false }: FieldProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        name={name}
        type={type}
        autoComplete={complete}
        autoFocus={isFirst}
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
