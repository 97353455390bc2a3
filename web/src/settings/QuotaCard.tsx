// What one may have and do, and how much of it is used; shown only where there is a limit.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { formatBytes, formatDay, formatDollars, formatNumber } from "../lib/format";
import { t } from "../strings";
import { quotasQuery } from "./queries";
import { Section } from "./Section";

type Quota = Schemas["QuotaOut"];
export const QUOTA_FORMAT: Record<Quota["quota"], (value: number) => string> = {
  files: formatNumber,
  bytes: formatBytes,
  questions: formatNumber,
  spend: formatDollars,
};

export function QuotaCard(): ReactNode {
  const quotas = useQuery(quotasQuery());
  const limited = quotas.data?.filter((one) => one.limit !== null) ?? [];
  if (!limited.length) return null;
  return (
    <Section title={t.quotaTitle} text={t.quotaText}>
      {limited.map((one) => (
        <Line key={one.quota} quota={one} limit={one.limit ?? 0} />
      ))}
    </Section>
  );
}

function Line({ quota, limit }: { quota: Quota; limit: number }): ReactNode {
  const format = QUOTA_FORMAT[quota.quota];
  const share = limit > 0 ? Math.min(1, quota.used / limit) : 1;
  const words = t.quotaUsed(format(quota.used), format(limit));
  return (
    <div className="stack">
      <div className="row wrap">
        <span className="grow">{t.quotaName[quota.quota]}</span>
        <span className="tabular">{words}</span>
        {quota.resets_at && <span className="muted small">{t.quotaResets(formatDay(quota.resets_at))}</span>}
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label={t.quotaName[quota.quota]}
        aria-valuenow={Math.round(share * 100)}
        aria-valuetext={words}
      >
        <div className="progress-bar" style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
