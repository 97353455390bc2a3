// The state of a file as a word with a colour.
import type { ReactNode } from "react";
import { isBusyStatus, lookUp, type Status as StatusCode, wordFor } from "../api/codes";
import { t } from "../strings";

const CLASSES = {
  indexed: "badge badge-ok",
  analyzed: "badge badge-ok",
  described: "badge badge-ok",
  partial: "badge badge-warn",
  failed: "badge badge-error",
} satisfies Partial<Record<StatusCode, string>>;

export function Status({ status }: { status: string }): ReactNode {
  const className = lookUp<string>(CLASSES, status) ?? (isBusyStatus(status) ? "badge badge-busy" : "badge");
  return <span className={className}>{wordFor(t.status, status)}</span>;
}
