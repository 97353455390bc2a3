// Signing in with a password, and making an account, with the invitation of the link if it has one.
import { type FormEvent, type HTMLInputTypeAttribute, type ReactNode, useState } from "react";
import { ApiError } from "../api/client";
import { type Session, signInWithPassword, signUp, takeTokenFromAddress } from "../api/session";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";

const MIN_PASSWORD = 12;

export function AccountForm({ onSignedIn }: { onSignedIn: (session: Session) => void }): ReactNode {
  const [invited] = useState(() => takeTokenFromAddress("invitation"));
  const [isNew, setNew] = useState(invited !== null);
  const [given, setGiven] = useState({ email: "", name: "", password: "", invitation: invited ?? "" });
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const entering = isNew
      ? signUp({ ...given, invitation: given.invitation.trim() || null })
      : signInWithPassword(given.email, given.password);
    entering.then(onSignedIn, (error: unknown) =>
      setProblem(error instanceof ApiError ? error.message : t.noConnection),
    );
  };
  const field = (
    name: keyof typeof given,
    label: string,
    type: HTMLInputTypeAttribute,
    autoComplete: string,
    isRequired = true,
  ): ReactNode => (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        type={type}
        autoComplete={autoComplete}
        required={isRequired}
        {...(name === "password" && isNew ? { minLength: MIN_PASSWORD } : {})}
        value={given[name]}
        onChange={(event) => setGiven({ ...given, [name]: event.target.value })}
      />
    </label>
  );
  return (
    <form className="stack" onSubmit={submit}>
      {isNew && field("name", t.accountName, "text", "name", false)}
      {field("email", t.accountEmail, "email", "username")}
      {field("password", t.accountPassword, "password", isNew ? "new-password" : "current-password")}
      {isNew && <p className="muted small">{t.accountPasswordHint(MIN_PASSWORD)}</p>}
      {isNew && field("invitation", t.accountInvitation, "text", "off", false)}
      {problem && <Notice kind="error">{problem}</Notice>}
      <Button kind="primary" type="submit">
        {isNew ? t.signUp : t.signIn}
      </Button>
      <Button
        kind="quiet"
        onClick={() => {
          setProblem(null);
          setNew(!isNew);
        }}
      >
        {isNew ? t.haveAccount : t.needAccount}
      </Button>
    </form>
  );
}
