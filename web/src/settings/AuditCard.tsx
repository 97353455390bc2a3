// The audit log: who saw, changed and exported what, newest first; administrators see everybody's.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Schemas } from "../api/client";
import { wordFor } from "../api/codes";
import { formatMoment } from "../lib/format";
import { english, t } from "../strings";
import { Button } from "../ui/Button";
import { Failure, Loading } from "../ui/Notice";
import { auditQuery } from "./queries";
import { Section } from "./Section";

type Action = Schemas["AuditAction"];
const ACTIONS = Object.keys(english.auditAction) as Action[];

export function AuditCard({ isAdministrator }: { isAdministrator: boolean }): ReactNode {
  const [action, setAction] = useState<Action | "">("");
  const [everybody, setEverybody] = useState(false);
  const entries = useInfiniteQuery(auditQuery(action || null, everybody));
  const shown = entries.data?.pages.flatMap((page) => page.entries) ?? [];
  const file = new URLSearchParams({ format: "csv", ...(action && { action }), ...(everybody && { owner: "all" }) });
  return (
    <Section
      title={t.auditTitle}
      text={t.auditText}
      action={
        <a className="button button-small" href={`/audit/export?${file}`} download>
          <Download size={15} aria-hidden />
          {t.auditExport}
        </a>
      }
    >
      <label className="field">
        <span>{t.auditFilter}</span>
        <select className="select" value={action} onChange={(event) => setAction(event.target.value as Action | "")}>
          <option value="">{t.auditEverything}</option>
          {ACTIONS.map((one) => (
            <option key={one} value={one}>
              {t.auditAction[one]}
            </option>
          ))}
        </select>
      </label>
      {isAdministrator && (
        <label className="row">
          <input type="checkbox" checked={everybody} onChange={(event) => setEverybody(event.target.checked)} />
          {t.auditEverybody}
        </label>
      )}
      {entries.isPending && <Loading lines={4} />}
      {entries.isError && <Failure error={entries.error} onRetry={() => void entries.refetch()} />}
      {entries.data && !shown.length && <p className="muted small">{t.auditNone}</p>}
      {shown.length > 0 && <Entries entries={shown} />}
      {entries.hasNextPage && (
        <Button small disabled={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
          {t.auditMore}
        </Button>
      )}
    </Section>
  );
}

function Entries({ entries }: { entries: readonly Schemas["AuditEntryOut"][] }): ReactNode {
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={t.auditTitle}>
      <table className="usage-table">
        <thead>
          <tr>
            <th>{t.auditWhen}</th>
            <th>{t.auditWhat}</th>
            <th>{t.auditWho}</th>
            <th>{t.auditSubject}</th>
            <th>{t.auditOutcomeWord}</th>
            <th>{t.auditNetwork}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((one) => (
            <tr key={one.number}>
              <td>{formatMoment(one.at)}</td>
              <td>{wordFor(t.auditAction, one.action)}</td>
              <td>
                {one.actor_name ?? wordFor(t.auditActor, one.actor)}
                {one.actor_name && <span className="muted"> · {wordFor(t.auditActor, one.actor)}</span>}
              </td>
              <td className="muted" title={one.subject ?? ""}>
                {shortened(one.subject ?? "")}
              </td>
              <td>{wordFor(t.auditOutcome, one.outcome)}</td>
              <td className="muted">{one.network}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The beginning of an id, which tells it from others on a screen; the exports have all of it. */
function shortened(id: string): string {
  return id.length > 12 ? `${id.slice(0, 8)}…` : id;
}
