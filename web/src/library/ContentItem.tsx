// One element or chunk in the list.
import type { ReactNode } from "react";
import { placed } from "../lib/placed";
import { blobAddress } from "../lib/save";
import { t } from "../strings";
import type { Item } from "./items";

interface ContentItemProps {
  item: Item;
  /** From 1; the same as on the item's outline in the original. */
  number: number;
  isActive: boolean;
  resourceId: string;
  onShow: () => void;
}

const MOST_ROWS = 8;
const MOST_CHARACTERS = 700;

export function ContentItem({ item, number, isActive, resourceId, onShow }: ContentItemProps): ReactNode {
  return (
    <div className={isActive ? "item item-active" : "item"}>
      <button
        type="button"
        className="item-head small"
        aria-pressed={isActive}
        onClick={onShow}
        aria-label={`${number}. ${item.kind} ${item.place}: ${t.openSource}`}
      >
        <span className="item-number" data-tone={item.tone} aria-hidden>
          {number}
        </span>
        <span className="item-kind">{item.kind}</span>
        {item.place && <span className="muted">{item.place}</span>}
        <span className="grow" />
        {item.note && <span className="muted">{item.note}</span>}
      </button>
      {item.blob && <img className="item-picture" src={blobAddress(resourceId, item.blob)} alt="" loading="lazy" />}
      {item.grid ? <Grid grid={item.grid} headerRows={item.headerRows ?? 0} /> : <Words item={item} />}
    </div>
  );
}

function Words({ item }: { item: Item }): ReactNode {
  if (!item.text) return item.blob ? null : <p className="muted small">{t.noText}</p>;
  const text = item.text.length > MOST_CHARACTERS ? `${item.text.slice(0, MOST_CHARACTERS)}…` : item.text;
  return <p className={item.tone === "title" ? "item-text item-title" : "item-text"}>{text}</p>;
}

function Grid({ grid, headerRows }: { grid: readonly string[][]; headerRows: number }): ReactNode {
  return (
    <div className="item-grid">
      <table>
        <tbody>
          {placed(grid.slice(0, MOST_ROWS)).map(({ at, item: row }) => (
            <tr key={at} className={at < headerRows ? "grid-header" : undefined}>
              {placed(row).map(({ at: column, item: cell }) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {grid.length > MOST_ROWS && <span className="muted small">{t.moreRows(grid.length - MOST_ROWS)}</span>}
    </div>
  );
}
