// Webhooks: which addresses are told what happens, a new one (its secret shown once), what was given up.
import { useQuery } from "@tanstack/react-query";
import { Webhook as Icon, Plus } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notify, notifyError } from "../ui/Toasts";
import { deadQuery, webhooksQuery } from "./queries";
import { Secret } from "./Secret";
import { Section } from "./Section";

type Webhook = Schemas["WebhookOut"];

/** Does something, says what went wrong, and reads the lists again. */
async function act(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    notifyError(error);
  }
  await queryClient.invalidateQueries({ queryKey: ["webhooks"] });
}

export function WebhooksCard(): ReactNode {
  const webhooks = useQuery(webhooksQuery());
  const [isAdding, setAdding] = useState(false);
  return (
    <Section
      title={t.webhooksTitle}
      text={t.webhooksText}
      action={
        <Button small onClick={() => setAdding(true)}>
          <Plus size={15} aria-hidden />
          {t.addWebhook}
        </Button>
      }
    >
      {webhooks.isPending && <Loading lines={1} />}
      {webhooks.isError && <Failure error={webhooks.error} onRetry={() => void webhooks.refetch()} />}
      {webhooks.data && webhooks.data.length > 0 && (
        <ul className="tokens">
          {webhooks.data.map((webhook) => (
            <Line key={webhook.id} webhook={webhook} />
          ))}
        </ul>
      )}
      <AddWebhook open={isAdding} onClose={() => setAdding(false)} />
    </Section>
  );
}

function Line({ webhook }: { webhook: Webhook }): ReactNode {
  const dead = useQuery(deadQuery(webhook.id)).data ?? 0;
  const [isRemoving, setRemoving] = useState(false);
  const at = { params: { path: { webhook_id: webhook.id } } };
  const tryIt = (): Promise<void> =>
    act(async () => {
      await unwrap(api.POST("/webhooks/{webhook_id}/test", at));
      notify(t.webhookTried);
    });
  const replay = (): Promise<void> => act(() => unwrap(api.POST("/webhooks/{webhook_id}/replay", at)));
  const enable = (): Promise<void> =>
    act(() => unwrap(api.PATCH("/webhooks/{webhook_id}", { ...at, body: { enabled: true } })));
  return (
    <li className="token">
      <Icon size={16} aria-hidden />
      <span className="grow">
        <strong className="truncate">{webhook.url}</strong>
        <span className="muted small">{webhook.events.join(", ")}</span>
        {!webhook.enabled && <Notice kind="warn">{webhook.problem || t.webhookDisabled}</Notice>}
        {dead > 0 && <Notice kind="warn">{t.webhookDead(dead)}</Notice>}
      </span>
      {!webhook.enabled && (
        <Button small onClick={() => void enable()}>
          {t.webhookEnable}
        </Button>
      )}
      {dead > 0 && (
        <Button small onClick={() => void replay()}>
          {t.webhookReplay}
        </Button>
      )}
      <Button small kind="quiet" onClick={() => void tryIt()} aria-label={t.webhookTryNamed(webhook.url)}>
        {t.webhookTry}
      </Button>
      <Button small kind="quiet" onClick={() => setRemoving(true)} aria-label={t.webhookRemoveNamed(webhook.url)}>
        {t.webhookRemove}
      </Button>
      <Confirm
        open={isRemoving}
        title={t.webhookRemoveTitle}
        text={t.webhookRemoveText(webhook.url)}
        action={t.webhookRemove}
        onConfirm={() => act(() => unwrap(api.DELETE("/webhooks/{webhook_id}", at)))}
        onClose={() => setRemoving(false)}
      />
    </li>
  );
}

function AddWebhook({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const [secret, setSecret] = useState<string | null>(null);
  const close = (): void => {
    setSecret(null);
    onClose();
  };
  return (
    <Dialog open={open} onClose={close} title={t.addWebhook} description={secret ? undefined : t.webhooksText}>
      {secret ? (
        <Secret
          secret={secret}
          label={t.webhookSecret}
          once={t.webhookOnce}
          copied={t.webhookCopied}
          action={t.webhookCopy}
          onClose={close}
        />
      ) : (
        <WebhookForm onCreated={setSecret} onClose={close} />
      )}
    </Dialog>
  );
}

function WebhookForm({ onCreated, onClose }: { onCreated: (secret: string) => void; onClose: () => void }): ReactNode {
  const [url, setUrl] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      const made = await unwrap(api.POST("/webhooks", { body: { url: url.trim(), description: "" } }));
      onCreated(made.secret);
      await queryClient.invalidateQueries({ queryKey: ["webhooks"] });
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>{t.webhookUrl}</span>
        <input
          className="input"
          required
          maxLength={2_048}
          value={url}
          placeholder="https://n8n.example.com/webhook/citewell"
          onChange={(event) => setUrl(event.target.value)}
        />
      </label>
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit" disabled={!url.trim()}>
          {t.addWebhook}
        </Button>
      </div>
    </form>
  );
}
