// A source in the text: its number; a card with file, place and the quoted words when pointed at, focused or tapped; the viewer when clicked.
import { PreviewCard } from "@base-ui/react/preview-card";
import { useQuery } from "@tanstack/react-query";
import { Check, CircleAlert, TriangleAlert } from "lucide-react";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import type { Citation } from "../api/client";
import { lookUp, type Verdict, wordFor } from "../api/codes";
import { chunkQuery } from "../api/resources";
import { placed } from "../lib/placed";
import { t } from "../strings";
import { FileIcon, typeOf } from "../ui/FileIcon";
import { openViewer } from "../viewer/state";
import { splitLabel } from "./markers";
import { type PassageTable, partsOf } from "./passages";

const ICONS = { supported: Check, weak: TriangleAlert, unsupported: CircleAlert } satisfies Record<
  Verdict,
  typeof Check
>;

/** Pixels: the line before the quoted words stays in sight. */
const LINE_ABOVE = 24;

export function VerdictIcon({ verdict, size }: { verdict: string; size: number }): ReactNode {
  const Icon = lookUp<typeof Check>(ICONS, verdict) ?? Check;
  return <Icon size={size} aria-hidden className="verdict" data-verdict={verdict} />;
}

/** Open a citation's source at its place. */
export function showSource(citation: Citation): void {
  openViewer({
    resourceId: citation.resource_id,
    version: citation.version,
    filename: citation.filename,
    locator: citation.locator,
    quote: citation.quote,
    isPicture: citation.image !== null && citation.image !== undefined,
    picture: citation.image,
  });
}

export function CitationChip({ citation }: { citation: Citation }): ReactNode {
  const [open, setOpen] = useState(false);
  // A finger cannot point at something without pressing it, so its first press shows the card.
  const isTouch = useRef(false);
  const { name, place } = splitLabel(citation);
  if (citation.available === false) {
    return (
      <span className="chip chip-gone" title={t.sourceGone}>
        {citation.n}
        <span className="visually-hidden">{`${name}: ${t.sourceGone}`}</span>
      </span>
    );
  }
  const show = (): void => {
    setOpen(false);
    showSource(citation);
  };
  const doubt = citation.verdict === "supported" ? "" : wordFor(t.verdict, citation.verdict);
  return (
    <PreviewCard.Root open={open} onOpenChange={setOpen}>
      <PreviewCard.Trigger
        delay={250}
        closeDelay={150}
        render={
          <button
            type="button"
            className="chip"
            data-verdict={citation.verdict}
            aria-label={t.citation(citation.n, name, place, doubt)}
            onPointerDown={(event) => {
              isTouch.current = event.pointerType === "touch";
            }}
            onClick={() => (isTouch.current ? setOpen(true) : show())}
          />
        }
      >
        {citation.n}
        {doubt && <VerdictIcon verdict={citation.verdict} size={11} />}
      </PreviewCard.Trigger>
      <PreviewCard.Portal>
        <PreviewCard.Positioner className="positioner" sideOffset={6} collisionPadding={12}>
          <PreviewCard.Popup className="popup passage">
            {open && <Passage citation={citation} onOpen={show} />}
          </PreviewCard.Popup>
        </PreviewCard.Positioner>
      </PreviewCard.Portal>
    </PreviewCard.Root>
  );
}

/** The passage with the quoted words marked; the quote alone where the passage is no longer there. */
function Passage({ citation, onOpen }: { citation: Citation; onOpen: () => void }): ReactNode {
  const chunk = useQuery(chunkQuery(citation));
  const text = useRef<HTMLQuoteElement>(null);
  // The quoted words may be far down in a long passage.
  useLayoutEffect(() => {
    const mark = chunk.data && text.current?.querySelector("mark");
    if (mark && text.current) text.current.scrollTop = mark.offsetTop - text.current.offsetTop - LINE_ABOVE;
  }, [chunk.data]);
  const { name, place } = splitLabel(citation);
  const headings = citation.locator.headings ?? [];
  const isNamed = place === `"${headings.at(-1)}"`;
  const whole = chunk.data?.text ?? citation.quote;
  const parts = partsOf(whole, citation.quote, citation.locator.row !== undefined);
  return (
    <>
      <div className="passage-head">
        <span className="passage-file">
          <FileIcon type={typeOf(name)} size={15} />
          <strong className="truncate">{name}</strong>
        </span>
        <span className="muted small">{[isNamed ? "" : place, ...headings].filter(Boolean).join(" › ")}</span>
      </div>
      <blockquote className="passage-text" ref={text}>
        {placed(parts).map(({ at, item: part }) =>
          "table" in part ? (
            <PassageRows key={at} table={part.table} />
          ) : part.isQuoted ? (
            <mark key={at}>{part.words}</mark>
          ) : (
            part.words
          ),
        )}
      </blockquote>
      <div className="passage-foot small">
        <VerdictIcon verdict={citation.verdict} size={14} />
        <span className="muted grow">{wordFor(t.verdict, citation.verdict)}</span>
        <button type="button" className="link-button" onClick={onOpen} tabIndex={-1}>
          {t.openSource}
        </button>
      </div>
    </>
  );
}

/** Cited rows, each cell under its column. */
export function PassageRows({ table }: { table: PassageTable }): ReactNode {
  return (
    <div className="text-table passage-rows">
      <table>
        <thead>
          <tr>
            {placed(table.header).map(({ at, item }) => (
              <th key={at} scope="col">
                {item}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {placed(table.rows).map(({ at, item: row }) => (
            <tr key={at}>
              {placed(row).map(({ at: place, item }) => (
                <td key={place}>{item}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.left > 0 && <p className="muted small">{t.moreRows(table.left)}</p>}
    </div>
  );
}
