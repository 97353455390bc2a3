// Your account: who you are, where you are signed in, your password, and the identity provider that you sign in with.
import { useQuery } from "@tanstack/react-query";
import { LogOut, MonitorSmartphone } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { type Session, signOutEverywhere } from "../api/session";
import { agentParts } from "../lib/agent";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notify, notifyError } from "../ui/Toasts";
import { abandonUnsent } from "../upload/unsent";
import { personQuery, sessionsQuery } from "./queries";
import { Section } from "./Section";

type SignedIn = Schemas["SignedInOut"];

export function PersonCard({ session }: { session: Session }): ReactNode {
  const person = useQuery(personQuery());
  const places = useQuery(sessionsQuery());
  const [isLeaving, setLeaving] = useState(false);
  const leave = async (): Promise<void> => {
    try {
      await signOutEverywhere();
    } catch (error) {
      notifyError(error);
      return;
    }
    abandonUnsent();
    window.location.assign("/");
  };
  return (
    <Section
      title={t.personTitle}
      {...(person.data && { text: `${person.data.name} · ${person.data.email}` })}
      action={
        <Button small onClick={() => setLeaving(true)}>
          <LogOut size={15} aria-hidden />
          {t.signOutEverywhere}
        </Button>
      }
    >
      {person.data && <Identity person={person.data} provider={session.provider} />}
      {person.data?.has_password && <Password />}
      {places.isPending && <Loading lines={2} />}
      {places.isError && <Failure error={places.error} onRetry={() => void places.refetch()} />}
      <ul className="tokens">
        {places.data?.map((place) => (
          <Place key={place.id} place={place} />
        ))}
      </ul>
      <Confirm
        open={isLeaving}
        title={t.signOutEverywhere}
        text={t.signOutEverywhereText}
        action={t.signOut}
        onConfirm={leave}
        onClose={() => setLeaving(false)}
      />
    </Section>
  );
}

function Place({ place }: { place: SignedIn }): ReactNode {
  const { browser, system } = agentParts(place.agent);
  const name = browser ? t.browserOn(browser, system) : place.address;
  const end = async (): Promise<void> => {
    const path = { session_id: place.id };
    try {
      await unwrap(api.DELETE("/account/sessions/{session_id}", { params: { path } }));
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["account", "sessions"] });
  };
  return (
    <li className="token">
      <MonitorSmartphone size={16} aria-hidden />
      <span className="grow">
        <strong>{place.current ? `${name} (${t.thisBrowser})` : name}</strong>
        <span className="muted small">
          {place.address} · {t.lastUsed} {formatDay(place.last_used_at)}
        </span>
      </span>
      {!place.current && (
        <Button small kind="quiet" onClick={() => void end()} aria-label={t.signOutThere(name)}>
          {t.signOut}
        </Button>
      )}
    </li>
  );
}

function Identity({ person, provider }: { person: Schemas["PersonOut"]; provider: string | null }): ReactNode {
  const [isConnecting, setConnecting] = useState(false);
  const disconnect = async (): Promise<void> => {
    try {
      await unwrap(api.DELETE("/account/identity"));
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["account"] });
  };
  if (!person.has_password || (provider === null && person.issuer === null)) return null;
  if (person.issuer !== null) {
    return (
      <div className="row wrap">
        <span className="grow small">{t.connected(provider ?? person.issuer)}</span>
        <Button small onClick={() => void disconnect()}>
          {t.disconnect}
        </Button>
      </div>
    );
  }
  return (
    <div className="row wrap">
      <Button small onClick={() => setConnecting(true)}>
        {t.connect(provider ?? "")}
      </Button>
      <Dialog
        open={isConnecting}
        onClose={() => setConnecting(false)}
        title={t.connect(provider ?? "")}
        description={t.connectText}
      >
        <ConnectForm name={provider ?? ""} onClose={() => setConnecting(false)} />
      </Dialog>
    </div>
  );
}

function Password(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="row wrap">
      <Button small onClick={() => setOpen(true)}>
        {t.changePassword}
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={t.changePassword}
        description={`${t.changePasswordText} ${t.signUpText}`}
      >
        <PasswordForm onClose={() => setOpen(false)} />
      </Dialog>
    </div>
  );
}

function PasswordForm({ onClose }: { onClose: () => void }): ReactNode {
  const [current, setCurrent] = useState("");
  const [fresh, setFresh] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await unwrap(api.PATCH("/account", { body: { current_password: current, password: fresh } }));
      await queryClient.invalidateQueries({ queryKey: ["account", "sessions"] });
      notify(t.passwordChanged);
      onClose();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <PasswordField label={t.currentPassword} complete="current-password" value={current} onChange={setCurrent} />
      <PasswordField label={t.newPassword} complete="new-password" value={fresh} onChange={setFresh} />
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit">
          {t.changePassword}
        </Button>
      </div>
    </form>
  );
}

interface PasswordFieldProps {
  label: string;
  complete: "current-password" | "new-password";
  value: string;
  onChange: (value: string) => void;
}

function PasswordField({ label, complete, value, onChange }: PasswordFieldProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        className="input"
        type="password"
        autoComplete={complete}
        required
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function ConnectForm({ name, onClose }: { name: string; onClose: () => void }): ReactNode {
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      const body = { current_password: password };
      window.location.assign((await unwrap(api.POST("/account/identity", { body }))).address);
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <PasswordField label={t.currentPassword} complete="current-password" value={password} onChange={setPassword} />
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit">
          {t.connect(name)}
        </Button>
      </div>
    </form>
  );
}
