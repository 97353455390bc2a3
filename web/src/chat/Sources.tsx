// Under an answer: the sources that it cites, a line each; more than a few are folded up.
import { ChevronDown, ChevronUp } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import type { Citation } from "../api/client";
import { wordFor } from "../api/codes";
import { t } from "../strings";
import { FileIcon, typeOf } from "../ui/FileIcon";
import { showSource, VerdictIcon } from "./CitationChip";
import { byFile, splitLabel } from "./markers";

const MOST_SHOWN = 3;

export function Sources({ citations }: { citations: readonly Citation[] }): ReactNode {
  const [open, setOpen] = useState(false);
  const id = useId();
  if (!citations.length) return null;
  const sorted = byFile(citations);
  // Folding up one line would save none: the button takes its place.
  const isLong = sorted.length > MOST_SHOWN + 1;
  const shown = isLong && !open ? sorted.slice(0, MOST_SHOWN) : sorted;
  return (
    <div className="sources">
      <ol className="sources-list" id={id} aria-label={t.sources}>
        {shown.map((line) =>
          line.length > 1 ? (
            <PagesLine key={line[0].n} citations={line} />
          ) : (
            <SourceLine key={line[0].n} citation={line[0]} />
          ),
        )}
      </ol>
      {isLong && (
        <button
          type="button"
          className="sources-more"
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          {open ? <ChevronUp size={15} aria-hidden /> : <ChevronDown size={15} aria-hidden />}
          {open ? t.fewerSources : t.allSources(citations.length)}
        </button>
      )}
    </div>
  );
}

/** Pages of one file: its name once, and a button for each page. */
function PagesLine({ citations }: { citations: readonly [Citation, ...Citation[]] }): ReactNode {
  const { name } = splitLabel(citations[0]);
  return (
    <li className="source-pages">
      <FileIcon type={typeOf(name)} size={15} />
      <span className="source-name truncate">{name}</span>
      {citations.map((citation) => {
        const { place } = splitLabel(citation);
        return (
          <button
            key={citation.n}
            type="button"
            className="source-line"
            title={`${name}, ${place}`}
            onClick={() => showSource(citation)}
          >
            <span className="source-number tabular">{citation.n}</span>
            <span className="source-place muted">{place}</span>
            {citation.verdict !== "supported" && (
              <>
                <VerdictIcon verdict={citation.verdict} size={13} />
                <span className="visually-hidden">{wordFor(t.verdict, citation.verdict)}</span>
              </>
            )}
          </button>
        );
      })}
    </li>
  );
}

function SourceLine({ citation }: { citation: Citation }): ReactNode {
  // A picture of a kind that browsers do not show has its icon.
  const [unseen, setUnseen] = useState(false);
  const { name, place } = splitLabel(citation);
  const isGone = citation.available === false;
  const line = (
    <>
      <span className="source-number tabular">{citation.n}</span>
      {citation.image && !isGone && !unseen ? (
        <img
          className="source-thumb"
          src={citation.image.path}
          alt=""
          loading="lazy"
          decoding="async"
          onError={() => setUnseen(true)}
        />
      ) : (
        <FileIcon type={typeOf(name)} size={15} />
      )}
      <span className="source-name truncate">{name}</span>
      {place && <span className="source-place muted truncate">{place}</span>}
      {isGone && <span className="muted">{t.sourceGone}</span>}
      {!isGone && citation.verdict !== "supported" && (
        <>
          <VerdictIcon verdict={citation.verdict} size={13} />
          <span className="visually-hidden">{wordFor(t.verdict, citation.verdict)}</span>
        </>
      )}
    </>
  );
  return (
    <li>
      {isGone ? (
        <span className="source-line">{line}</span>
      ) : (
        <button
          type="button"
          className="source-line"
          title={[name, place].filter(Boolean).join(", ")}
          onClick={() => showSource(citation)}
        >
          {line}
        </button>
      )}
    </li>
  );
}
