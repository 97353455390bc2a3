// The state of a file as a word with a colour.
import type { ReactNode } from "react";
import { isBusyStatus, lookUp, type Status as StatusCode, wordFor } from "../api/codes";
import { t } from "../strings";

const KINDS = { indexed: "ok", analyzed: "ok", described: "ok", partial: "warn", failed: "error" } satisfies Partial<
  Record<StatusCode, string>
>;

export function Status({ status }: { status: string }): ReactNode {
  const kind = lookUp<string>(KINDS, status) ?? (isBusyStatus(status) ? "busy" : "");
  return <span className={kind ? `badge badge-${kind}` : "badge"}>{wordFor(t.status, status)}</span>;
}
