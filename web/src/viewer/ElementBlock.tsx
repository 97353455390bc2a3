// One extracted element, drawn as what it is. Nothing of a document reaches the page as HTML.

import { type ReactNode, useMemo } from "react";
import { placed } from "../lib/placed";
import { blobAddress } from "../lib/save";
import { t } from "../strings";
import { type HtmlTable, readTable } from "./htmltable";
import type { Element, Marks } from "./passage";

const NUMBERED = /^\s*(?:\(?\w{1,3}[.)]|[•‣▪◦–-])\s/;

interface ElementBlockProps {
  resourceId: string;
  element: Element;
  before?: Element | undefined;
  marks?: Marks | undefined;
}

export function ElementBlock({ resourceId, element, before, marks }: ElementBlockProps): ReactNode {
  return (
    <>
      <UnitHead element={element} before={before} />
      <div className="element" data-type={element.type}>
        <Body resourceId={resourceId} element={element} marks={marks} />
      </div>
    </>
  );
}

/** A line before the first element of a page, slide or sheet. */
function UnitHead({ element, before }: { element: Element; before?: Element | undefined }): ReactNode {
  const { slide, page, sheet } = element.locator;
  if (slide !== undefined && slide !== before?.locator.slide) return <p className="unit-head">{t.slide(slide)}</p>;
  if (page !== undefined && page !== before?.locator.page) return <p className="unit-head">{`${t.page} ${page}`}</p>;
  if (sheet !== undefined && sheet !== before?.locator.sheet)
    return <p className="unit-head">{`${t.sheet} ${sheet}`}</p>;
  return null;
}

function Body({ resourceId, element, marks }: Omit<ElementBlockProps, "before">): ReactNode {
  const text = <Marked text={element.text} ranges={marks?.ranges ?? []} />;
  switch (element.type) {
    case "title": {
      const Heading = `h${Math.min(Math.max((element.level ?? 1) + 2, 3), 6)}` as "h3";
      return <Heading>{text}</Heading>;
    }
    case "list_item":
      return (
        <p
          className={NUMBERED.test(element.text) ? undefined : "list-line"}
          style={{ marginLeft: `${((element.level ?? 1) - 1) * 18}px` }}
        >
          {text}
        </p>
      );
    case "code":
      return <pre>{text}</pre>;
    case "table":
      return element.html ? <TableBlock html={element.html} rows={marks?.rows} /> : <pre>{text}</pre>;
    case "image":
      return (
        <figure>
          {element.blob && (
            <img src={blobAddress(resourceId, element.blob)} alt={element.text || t.picture} loading="lazy" />
          )}
          {element.text && <figcaption className="muted small">{text}</figcaption>}
        </figure>
      );
    default:
      return <p>{text}</p>;
  }
}

/** A text with some of its parts marked. */
export function Marked({ text, ranges }: { text: string; ranges: [number, number][] }): ReactNode {
  if (!ranges.length) return text;
  const parts: ReactNode[] = [];
  let from = 0;
  for (const [start, end] of ranges) {
    parts.push(text.slice(from, start), <mark key={start}>{text.slice(start, end)}</mark>);
    from = end;
  }
  parts.push(text.slice(from));
  return parts;
}

function TableBlock({ html, rows }: { html: string; rows: Set<number> | undefined }): ReactNode {
  const table = useMemo(() => readTable(html), [html]);
  return (
    <div className="table-scroll text-table" tabIndex={0} role="region" aria-label={t.tableName}>
      <table>
        <tbody>
          {placed(table).map(({ at: row, item: cells }) => (
            <tr key={row} data-marked={rows?.has(row) || undefined}>
              {placed(cells).map(({ at: column, item: cell }) => (
                <Cell key={column} cell={cell} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ cell }: { cell: HtmlTable[number][number] }): ReactNode {
  const Tag = cell.isHead ? "th" : "td";
  return (
    <Tag rowSpan={cell.rowSpan} colSpan={cell.colSpan}>
      {cell.text}
    </Tag>
  );
}
