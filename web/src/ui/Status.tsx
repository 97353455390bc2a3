// The state of a file as a word with a colour.
import type { ReactNode } from "react";
import { isBusy } from "../api/queries";
import { t } from "../strings";

const KINDS: Record<string, string> = { indexed: "ok", analyzed: "ok", described: "ok", partial: "warn", failed: "error" };

export function Status({ status }: { status: string }): ReactNode {
  const kind = KINDS[status] ?? (isBusy({ status }) ? "busy" : "");
  return <span className={kind ? `badge badge-${kind}` : "badge"}>{t.status[status] ?? status}</span>;
}
