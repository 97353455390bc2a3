// What the chosen files would take of models that cost, before they are sent.
import { useQuery } from "@tanstack/react-query";
import { CircleDollarSign } from "lucide-react";
import type { ReactNode } from "react";
import { estimateQuery, type UploadEstimate } from "../api/queries";
import { formatBriefly, formatDollars } from "../lib/format";
import { t } from "../strings";
import { Notice } from "../ui/Notice";

type Span = UploadEstimate["minutes"];
type Part = UploadEstimate["parts"][number];

/** The estimate of these files; undefined while it is not known. */
export function useEstimate(files: readonly File[], multimodal: boolean): UploadEstimate | undefined {
  const { data } = useQuery(estimateQuery(files, multimodal));
  return files.length ? data : undefined;
}

/** Nothing where no model costs. */
export function EstimateNote({ estimate }: { estimate: UploadEstimate | undefined }): ReactNode {
  if (!estimate?.parts.length) return null;
  return (
    <section className="upload-estimate" aria-label={t.estimate}>
      <p className="row">
        <CircleDollarSign size={17} aria-hidden />
        <strong>{total(estimate)}</strong>
      </p>
      <ul>
        {estimate.parts.map((part) => (
          <li key={`${part.purpose} ${part.provider} ${part.model}`} className="muted small">
            {line(part)}
          </li>
        ))}
      </ul>
      <p className="muted small">{t.estimateFrom(estimate.measured)}</p>
      <Limit estimate={estimate} />
    </section>
  );
}

function Limit({
  estimate: { exceeds, max_spend: most, dollars_left: left },
}: {
  estimate: UploadEstimate;
}): ReactNode {
  if (exceeds === "no" || most === null || left === null) return null;
  const sentence = exceeds === "yes" ? t.estimateExceeds : t.estimateMayExceed;
  return (
    <Notice kind={exceeds === "yes" ? "error" : "warn"}>{sentence(formatDollars(left), formatDollars(most))}</Notice>
  );
}

function total({ dollars, minutes }: UploadEstimate): string {
  const price = dollars ? between(dollars, cents) : t.estimateUnpriced;
  return t.estimateTotal(price, duration(minutes));
}

function line({ purpose, model, tokens, calls, dollars }: Part): string {
  const said = t.estimatePart(t.purpose[purpose], model, between(tokens, formatBriefly), between(calls, formatBriefly));
  return dollars ? said : `${said} ${t.estimateNoPrice(model)}`;
}

/** `3–8`, or `3` where both are the same as they are written. */
function between({ low, high }: Span, write: (value: number) => string): string {
  const [least, most] = [write(low), write(high)];
  return least === most ? most : `${least}–${most}`;
}

const duration = ({ low, high }: Span): string =>
  high < 1
    ? t.underAMinute
    : t.minutes(between({ low, high }, (value) => formatBriefly(Math.max(1, Math.round(value)))));

/** Below a cent it matters only that it is. */
const cents = (value: number): string =>
  formatDollars(value < 0.01 ? (value > 0 ? 0.01 : 0) : Math.round(value * 100) / 100);
