// Tokens: create one (shown once), see which there are, revoke.
import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { tokensQuery } from "./queries";
import { Secret } from "./Secret";
import { Section } from "./Section";

type Token = Schemas["TokenOut"];
type Scope = Schemas["AccessScope"];
const SCOPES: readonly Scope[] = ["read", "ask", "write", "admin"];
const DAYS = [7, 30, 90, 365];

/** hasScopes: whether tokens may be made for some things only. */
export function TokensCard({ hasScopes = false }: { hasScopes?: boolean }): ReactNode {
  const tokens = useQuery(tokensQuery());
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Token | null>(null);
  const revoke = async (): Promise<void> => {
    try {
      if (revoked) await unwrap(api.DELETE("/tokens/{token_id}", { params: { path: { token_id: revoked.id } } }));
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["tokens"] });
  };
  return (
    <Section
      title={t.tokensTitle}
      text={t.tokensText}
      action={
        <Button small onClick={() => setCreating(true)}>
          <Plus size={15} aria-hidden />
          {t.createToken}
        </Button>
      }
    >
      {tokens.isPending && <Loading lines={2} />}
      {tokens.isError && <Failure error={tokens.error} onRetry={() => void tokens.refetch()} />}
      <ul className="tokens">
        {tokens.data?.map((token) => (
          <li key={token.id} className="token">
            <KeyRound size={16} aria-hidden />
            <span className="grow">
              <strong>{token.name}</strong>
              <span className="muted small">
                {t.created} {formatDay(token.created_at)} · {t.expires}{" "}
                {token.expires_at ? formatDay(token.expires_at) : t.never}
                {hasScopes && <TokenDetails token={token} />}
              </span>
            </span>
            <Button small kind="quiet" onClick={() => setRevoked(token)} aria-label={t.revokeNamed(token.name)}>
              {t.revoke}
            </Button>
          </li>
        ))}
      </ul>
      <CreateToken open={isCreating} hasScopes={hasScopes} onClose={() => setCreating(false)} />
      <Confirm
        open={revoked !== null}
        title={t.revokeTitle}
        text={t.revokeText(revoked?.name ?? "")}
        action={t.revoke}
        onConfirm={revoke}
        onClose={() => setRevoked(null)}
      />
    </Section>
  );
}

/** How it begins, what it is good for, and when it was last used. */
export function TokenDetails({ token }: { token: Token }): ReactNode {
  const scopes = token.scopes ?? [];
  return (
    <>
      {" · "}
      {t.lastUsed} {token.last_used_at ? formatDay(token.last_used_at) : t.never}
      <br />
      {token.prefix && <code>{token.prefix}…</code>} {scopes.map((scope) => t.scopeWord[scope]).join(", ")}
    </>
  );
}

/** How the form makes a token: its secret. */
type Make = (body: Schemas["TokenIn"]) => Promise<string>;

async function makeToken(body: Schemas["TokenIn"]): Promise<string> {
  const made = await unwrap(api.POST("/tokens", { body }));
  await queryClient.invalidateQueries({ queryKey: ["tokens"] });
  return made.token;
}

interface CreateTokenProps {
  open: boolean;
  hasScopes: boolean;
  onClose: () => void;
  make?: Make;
  title?: string;
  text?: string;
  /** What is ticked at first. */
  initial?: readonly Scope[];
}

export function CreateToken(props: CreateTokenProps): ReactNode {
  const { open, hasScopes, onClose, make = makeToken, initial = SCOPES } = props;
  const { title = t.createToken, text = t.tokensText } = props;
  const [secret, setSecret] = useState<string | null>(null);
  const close = (): void => {
    setSecret(null);
    onClose();
  };
  return (
    <Dialog open={open} onClose={close} title={title} description={secret ? undefined : text}>
      {secret ? (
        <Secret
          secret={secret}
          label={t.signInToken}
          once={t.tokenOnce}
          copied={t.tokenCopied}
          action={t.copyToken}
          onClose={close}
        />
      ) : (
        <TokenForm
          hasScopes={hasScopes}
          make={make}
          action={title}
          initial={initial}
          onCreated={setSecret}
          onClose={close}
        />
      )}
    </Dialog>
  );
}

interface TokenFormProps {
  hasScopes: boolean;
  make: Make;
  action: string;
  initial: readonly Scope[];
  onCreated: (secret: string) => void;
  onClose: () => void;
}

function TokenForm({ hasScopes, make, action, initial, onCreated, onClose }: TokenFormProps): ReactNode {
  const [scopes, setScopes] = useState(initial);
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      const body = { name: name.trim(), days: days ? Number(days) : null, ...(hasScopes && { scopes: [...scopes] }) };
      onCreated(await make(body));
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>{t.tokenName}</span>
        <input
          className="input"
          required
          maxLength={200}
          value={name}
          placeholder={t.tokenNameHint}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <label className="field">
        <span>{t.tokenDays}</span>
        <select className="select" value={days} onChange={(event) => setDays(event.target.value)}>
          {DAYS.map((count) => (
            <option key={count} value={count}>
              {t.days(count)}
            </option>
          ))}
          <option value="">{t.tokenForever}</option>
        </select>
      </label>
      {hasScopes && (
        <fieldset className="stack scopes">
          <legend>{t.tokenScopes}</legend>
          {SCOPES.map((scope) => (
            <label key={scope} className="row">
              <input
                type="checkbox"
                checked={scopes.includes(scope)}
                onChange={({ target }) =>
                  setScopes(SCOPES.filter((one) => (one === scope ? target.checked : scopes.includes(one))))
                }
              />
              <span>{t.scopeText[scope]}</span>
            </label>
          ))}
        </fieldset>
      )}
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit" disabled={!name.trim() || !scopes.length}>
          {action}
        </Button>
      </div>
    </form>
  );
}
