// Accounts of programs: make one, give it keys and projects, suspend it, and delete it.
import { useQuery } from "@tanstack/react-query";
import { Bot, KeyRound, Plus } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { projectsQuery, queryClient } from "../api/queries";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { serviceAccountsQuery, serviceKeysQuery } from "./queries";
import { Secret } from "./Secret";
import { Section } from "./Section";
import { CreateToken, TokenDetails } from "./TokensCard";

type Service = Schemas["ServiceAccountOut"];
type Key = Schemas["TokenOut"];

/** Does something, says what went wrong, and reads the lists again. */
async function act(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    notifyError(error);
  }
  await readAgain();
}

async function readAgain(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ["service-accounts"] });
  await queryClient.invalidateQueries({ queryKey: ["members"] });
}

export function ServiceAccountsCard(): ReactNode {
  const services = useQuery(serviceAccountsQuery());
  const [isCreating, setCreating] = useState(false);
  return (
    <Section
      title={t.serviceTitle}
      text={t.serviceText}
      action={
        <Button small onClick={() => setCreating(true)}>
          <Plus size={15} aria-hidden />
          {t.serviceCreate}
        </Button>
      }
    >
      {services.isPending && <Loading lines={1} />}
      {services.isError && <Failure error={services.error} onRetry={() => void services.refetch()} />}
      <ul className="tokens" aria-label={t.serviceTitle}>
        {services.data?.map((service) => (
          <Line key={service.id} service={service} />
        ))}
      </ul>
      <Dialog open={isCreating} onClose={() => setCreating(false)} title={t.serviceCreate} description={t.serviceText}>
        <NameForm onClose={() => setCreating(false)} />
      </Dialog>
    </Section>
  );
}

function Line({ service }: { service: Service }): ReactNode {
  const [isDeleting, setDeleting] = useState(false);
  const at = { params: { path: { account_id: service.id } } };
  const isActive = service.state === "active";
  const toggle = (): Promise<void> => {
    const body = { state: isActive ? ("suspended" as const) : ("active" as const) };
    return act(() => unwrap(api.PATCH("/service-accounts/{account_id}", { ...at, body })));
  };
  return (
    <li className="index">
      <div className="row">
        <Bot size={16} aria-hidden />
        <strong className="grow">{service.name}</strong>
        <Button
          small
          kind="quiet"
          onClick={() => void toggle()}
          aria-label={isActive ? t.suspendNamed(service.name) : t.letInNamed(service.name)}
        >
          {isActive ? t.suspend : t.letIn}
        </Button>
        <Button small kind="quiet" onClick={() => setDeleting(true)} aria-label={t.serviceDeleteNamed(service.name)}>
          {t.delete}
        </Button>
      </div>
      {!isActive && <Notice kind="warn">{t.serviceSuspended}</Notice>}
      <Projects service={service} />
      <Keys service={service} />
      <Confirm
        open={isDeleting}
        title={t.serviceDeleteTitle}
        text={t.serviceDeleteText(service.name)}
        action={t.delete}
        onConfirm={() => act(() => unwrap(api.DELETE("/service-accounts/{account_id}", at)))}
        onClose={() => setDeleting(false)}
      />
    </li>
  );
}

