// Asks for the password of a file.
import { type FormEvent, type ReactNode, useState } from "react";
import { t } from "../strings";
import { Button } from "./Button";

export function PasswordForm({
  isBusy = false,
  onSubmit,
}: {
  isBusy?: boolean;
  onSubmit: (password: string) => void;
}): ReactNode {
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit(password);
  };
  return (
    <form className="row wrap" onSubmit={submit}>
      <label>
        <span className="visually-hidden">{t.password}</span>
        <input
          className="input password-input"
          type="password"
          autoComplete="off"
          required
          placeholder={t.password}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </label>
      <Button small kind="primary" type="submit" disabled={isBusy || !password}>
        {t.retryWithPassword}
      </Button>
    </form>
  );
}
