// Hits with the chunks around them, merged where they adjoin.
import type { ReactNode } from "react";
import type { Schemas } from "../api/client";
import { formatPrecise } from "../lib/format";
import { t } from "../strings";
import { openViewer } from "../viewer/state";

export function Passages({ passages }: { passages: readonly Schemas["PassageOut"][] }): ReactNode {
  return (
    <ol className="hits" aria-label={t.asPassages}>
      {passages.map((passage, index) => (
        <li key={passage.chunk_ids[0]} className="card hit">
          <div className="hit-head">
            <span className="hit-rank tabular">{index + 1}</span>
            <button
              type="button"
              className="hit-label"
              onClick={() =>
                openViewer({ resourceId: passage.resource_id, filename: passage.filename, quote: passage.text })
              }
            >
              <span className="hit-name truncate">{passage.filename}</span>
            </button>
            <span className="grow" />
            <span className="muted small">
              {t.passageOf(passage.hit_ids.length, passage.chunk_ids.length)} · {formatPrecise(passage.score)}
            </span>
          </div>
          <p className="hit-text">{passage.text}</p>
        </li>
      ))}
    </ol>
  );
}
