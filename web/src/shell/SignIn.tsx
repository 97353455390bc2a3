// Shown to those who came without the link.
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError } from "../api/client";
import { type Session, signIn } from "../api/session";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { countUnderWay } from "../upload/unsent";
import { Brand } from "./Brand";

export function SignIn({ onSignedIn }: { onSignedIn: (session: Session) => void }): ReactNode {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const waiting = countUnderWay();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn(token).then(onSignedIn, (error: unknown) =>
      setProblem(error instanceof ApiError && error.status === 401 ? t.signInWrong : t.noConnection),
    );
  };
  return (
    <main className="sign-in">
      <form className="sign-in-card stack" onSubmit={submit}>
        <Brand />
        <h1>{t.signInTitle}</h1>
        <p className="muted">{t.signInText}</p>
        <label className="field">
          <span>{t.signInToken}</span>
          <input
            className="input"
            type="password"
            autoComplete="off"
            autoFocus
            required
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        {waiting > 0 && <Notice kind="warn">{t.signInWaiting(waiting)}</Notice>}
        {problem && <Notice kind="error">{problem}</Notice>}
        <Button kind="primary" type="submit">
          {t.signIn}
        </Button>
      </form>
    </main>
  );
}
