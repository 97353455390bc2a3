// The same questions in the index that answers and in another: how much of what they find is the same.
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { formatNumber, formatPercent } from "../lib/format";
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
          body: { queries: queries.length ? queries : null, top_k: 10 },
        }),
      ),
  });
  const queries = questionsOf(text);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    compared.mutate(queries);
  };
  return (
    <Dialog open onClose={onClose} wide title={t.compareTitle(name)} description={t.compareText}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>{t.compareQuestions}</span>
          <textarea className="input" rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <div className="row form-end">
          <Button kind="primary" type="submit" disabled={compared.isPending}>
            {queries.length ? t.compare : t.comparePast}
          </Button>
        </div>
        {compared.isError && <Failure error={compared.error} />}
        {compared.data?.queries.length === 0 && <p className="muted">{t.compareNothingAsked}</p>}
        {compared.data && compared.data.queries.length > 0 && (
          <>
            <Figures found={compared.data} />
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
            <Changed found={compared.data} />
          </>
        )}
      </form>
    </Dialog>
  );
}

type Comparison = Schemas["CompareOut"];

/** Both indexes over all questions. */
function Figures({ found }: { found: Comparison }): ReactNode {
  const sides = [
    [t.compareActive, found.active],
    [t.compareCandidate, found.candidate],
  ] as const;
  return (
    <table className="table small">
      <thead>
        <tr>
          <th />
          <th>{t.compareRanking(found.judged)}</th>
          <th>{t.compareTime}</th>
          <th>{t.comparePrice}</th>
        </tr>
      </thead>
      <tbody>
        {sides.map(([name, side]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className="tabular">{side.ndcg === null ? "–" : side.ndcg.toFixed(3)}</td>
            <td className="tabular">{t.milliseconds(formatNumber(side.milliseconds))}</td>
            <td className="tabular">{side.dollars === null ? "–" : t.dollars(formatNumber(side.dollars))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The questions whose passages change most, with the best passages of both side by side. */
function Changed({ found }: { found: Comparison }): ReactNode {
  if (!found.changed.length) return null;
  return (
    <section className="stack">
      <h3>{t.compareChanged}</h3>
      {found.changed.map((one) => (
        <details key={one.query}>
          <summary>{one.query}</summary>
          <div className="compared">
            <Passages name={t.compareActive} passages={one.active} />
            <Passages name={t.compareCandidate} passages={one.candidate} />
          </div>
        </details>
      ))}
    </section>
  );
}

function Passages({ name, passages }: { name: string; passages: Schemas["ComparedPassage"][] }): ReactNode {
  return (
    <div className="stack">
      <strong className="small">{name}</strong>
      <ol className="small">
        {passages.map((one) => (
          <li key={one.chunk_id}>
            <span className="muted">
              {one.label}
              {one.is_cited && ` · ${t.compareCited}`}
            </span>
            <br />
            {one.text}
          </li>
        ))}
      </ol>
    </div>
  );
}
