// The same questions in the index that answers and in another: how much of what they find is the same.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { api, unwrap } from "../api/client";
import { formatPercent } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Failure } from "../ui/Notice";
import type { Index } from "./queries";

const MOST_QUERIES = 100;

/** One question per line, blank lines left out. */
export function questionsOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, MOST_QUERIES);
}

export function CompareIndex({ index, name, onClose }: { index: Index; name: string; onClose: () => void }): ReactNode {
  const [text, setText] = useState("");
  const compared = useMutation({
    mutationFn: (queries: string[]) =>
      unwrap(
        api.POST("/indexes/{index_id}/compare", {
          params: { path: { index_id: index.id } },
          body: { queries, top_k: 10 },
        }),
      ),
  });
  const queries = questionsOf(text);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (queries.length) compared.mutate(queries);
  };
  return (
    <Dialog open onClose={onClose} wide title={t.compareTitle(name)} description={t.compareText}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>{t.compareQuestions}</span>
          <textarea className="input" rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <div className="row form-end">
          <Button kind="primary" type="submit" disabled={!queries.length || compared.isPending}>
            {t.compare}
          </Button>
        </div>
        {compared.isError && <Failure error={compared.error} />}
        {compared.data && (
          <>
            <p>
              <strong>{formatPercent(compared.data.mean_overlap)}</strong>{" "}
              <span className="muted">{t.overlapText}</span>
            </p>
            <ul className="overlaps">
              {compared.data.queries.map(({ query, overlap }) => (
                <li key={query}>
                  <span className="truncate">{query}</span>
                  <span className="score-track" aria-hidden>
                    <span className="score-bar leg-fused" style={{ width: `${overlap * 100}%` }} />
                  </span>
                  <span className="tabular small">{formatPercent(overlap)}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </form>
    </Dialog>
  );
}
