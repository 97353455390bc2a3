// The chats, newest first by day; search, rename, export, delete. Thousands of them stay smooth.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Download, Ellipsis, FileJson, Pencil, Search, Trash2 } from "lucide-react";
import { type FormEvent, memo, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, request, type Thread, unwrap } from "../api/client";
import { queryClient, threadsQuery } from "../api/queries";
import { useDebounced } from "../lib/hooks";
import { saveText } from "../lib/save";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm, Dialog } from "../ui/Dialog";
import { Menu } from "../ui/Menu";
import { notifyError } from "../ui/Toasts";
import { groupByDay } from "./days";
import { liveTurns } from "./turns";

const ROW = 34;

export function ThreadList(): ReactNode {
  const [typed, setTyped] = useState("");
  const search = useDebounced(typed.trim());
  const threads = useInfiniteQuery(threadsQuery(search));
  const all = useMemo(() => threads.data?.pages.flatMap((page) => page.threads) ?? [], [threads.data]);
  const rows = useMemo(() => groupByDay(all), [all]);
  const scroller = useRef<HTMLDivElement>(null);
  const [path] = useLocation();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = threads;

  useEffect(() => {
    if (last >= rows.length - 20 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);

  return (
    <section className="threads" aria-label={t.threads}>
      <label className="search-field threads-search">
        <Search size={15} aria-hidden />
        <input
          className="input threads-input"
          type="search"
          aria-label={t.searchThreads}
          placeholder={t.searchThreads}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      <div className="threads-scroll" ref={scroller}>
        {threads.isSuccess && !all.length && (
          <p className="muted small threads-none">{search ? t.nothingFound : t.noThreads}</p>
        )}
        <div className="virtual" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <div
                // Not its place: an open menu or dialog stays with its chat when another one moves to the top.
                key={"heading" in row ? row.heading : row.thread.id}
                className="virtual-row"
                style={{ height: ROW, transform: `translateY(${item.start}px)` }}
              >
                {"heading" in row ? (
                  <h2 className="threads-day">{row.heading}</h2>
                ) : (
                  <ThreadRow thread={row.thread} isCurrent={path === `/conversations/${row.thread.id}`} />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

const ThreadRow = memo(function ThreadRow({ thread, isCurrent }: { thread: Thread; isCurrent: boolean }): ReactNode {
  const [dialog, setDialog] = useState<"rename" | "delete" | null>(null);
  const [, navigate] = useLocation();
  const isBusy = useStore(liveTurns, (all) =>
    ["thinking", "streaming", "reconnecting"].includes(all[thread.id]?.phase ?? ""),
  );
  const params = { params: { path: { thread_id: thread.id } } };
  const close = (): void => setDialog(null);

  const exportAs = async (format: "markdown" | "json"): Promise<void> => {
    const response = await request(`/threads/${encodeURIComponent(thread.id)}/export?format=${format}`);
    saveText(`${thread.title}.${format === "json" ? "json" : "md"}`, await response.text());
  };
  const remove = async (): Promise<void> => {
    await unwrap(api.DELETE("/threads/{thread_id}", params));
    void queryClient.invalidateQueries({ queryKey: ["threads"] });
    if (isCurrent) navigate("/");
  };
  return (
    <div className="thread" data-current={isCurrent || undefined}>
      <Link
        href={`/conversations/${thread.id}`}
        className="thread-link truncate"
        aria-current={isCurrent ? "page" : undefined}
      >
        {isBusy && <span className="thread-live" aria-hidden />}
        {thread.title}
      </Link>
      <Menu
        align="end"
        trigger={
          <button
            type="button"
            className="icon-button icon-button-small thread-menu"
            aria-label={t.threadMenu(thread.title)}
          >
            <Ellipsis size={16} aria-hidden />
          </button>
        }
        items={[
          { label: t.rename, icon: <Pencil size={15} aria-hidden />, onSelect: () => setDialog("rename") },
          {
            label: t.exportMarkdown,
            icon: <Download size={15} aria-hidden />,
            onSelect: () => void exportAs("markdown").catch(notifyError),
          },
          {
            label: t.exportJson,
            icon: <FileJson size={15} aria-hidden />,
            onSelect: () => void exportAs("json").catch(notifyError),
          },
          "separator",
          {
            label: t.delete,
            icon: <Trash2 size={15} aria-hidden />,
            danger: true,
            onSelect: () => setDialog("delete"),
          },
        ]}
      />
      {dialog === "rename" && <RenameThread thread={thread} onClose={close} />}
      {dialog === "delete" && (
        <Confirm
          open
          title={t.deleteThread}
          text={t.deleteThreadText(thread.title)}
          action={t.delete}
          onConfirm={() => remove().catch(notifyError)}
          onClose={close}
        />
      )}
    </div>
  );
});

function RenameThread({ thread, onClose }: { thread: Thread; onClose: () => void }): ReactNode {
  const [title, setTitle] = useState(thread.title);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await unwrap(
        api.PATCH("/threads/{thread_id}", {
          params: { path: { thread_id: thread.id } },
          body: { title: title.trim() },
        }),
      );
      void queryClient.invalidateQueries({ queryKey: ["threads"] });
      void queryClient.invalidateQueries({ queryKey: ["thread", thread.id] });
    } catch (error) {
      notifyError(error);
    }
    onClose();
  };
  return (
    <Dialog open onClose={onClose} title={t.renameThread}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <label className="field">
          <span>{t.threadTitle}</span>
          <input
            className="input"
            value={title}
            maxLength={200}
            required
            autoFocus
            onChange={(event) => setTitle(event.target.value)}
          />
        </label>
        <div className="row form-end">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button kind="primary" type="submit" disabled={!title.trim()}>
            {t.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
