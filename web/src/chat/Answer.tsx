// An answer's Markdown: no raw HTML, no images, links with their host; citations as numbered chips.
import { memo, type ReactNode, useMemo } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import type { Citation } from "../api/client";
import { t } from "../strings";
import { CitationChip } from "./CitationChip";
import { citeMarkers } from "./markers";

const NONE: readonly Citation[] = [];

function SafeLink({ href, children }: { href?: string | undefined; children?: ReactNode }): ReactNode {
  let address: URL;
  try {
    address = new URL(href ?? "");
  } catch {
    return children;
  }
  if (!["https:", "http:", "mailto:"].includes(address.protocol)) return children;
  return (
    <a href={address.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
      {address.host && <span className="muted">{t.linkHost(address.host)}</span>}
    </a>
  );
}

interface AnswerProps {
  text: string;
  citations?: readonly Citation[];
}

export const Answer = memo(function Answer({ text, citations = NONE }: AnswerProps): ReactNode {
  const components = useMemo(() => {
    const byNumber = new Map(citations.map((citation) => [citation.n, citation]));
    const own = {
      "cite-claim": ({ verdict, children }: { verdict: string; children: ReactNode }) => (
        <span className="claim" data-verdict={verdict}>
          {children}
        </span>
      ),
      "cite-chip": ({ n }: { n: number }) => {
        const citation = byNumber.get(Number(n));
        return citation ? <CitationChip citation={citation} /> : null;
      },
    };
    const plain: Components = {
      a: ({ href, children }) => <SafeLink href={href}>{children}</SafeLink>,
      img: ({ alt }) => <span className="muted">{alt}</span>,
      table: ({ children }) => (
        <div className="table-scroll text-table" tabIndex={0} role="region" aria-label={t.tableName}>
          <table>{children}</table>
        </div>
      ),
    };
    return { ...plain, ...own } as Components;
  }, [citations]);
  return (
    <div className="prose">
      <Markdown remarkPlugins={[remarkGfm, [citeMarkers, { citations }]]} components={components} skipHtml>
        {text}
      </Markdown>
    </div>
  );
});
