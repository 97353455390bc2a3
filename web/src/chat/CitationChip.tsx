// A source in the text: its place, its verdict, the passage when pointed at, the viewer when clicked.
import { PreviewCard } from "@base-ui/react/preview-card";
import { useQuery } from "@tanstack/react-query";
import { Check, CircleAlert, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type Citation, unwrap } from "../api/client";
import { lookUp, type Verdict, wordFor } from "../api/codes";
import { t } from "../strings";
import { openViewer } from "../viewer/state";
import { splitLabel } from "./markers";

const ICONS = { supported: Check, weak: TriangleAlert, unsupported: CircleAlert } satisfies Record<
  Verdict,
  typeof Check
>;

function VerdictIcon({ verdict, size }: { verdict: string; size: number }): ReactNode {
  const Icon = lookUp<typeof Check>(ICONS, verdict) ?? Check;
  return <Icon size={size} aria-hidden className="verdict" data-verdict={verdict} />;
}

export function CitationChip({ citation, short }: { citation: Citation; short: boolean }): ReactNode {
  const [open, setOpen] = useState(false);
  const { name, place } = splitLabel(citation);
  const verdict = wordFor(t.verdict, citation.verdict);
  if (citation.available === false) {
    return (
      <span className="chip chip-gone" title={t.sourceGone}>
        <span className="chip-name">{name}</span>
        <span className="visually-hidden">{t.sourceGone}</span>
      </span>
    );
  }
  const show = (): void => {
    setOpen(false);
    openViewer({
      resourceId: citation.resource_id,
      version: citation.version,
      filename: citation.filename,
      locator: citation.locator,
      quote: citation.quote,
    });
  };
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
            aria-label={t.citation(citation.n, citation.label, verdict)}
            onClick={show}
          />
        }
      >
        {(!short || !place) && <span className="chip-name">{name}</span>}
        {!short && place && <span aria-hidden>·</span>}
        {place && <span className="chip-place">{place}</span>}
        {citation.verdict !== "supported" && (
          <span className="chip-verdict">
            <VerdictIcon verdict={citation.verdict} size={12} />
            {citation.verdict === "weak" ? t.weakShort : t.unsupportedShort}
          </span>
        )}
      </PreviewCard.Trigger>
      <PreviewCard.Portal>
        <PreviewCard.Positioner className="positioner" sideOffset={6}>
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
  const chunk = useQuery({
    queryKey: ["chunk", citation.chunk_id],
    queryFn: () =>
      unwrap(
        api.GET("/resources/{resource_id}/chunks/{chunk_id}", {
          params: { path: { resource_id: citation.resource_id, chunk_id: citation.chunk_id } },
        }),
      ),
    staleTime: Infinity,
    retry: false,
  });
  const headings = citation.locator.headings ?? [];
  const whole = chunk.data?.text ?? citation.quote;
  const at = whole.indexOf(citation.quote);
  return (
    <>
      <div className="passage-head">
        <strong>{citation.label}</strong>
        {headings.length > 0 && <span className="muted small">{headings.join(" › ")}</span>}
      </div>
      <blockquote className="passage-text">
        {at < 0 ? (
          whole
        ) : (
          <>
            {whole.slice(0, at)}
            <mark>{citation.quote}</mark>
            {whole.slice(at + citation.quote.length)}
          </>
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
