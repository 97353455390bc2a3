// What can be done with the files that are ticked.
import { MessageSquareText, RefreshCw, Trash2, X } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import type { Resource } from "../api/client";
import { pendingScope } from "../chat/pending";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { notify, notifyError } from "../ui/Toasts";
import { useMayChange } from "../workspace/workspaces";
import { reindex } from "./actions";

interface SelectionBarProps {
  chosen: readonly Resource[];
  onDelete: () => void;
  onClear: () => void;
}

export function SelectionBar({ chosen, onDelete, onClear }: SelectionBarProps): ReactNode {
  const [, navigate] = useLocation();
  const mayChange = chosen.every(useMayChange());
  const ask = (): void => {
    pendingScope.set({ resource_ids: chosen.map(({ id }) => id) });
    navigate("/");
  };
  const again = async (): Promise<void> => {
    const done = await Promise.allSettled(chosen.map(({ id }) => reindex(id)));
    const failed = done.find((result) => result.status === "rejected");
    if (failed) notifyError(failed.reason);
    else notify(t.reindexed);
    onClear();
  };
  return (
    <div className="selection-bar" role="toolbar" aria-label={t.selection}>
      <strong className="tabular" aria-live="polite">
        {t.selected(chosen.length)}
      </strong>
      <span className="grow" />
      <Button small onClick={ask}>
        <MessageSquareText size={15} aria-hidden />
        {t.askAboutThese}
      </Button>
      {mayChange && (
        <>
          <Button small onClick={() => void again()}>
            <RefreshCw size={15} aria-hidden />
            {t.reindex}
          </Button>
          <Button small kind="danger" onClick={onDelete}>
            <Trash2 size={15} aria-hidden />
            {t.delete}
          </Button>
        </>
      )}
      <IconButton small label={t.clearSelection} onClick={onClear}>
        <X size={16} aria-hidden />
      </IconButton>
    </div>
  );
}
