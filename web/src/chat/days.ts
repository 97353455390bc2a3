// Threads under the headings Today, Yesterday, and so on.
import type { Thread } from "../api/client";
import { t } from "../strings";

export type ThreadRowItem = { heading: string } | { thread: Thread };

const DAY = 86_400_000;

/** Threads, which come newest first, with a heading before the first of each span of days. */
export function groupByDay(threads: readonly Thread[], now = new Date()): ThreadRowItem[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const heading = (iso: string): string => {
    const time = new Date(iso).getTime();
    if (time >= midnight) return t.today;
    if (time >= midnight - DAY) return t.yesterday;
    return time >= midnight - 7 * DAY ? t.lastWeek : t.earlier;
  };
  const rows: ThreadRowItem[] = [];
  let present = "";
  for (const thread of threads) {
    const next = heading(thread.updated_at);
    if (next !== present) rows.push({ heading: next });
    present = next;
    rows.push({ thread });
  }
  return rows;
}
