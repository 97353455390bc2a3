// States of a screen other than its content: a remark, an error, nothing there, not there yet.
import { AlertCircle, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { t } from "../strings";
import { Button } from "./Button";

const KINDS = {
  info: { Icon: Info, className: "notice" },
  warn: { Icon: TriangleAlert, className: "notice notice-warn" },
  error: { Icon: AlertCircle, className: "notice notice-error" },
} as const;

export function Notice({ kind = "info", children }: { kind?: keyof typeof KINDS; children: ReactNode }): ReactNode {
  const { Icon, className } = KINDS[kind];
  return (
    <div className={className} role={kind === "error" ? "alert" : undefined}>
      <Icon size={17} aria-hidden />
      <div className="grow">{children}</div>
    </div>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }): ReactNode {
  return (
    <Notice kind="error">
      <div className="spread">
        <span>{error instanceof ApiError ? error.message : t.noConnection}</span>
        {onRetry && (
          <Button small onClick={onRetry}>
            {t.tryAgain}
          </Button>
        )}
      </div>
    </Notice>
  );
}

export function Empty({ icon, title, children }: { icon?: ReactNode; title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      {icon}
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Loading({ lines = 4 }: { lines?: number }): ReactNode {
  return (
    <div className="stack" role="status" aria-label={t.loading}>
      {Array.from({ length: lines }, (_, at) => 92 - ((at * 17) % 40)).map((percent) => (
        <div key={percent} className="skeleton" style={{ height: 20, width: `${percent}%` }} />
      ))}
    </div>
  );
}
