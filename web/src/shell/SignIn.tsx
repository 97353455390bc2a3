// Shown to those who came without the link: with accounts, an e-mail address and a password; otherwise a token.
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError } from "../api/client";
import { type Session, signIn } from "../api/session";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { countUnderWay } from "../upload/unsent";
import { AccountForm } from "./AccountForm";
import { Brand } from "./Brand";

interface Props {
  accounts: boolean;
  onSignedIn: (session: Session) => void;
}

export function SignIn({ accounts, onSignedIn }: Props): ReactNode {
  const [withToken, setWithToken] = useState(!accounts);
  const waiting = countUnderWay();
  return (
    <main className="sign-in">
      <div className="sign-in-card stack">
        <Brand />
        <h1>{t.signInTitle}</h1>
        {waiting > 0 && <Notice kind="warn">{t.signInWaiting(waiting)}</Notice>}
        {withToken ? <TokenForm onSignedIn={onSignedIn} /> : <AccountForm onSignedIn={onSignedIn} />}
        {accounts && (
          <Button kind="quiet" onClick={() => setWithToken(!withToken)}>
            {withToken ? t.signInWithPassword : t.signInWithToken}
          </Button>
        )}
      </div>
    </main>
  );
}

function TokenForm({ onSignedIn }: { onSignedIn: (session: Session) => void }): ReactNode {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn(token).then(onSignedIn, (error: unknown) =>
      setProblem(error instanceof ApiError && error.status === 401 ? t.signInWrong : t.noConnection),
    );
  };
  return (
    <form className="stack" onSubmit={submit}>
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
      {problem && <Notice kind="error">{problem}</Notice>}
      <Button kind="primary" type="submit">
        {t.signIn}
      </Button>
    </form>
  );
}
