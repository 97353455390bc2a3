// What was spent: figures, a bar per day, a line per model, and what sending whole files would have taken.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Schemas } from "../api/client";
import { wordFor } from "../api/codes";
import { formatCompact, formatDollars, formatNumber } from "../lib/format";
import { t } from "../strings";
import { Failure, Loading } from "../ui/Notice";
import { usageQuery } from "./queries";
import { Section } from "./Section";
import { UsageChart } from "./UsageChart";
import { dayBars, lastDays, type Measure, type ModelLine, modelLines } from "./usage";

const SPANS = [7, 30, 90];

export function UsageCard(): ReactNode {
  const [days, setDays] = useState(30);
  const usage = useQuery(usageQuery(days));
  return (
    <Section
      title={t.usageTitle}
      text={t.usageText}
      action={
        <label>
          <span className="visually-hidden">{t.usageSpan}</span>
          <select
            className="select select-small"
            value={days}
            onChange={(event) => setDays(Number(event.target.value))}
          >
            {SPANS.map((span) => (
              <option key={span} value={span}>
                {t.lastDays(span)}
              </option>
            ))}
          </select>
        </label>
      }
    >
      {usage.isPending && <Loading lines={4} />}
      {usage.isError && <Failure error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data &&
        (usage.data.usage.length ? <Spent usage={usage.data} days={days} /> : <p className="muted">{t.usageNone}</p>)}
    </Section>
  );
}

function Spent({ usage, days }: { usage: Schemas["UsageOut"]; days: number }): ReactNode {
  const [chosen, setChosen] = useState<Measure | null>(null);
  const { totals, context_stuffing: stuffing } = usage;
  const measure = chosen ?? (totals.cost > 0 ? "cost" : "tokens");
  const tokens = totals.input_tokens + totals.output_tokens;
  const saved = stuffing.input_tokens > tokens && tokens > 0;
  return (
    <>
      <dl className="figures">
        <Figure name={t.cost} value={formatDollars(totals.cost)} />
        <Figure name={t.inputTokens} value={formatCompact(totals.input_tokens)} />
        <Figure name={t.outputTokens} value={formatCompact(totals.output_tokens)} />
        {saved && <Figure name={t.stuffing} value={t.times(Math.round(stuffing.input_tokens / tokens))} />}
      </dl>
      <div className="segmented usage-measure" role="group" aria-label={t.chartOf}>
        {(["cost", "tokens"] as const).map((one) => (
          <button key={one} type="button" aria-pressed={measure === one} onClick={() => setChosen(one)}>
            {one === "cost" ? t.cost : t.tokensWord}
          </button>
        ))}
      </div>
      <UsageChart
        bars={dayBars(usage.usage, lastDays(days), measure)}
        format={measure === "cost" ? formatDollars : formatCompact}
      />
      <Models lines={modelLines(usage.usage)} />
    </>
  );
}

function Figure({ name, value }: { name: string; value: string }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="tabular">{value}</dd>
    </div>
  );
}

function Models({ lines }: { lines: readonly ModelLine[] }): ReactNode {
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label={t.usageByModel}>
      <table className="usage-table">
        <thead>
          <tr>
            <th>{t.model}</th>
            <th>{t.kind}</th>
            <th className="figure">{t.units}</th>
            <th className="figure">{t.inputTokens}</th>
            <th className="figure">{t.outputTokens}</th>
            <th className="figure">{t.cost}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={`${line.kind}${line.provider}${line.model}`}>
              <td>{line.model}</td>
              <td className="muted">{wordFor(t.usageKind, line.kind)}</td>
              <td className="figure">{formatNumber(line.units)}</td>
              <td className="figure">{formatNumber(line.inputTokens)}</td>
              <td className="figure">{formatNumber(line.outputTokens)}</td>
              <td className="figure">{formatDollars(line.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
