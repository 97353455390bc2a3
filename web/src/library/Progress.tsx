// How far a file is on its way: uploaded, read, indexed.
import type { ReactNode } from "react";
import { type BusyStatus, lookUp, wordFor } from "../api/codes";
import { formatPercent } from "../lib/format";
import { t } from "../strings";

/** Steps done, of three: stored, read, indexed. */
const DONE = { uploaded: 1, extracting: 1, extracted: 2, indexing: 2, embedding: 3 } satisfies Record<
  BusyStatus,
  number
>;

export interface Progressing {
  status: string;
  searchable?: string | null;
  semantic_progress?: number;
}

/** What is said of a file on its way: one that is found by its words can be asked about. */
export function wordsFor({ status, searchable, semantic_progress }: Progressing): string {
  return searchable === "words" ? t.readyByWords(formatPercent(semantic_progress ?? 0)) : wordFor(t.status, status);
}

export function Progress({ of }: { of: Progressing }): ReactNode {
  const done = lookUp<number>(DONE, of.status) ?? 0;
  return (
    <span
      className="steps"
      role="progressbar"
      aria-valuemin={0}
      aria-valuemax={3}
      aria-valuenow={done}
      aria-valuetext={wordsFor(of)}
      aria-label={t.statusColumn}
    >
      <span className="steps-bars" aria-hidden>
        {[0, 1, 2].map((step) => (
          <span key={step} className={step < done ? "step step-done" : step === done ? "step step-now" : "step"} />
        ))}
      </span>
      <span className="small muted">{wordsFor(of)}</span>
    </span>
  );
}
