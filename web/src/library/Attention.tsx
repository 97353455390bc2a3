// A file that did not make it all the way: what happened, what is still usable, and what to do.
import { type ReactNode, useState } from "react";
import type { Resource } from "../api/client";
import { type ExtractionCode, lookUp, needsPassword, wordFor } from "../api/codes";
import { presentWorkspace } from "../api/workspace";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { PasswordForm } from "../ui/PasswordForm";
import { notify, notifyError } from "../ui/Toasts";
import { useMayChange, useShared, workspaceOf } from "../workspace/workspaces";
import { reindex, retryWithPassword } from "./actions";

export function Attention({ resource, onReplace }: { resource: Resource; onReplace: () => void }): ReactNode {
  const { status, error_code: code } = resource;
  const mayChange = useMayChange()(resource);
  if (!["failed", "partial", "stored"].includes(status)) return null;
  const isDamaged = code === ("damaged_file" satisfies ExtractionCode);
  const failedUsable = isDamaged ? t.damagedUsable : t.failedUsable;
  const usable = { failed: failedUsable, partial: t.partialUsable, stored: t.storedUsable }[status];
  const advice =
    status === "partial"
      ? t.partialDo
      : status === "failed"
        ? (lookUp<string>(t.failedDo, code) ?? t.failedDoDefault)
        : null;
  return (
    <Notice kind={status === "failed" ? "error" : status === "partial" ? "warn" : "info"}>
      <div className="attention">
        <strong>{lookUp<string>(t.failedTitle, code) ?? resource.error_message ?? wordFor(t.status, status)}</strong>
        <dl>
          <div>
            <dt>{t.stillUsable}</dt>
            <dd>{usable}</dd>
          </div>
          {advice && mayChange && (
            <div>
              <dt>{t.whatToDo}</dt>
              <dd>{advice}</dd>
            </div>
          )}
        </dl>
        {mayChange &&
          (needsPassword(code) ? (
            <Locked resource={resource} />
          ) : (
            <Remedies resource={resource} onReplace={onReplace} />
          ))}
      </div>
    </Notice>
  );
}

function Remedies({ resource, onReplace }: { resource: Resource; onReplace: () => void }): ReactNode {
  const again = (): void => void reindex(resource.id).then(() => notify(t.reindexed), notifyError);
  return (
    <div className="row wrap">
      {resource.status !== "stored" && (
        <Button small onClick={again}>
          {resource.status === "failed" ? t.readAgain : t.reindex}
        </Button>
      )}
      <Button small kind={resource.status === "stored" ? "plain" : "quiet"} onClick={onReplace}>
        {t.newVersion}
      </Button>
    </div>
  );
}

function Locked({ resource }: { resource: Resource }): ReactNode {
  const shared = useShared();
  const [isBusy, setBusy] = useState(false);
  const submit = (password: string): void => {
    setBusy(true);
    void retryWithPassword(resource, password, workspaceOf(resource, shared, presentWorkspace()))
      .catch(notifyError)
      .finally(() => setBusy(false));
  };
  return <PasswordForm isBusy={isBusy} onSubmit={submit} />;
}
