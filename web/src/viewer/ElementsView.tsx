// A document as what was extracted of it: headings, paragraphs, lists, tables, pictures; the passage marked.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { api, type Resource, unwrap } from "../api/client";
import { t } from "../strings";
import { Empty, Failure, Loading, Notice } from "../ui/Notice";
import { ElementBlock } from "./ElementBlock";
import { MailHead } from "./MailHead";
import { type Element, findPassage } from "./passage";
import type { Target } from "./state";

const BATCH = 500;
const ESTIMATE = 64;

export function ElementsView({ resource, target }: { resource: Resource; target: Target }): ReactNode {
  const query = useInfiniteQuery({
    queryKey: ["elements", resource.id, resource.version],
    queryFn: ({ pageParam }) =>
      unwrap(
        api.GET("/resources/{resource_id}/elements", {
          params: { path: { resource_id: resource.id }, query: { limit: BATCH, cursor: pageParam } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    staleTime: Infinity,
  });
  const elements = useMemo(() => query.data?.pages.flatMap((page) => page.elements) ?? [], [query.data]);
  const marks = useMemo(() => findPassage(elements, target.locator, target.quote), [elements, target]);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;

  // The passage may be anywhere, so pages are fetched until it is found.
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && !(marks.size && elements.length > BATCH)) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, marks, elements]);

  if (query.isPending)
    return (
      <div className="viewer-loading">
        <Loading lines={10} />
      </div>
    );
  if (query.isError)
    return (
      <div className="viewer-loading">
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      </div>
    );
  if (!elements.length) return <Empty title={t.noElements} />;
  return (
    <>
      {target.quote && !marks.size && !hasNextPage && (
        <div className="viewer-note">
          <Notice kind="warn">{t.notInVersion}</Notice>
        </div>
      )}
      <ElementList
        resource={resource}
        elements={elements}
        marks={marks}
        nonce={target.nonce}
        onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
      />
    </>
  );
}

interface ElementListProps {
  resource: Resource;
  elements: Element[];
  marks: ReturnType<typeof findPassage>;
  nonce: number;
  onEnd: () => void;
}

function ElementList({ resource, elements, marks, nonce, onEnd }: ElementListProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: elements.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ESTIMATE,
    overscan: 14,
    paddingStart: 18,
    paddingEnd: 60,
  });
  const first = elements.findIndex((element) => marks.has(element.id));
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= elements.length - 30) onEnd();
  }, [last, elements.length, onEnd]);

  const gone = useRef("");
  useEffect(() => {
    const aim = `${nonce} ${first}`;
    if (first < 0 || gone.current === aim) return;
    gone.current = aim;
    virtual.scrollToIndex(first, { align: "center" });
    // Heights are known only after drawing: scroll again then, to the marked words themselves.
    const settle = setTimeout(
      () => scroller.current?.querySelector("mark, [data-marked]")?.scrollIntoView({ block: "center" }),
      120,
    );
    return () => clearTimeout(settle);
  }, [first, nonce, virtual]);

  return (
    <div className="elements" ref={scroller} tabIndex={0} role="document" aria-label={resource.filename}>
      <MailHead resource={resource} />
      <div className="virtual" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const element = elements[item.index];
          if (!element) return null;
          return (
            <div
              key={element.id}
              ref={virtual.measureElement}
              data-index={item.index}
              className="virtual-row elements-row"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <ElementBlock
                resourceId={resource.id}
                element={element}
                before={elements[item.index - 1]}
                marks={marks.get(element.id)}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}