/** Those that it may use; its role in them is changed among their members. */
function Projects({ service }: { service: Service }): ReactNode {
  const projects = useQuery(projectsQuery(null)).data ?? [];
  const used = service.projects.map(({ id }) => id);
  const add = (project_id: string): Promise<void> => {
    const path = { project_id, member_id: service.owner };
    const body = { role: "viewer" as const };
    return act(() => unwrap(api.PUT("/projects/{project_id}/members/{member_id}", { params: { path }, body })));
  };
  return (
    <div className="row">
      <span className="grow muted small">
        {service.projects.map(({ name, role }) => `${name} (${t.role[role]})`).join(", ") || t.serviceNoProjects}
      </span>
      <select
        className="select"
        aria-label={t.serviceAddNamed(service.name)}
        value=""
        onChange={(event) => void add(event.target.value)}
      >
        <option value="">{t.serviceAdd}</option>
        {projects
          .filter(({ id }) => !used.includes(id))
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </select>
    </div>
  );
}

function Keys({ service }: { service: Service }): ReactNode {
  const keys = useQuery(serviceKeysQuery(service.id));
  const [isCreating, setCreating] = useState(false);
  const make = async (body: Schemas["TokenIn"]): Promise<string> => {
    const path = { account_id: service.id };
    const chosen = { ...body, scopes: body.scopes ?? [] };
    const made = await unwrap(api.POST("/service-accounts/{account_id}/keys", { params: { path }, body: chosen }));
    await readAgain();
    return made.token;
  };
  return (
    <>
      {keys.isError && <Failure error={keys.error} onRetry={() => void keys.refetch()} />}
      <ul className="tokens" aria-label={t.keysOf(service.name)}>
        {keys.data?.map((key) => (
          <KeyLine key={key.id} service={service} token={key} />
        ))}
      </ul>
      <div>
        <Button small onClick={() => setCreating(true)} aria-label={t.newKeyFor(service.name)}>
          <Plus size={15} aria-hidden />
          {t.newKey}
        </Button>
      </div>
      <CreateToken
        open={isCreating}
        hasScopes
        onClose={() => setCreating(false)}
        make={make}
        title={t.newKey}
        text={t.newKeyText(service.name)}
        initial={["read", "ask"]}
      />
    </>
  );
}

function KeyLine({ service, token }: { service: Service; token: Key }): ReactNode {
  const [asked, setAsked] = useState<"rotate" | "revoke" | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const at = { params: { path: { account_id: service.id, key_id: token.id } } };
  const rotate = async (): Promise<void> => {
    try {
      setSecret((await unwrap(api.POST("/service-accounts/{account_id}/keys/{key_id}/rotation", at))).token);
    } catch (error) {
      notifyError(error);
    }
  };
  const revoke = (): Promise<void> => act(() => unwrap(api.DELETE("/service-accounts/{account_id}/keys/{key_id}", at)));
  const close = (): void => {
    setSecret(null);
    void readAgain();
  };
  return (
    <li className="token token-wraps">
      <KeyRound size={16} aria-hidden />
      <span className="grow token-words">
        <strong>{token.name}</strong>
        <span className="muted small">
          {t.expires} {token.expires_at ? formatDay(token.expires_at) : t.never}
          <TokenDetails token={token} />
        </span>
      </span>
      <Button small kind="quiet" onClick={() => setAsked("rotate")} aria-label={t.rotateNamed(token.name)}>
        {t.rotate}
      </Button>
      <Button small kind="quiet" onClick={() => setAsked("revoke")} aria-label={t.revokeNamed(token.name)}>
        {t.revoke}
      </Button>
      <Confirm
        open={asked !== null}
        title={asked === "rotate" ? t.rotateTitle : t.revokeKeyTitle}
        text={asked === "rotate" ? t.rotateText(token.name) : t.revokeKeyText(token.name)}
        action={asked === "rotate" ? t.rotate : t.revoke}
        onConfirm={asked === "rotate" ? rotate : revoke}
        onClose={() => setAsked(null)}
      />
      <Dialog open={secret !== null} onClose={close} title={t.rotateTitle}>
        <Secret
          secret={secret ?? ""}
          label={t.newKey}
          once={t.tokenOnce}
          copied={t.tokenCopied}
          action={t.copyToken}
          onClose={close}
        />
      </Dialog>
    </li>
  );
}

function NameForm({ onClose }: { onClose: () => void }): ReactNode {
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await unwrap(api.POST("/service-accounts", { body: { name: name.trim() } }));
      await readAgain();
      onClose();
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
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit" disabled={!name.trim()}>
          {t.serviceCreate}
        </Button>
      </div>
    </form>
  );
}
