// How far a file is on its way: uploaded, read, indexed.
import type { ReactNode } from "react";
import { type BusyStatus, lookUp, wordFor } from "../api/codes";
import { t } from "../strings";

/** Steps done, of three: stored, read, indexed. */
const DONE = { uploaded: 1, extracting: 1, extracted: 2, indexing: 2 } satisfies Record<BusyStatus, number>;

export function Progress({ status }: { status: string }): ReactNode {
  const done = lookUp<number>(DONE, status) ?? 0;
  return (
    <span
      className="steps"
      role="progressbar"
      aria-valuemin={0}
      aria-valuemax={3}
      aria-valuenow={done}
      aria-valuetext={wordFor(t.status, status)}
      aria-label={t.statusColumn}
    >
      <span className="steps-bars" aria-hidden>
        {[0, 1, 2].map((step) => (
          <span key={step} className={step < done ? "step step-done" : step === done ? "step step-now" : "step"} />
        ))}
      </span>
      <span className="small muted">{wordFor(t.status, status)}</span>
    </span>
  );
}
