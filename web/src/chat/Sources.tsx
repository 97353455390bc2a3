// Under an answer: the sources that it cites, a line each; more than a few are folded up.
import { ChevronDown, ChevronUp } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import type { Citation } from "../api/client";
import { wordFor } from "../api/codes";
import { t } from "../strings";
import { FileIcon, typeOf } from "../ui/FileIcon";
import { showSource, VerdictIcon } from "./CitationChip";
import { splitLabel } from "./markers";
import { byFile } from "./order";

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
        {shown.map((group) => {
          const [first, ...rest] = group;
          return first && rest.length ? (
            <FileLine key={first.n} citations={group} first={first} />
          ) : (
            first && <SourceLine key={first.n} citation={first} />
          );
        })}
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

/** Several pages, slides or rows of one file: its name once, then its places, each with the number that cites it. */
function FileLine({ citations, first }: { citations: readonly Citation[]; first: Citation }): ReactNode {
  const { name } = splitLabel(first);
  const { sheet, row, slide } = first.locator;
  const kind = row !== undefined ? t.rowsOf : slide !== undefined ? t.slidesOf : t.pagesOf;
  return (
    <li className="source-line source-group">
      <FileIcon type={typeOf(name)} size={15} />
      <span className="source-name truncate">{name}</span>
      <span className="muted">{[sheet, kind].filter(Boolean).join(", ")}</span>
      {citations.map((citation) => (
        <button
          key={citation.n}
          type="button"
          className="source-part"
          title={[name, splitLabel(citation).place].filter(Boolean).join(", ")}
          aria-label={t.citation(citation.n, name, splitLabel(citation).place, doubtOf(citation))}
          onClick={() => showSource(citation)}
        >
          <span className="source-number tabular">{citation.n}</span>
          {numberIn(citation)}
          {citation.verdict !== "supported" && <VerdictIcon verdict={citation.verdict} size={13} />}
        </button>
      ))}
    </li>
  );
}

function doubtOf({ verdict }: Citation): string {
  return verdict === "supported" ? "" : wordFor(t.verdict, verdict);
}

/** `5`, `5–7`: the page, slide or rows of a citation. */
function numberIn({ locator: { row, row_end: end, slide, page, pages } }: Citation): string {
  const [first, last] =
    row !== undefined
      ? [row, end ?? row]
      : slide !== undefined
        ? [slide, slide]
        : [pages?.[0] ?? page, pages?.at(-1) ?? page];
  return first === last ? `${first}` : `${first}–${last}`;
}
