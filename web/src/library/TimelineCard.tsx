// The stages that a file went through, with the time that each took.

import type { ReactNode } from "react";
import type { Resource } from "../api/client";
import { isFinal, wordFor } from "../api/codes";
import { formatDuration, formatMoment } from "../lib/format";
import { placed } from "../lib/placed";
import { t } from "../strings";
import { type StageEntry, timelineOf } from "./timeline";

export function TimelineCard({ resource }: { resource: Resource }): ReactNode {
  const present = timelineOf(resource.stages ?? [])[0];
  if (!present) return null;
  return (
    <section className="card stack" aria-labelledby="timeline-title">
      <div className="spread">
        <h2 id="timeline-title">{t.timeline}</h2>
        <span className="muted small">{t.took(formatDuration(present.total))}</span>
      </div>
      <ol className="timeline">
        {placed(present.entries).map(({ at, item }) => (
          <Stage key={at} entry={item} isLast={at === present.entries.length - 1} />
        ))}
      </ol>
    </section>
  );
}

function Stage({ entry, isLast }: { entry: StageEntry; isLast: boolean }): ReactNode {
  const kind =
    entry.status === "failed"
      ? "error"
      : entry.status === "partial"
        ? "warn"
        : isLast && !isFinal(entry.status)
          ? "busy"
          : "ok";
  const retry = entry.details.reason;
  const attempt = Number(entry.details.attempt ?? 1);
  return (
    <li className="stage" data-kind={kind}>
      <div className="spread">
        <span>
          {wordFor(t.stage, entry.status)}
          {attempt > 1 && <span className="muted small"> · {t.attempt(attempt)}</span>}
        </span>
        <time className="muted small tabular" dateTime={entry.at}>
          {entry.duration === null ? formatMoment(entry.at) : formatDuration(entry.duration)}
        </time>
      </div>
      {entry.duration !== null && (
        <div className="stage-bar" aria-hidden>
          <span style={{ width: `${Math.max(entry.share * 100, 0.8)}%` }} />
        </div>
      )}
      {typeof retry === "string" && <p className="muted small">{retry}</p>}
    </li>
  );
}
