// How a search came to its hits: the time of each step as a waterfall, and what was read from the query.
import type { ReactNode } from "react";
import { lookUp, wordFor } from "../api/codes";
import { formatDuration, languageName } from "../lib/format";
import { t } from "../strings";
import type { Trace } from "./ranks";
import { stepsOf, totalOf } from "./waterfall";

interface Inferred {
  field: string;
  operator: string;
  value: string | number | (string | number)[];
}

export function TraceCard({ trace }: { trace: Trace }): ReactNode {
  return (
    <aside className="card stack trace" aria-label={t.timings}>
      <Waterfall timings={trace.timings_ms} />
      <Readings details={trace.details ?? {}} />
    </aside>
  );
}

function Waterfall({ timings }: { timings: Readonly<Record<string, number>> }): ReactNode {
  const steps = stepsOf(timings);
  const total = totalOf(steps);
  return (
    <section className="stack">
      <div className="spread">
        <h2>{t.timings}</h2>
        <span className="muted small tabular">{formatDuration(total)}</span>
      </div>
      <ol className="waterfall">
        {steps.map(({ name, start, duration, lane }) => (
          <li key={name}>
            <span className="small">{wordFor(t.step, name)}</span>
            <span className="waterfall-track" aria-hidden>
              <span
                className="waterfall-bar"
                data-leg={lane === "both" ? "fused" : lane}
                style={{
                  left: `${total ? (start / total) * 100 : 0}%`,
                  width: `${total ? Math.max((duration / total) * 100, 0.8) : 0}%`,
                }}
              />
            </span>
            <span className="muted small tabular">{formatDuration(duration)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Readings({ details }: { details: Readonly<Record<string, unknown>> }): ReactNode {
  const filters = (details.filters as Inferred[] | undefined) ?? [];
  const variations = (details.variations as string[] | undefined) ?? [];
  const language = details.language;
  return (
    <dl className="facts small">
      {typeof language === "string" && (
        <div>
          <dt className="muted">{t.languageName}</dt>
          <dd>{languageName(language)}</dd>
        </div>
      )}
      {filters.length > 0 && (
        <div>
          <dt className="muted">{t.inferredFilters}</dt>
          <dd>
            {filters.map(({ field, operator, value }) => (
              <span key={`${field}${operator}`} className="tag">
                {wordFor(t.fieldName, field)} {lookUp<string>(t.operatorName, operator) ?? operator}{" "}
                {Array.isArray(value) ? value.join(", ") : value}
              </span>
            ))}
          </dd>
        </div>
      )}
      {variations.length > 0 && (
        <div>
          <dt className="muted">{t.variations}</dt>
          <dd>{variations.join(" · ")}</dd>
        </div>
      )}
    </dl>
  );
}
