// What was extracted and what is indexed, in reading order; each opens its place in the original, shown next to the list.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Resource } from "../api/client";
import { ELEMENT_TYPES, oneOf } from "../api/codes";
import { formatNumber } from "../lib/format";
import { useMedia } from "../lib/hooks";
import { t } from "../strings";
import { Empty, Failure, Loading } from "../ui/Notice";
import { openViewer, viewer } from "../viewer/state";
import { ContentItem } from "./ContentItem";
import { reportOf } from "./coverage";
import { type Item, itemOfChunk, itemOfElement, overlayOf } from "./items";
import { chunksQuery, type ElementType, elementsQuery } from "./queries";

type Kind = "elements" | "chunks";
const BESIDE = "(min-width: 1100px)";

export function Contents({ resource }: { resource: Resource }): ReactNode {
  const [kind, setKind] = useState<Kind>("elements");
  const [type, setType] = useState<ElementType | null>(null);
  useEffect(() => () => viewer.set((open) => open && { ...open, overlay: [] }), []);
  return (
    <div className="stack">
      <div className="contents-head">
        <div className="segmented" role="group" aria-label={t.contents}>
          {(["elements", "chunks"] as const).map((one) => (
            <button key={one} type="button" aria-pressed={kind === one} onClick={() => setKind(one)}>
              {one === "elements" ? t.elements : t.chunks}
              <span className="muted tabular">
                {formatNumber(one === "elements" ? (reportOf(resource)?.elements ?? 0) : resource.chunk_count)}
              </span>
            </button>
          ))}
        </div>
        {kind === "elements" && (
          <label>
            <span className="visually-hidden">{t.elementKinds}</span>
            <select
              className="select"
              value={type ?? ""}
              onChange={(event) => setType(oneOf(ELEMENT_TYPES, event.target.value) ?? null)}
            >
              <option value="">{t.allElements}</option>
              {ELEMENT_TYPES.map((one) => (
                <option key={one} value={one}>
                  {t.elementType[one]}
                </option>
              ))}
            </select>
          </label>
        )}
        <span className="muted small">{kind === "elements" ? t.elementsText : t.chunksText}</span>
      </div>
      {kind === "elements" ? <Elements key={type} resource={resource} type={type} /> : <Chunks resource={resource} />}
    </div>
  );
}

function Elements({ resource, type }: { resource: Resource; type: ElementType | null }): ReactNode {
  const found = useInfiniteQuery(elementsQuery(resource.id, resource.version, type));
  const items = useMemo(
    () => found.data?.pages.flatMap((page) => page.elements).map(itemOfElement) ?? [],
    [found.data],
  );
  return <Items resource={resource} items={items} found={found} />;
}

function Chunks({ resource }: { resource: Resource }): ReactNode {
  const found = useInfiniteQuery(chunksQuery(resource.id, resource.version, resource.chunk_count));
  const items = useMemo(() => found.data?.pages.flatMap((page) => page.chunks).map(itemOfChunk) ?? [], [found.data]);
  return <Items resource={resource} items={items} found={found} />;
}

interface ItemsProps {
  resource: Resource;
  items: readonly Item[];
  found: {
    isPending: boolean;
    isError: boolean;
    error: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
    refetch: () => unknown;
  };
}

function Items({ resource, items, found }: ItemsProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const isWide = useMedia(BESIDE);
  const [active, setActive] = useState<string | null>(null);
  const overlay = useMemo(() => overlayOf(items), [items]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 92,
    overscan: 8,
    getItemKey: (index) => items[index]?.id ?? index,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= items.length - 40) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, items.length]);
  // The original is shown next to what was read of it; where there is no room for both, it opens on request.
  const hasItems = items.length > 0;
  useEffect(() => {
    if (viewer.get()?.resourceId === resource.id) viewer.set((open) => open && { ...open, overlay });
    else if (isWide && hasItems) openViewer({ resourceId: resource.id, filename: resource.filename, overlay });
  }, [isWide, hasItems, overlay, resource.id, resource.filename]);

  if (found.isPending) return <Loading lines={8} />;
  if (found.isError) return <Failure error={found.error} onRetry={() => void found.refetch()} />;
  if (!items.length) return <Empty title={t.noElements} />;
  const show = (item: Item): void => {
    setActive(item.id);
    openViewer({
      resourceId: resource.id,
      filename: resource.filename,
      locator: item.locator,
      quote: item.text,
      overlay,
    });
  };
  return (
    <div className="items" ref={scroller} tabIndex={0} role="list" aria-label={t.contents}>
      <div className="items-inner" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start, key }) => {
          const item = items[index];
          return (
            item && (
              <div
                key={key}
                role="listitem"
                ref={virtual.measureElement}
                data-index={index}
                className="item-place"
                style={{ transform: `translateY(${start}px)` }}
              >
                <ContentItem
                  item={item}
                  number={index + 1}
                  isActive={item.id === active}
                  onShow={() => show(item)}
                  resourceId={resource.id}
                />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}
