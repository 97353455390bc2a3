// A dialog with a title, a body and a close button; Esc and the backdrop close it, and focus returns where it was.
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { t } from "../strings";
import { Button } from "./Button";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  wide?: boolean;
  children?: ReactNode;
  actions?: ReactNode;
}

export function Dialog({ open, onClose, title, description, wide = false, children, actions }: DialogProps): ReactNode {
  const opener = useOpener(open);
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup
          className={wide ? "dialog dialog-wide" : "dialog"}
          finalFocus={() => (opener?.isConnected && opener !== document.body ? opener : true)}
        >
          <div className="dialog-head">
            <div className="grow">
              <Base.Title className="dialog-title">{title}</Base.Title>
              {description && <Base.Description className="muted small">{description}</Base.Description>}
            </div>
            <Base.Close className="icon-button" aria-label={t.close}>
              <X size={18} aria-hidden />
            </Base.Close>
          </div>
          <div className="dialog-body">{children}</div>
          {actions && <div className="dialog-actions">{actions}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** What had the focus when a dialog was opened; of a menu, which is gone by the time it closes, the button. */
function useOpener(open: boolean): HTMLElement | null {
  const [opener, setOpener] = useState<HTMLElement | null>(null);
  const [wasOpen, setWasOpen] = useState(false);
  if (open !== wasOpen) {
    setWasOpen(open);
    const focused = document.activeElement;
    const menu = focused?.closest("[role='menu']");
    const button = menu && document.getElementById(menu.getAttribute("aria-labelledby") ?? "");
    if (open) setOpener(button ?? (focused instanceof HTMLElement ? focused : null));
  }
  return opener;
}

interface ConfirmProps {
  open: boolean;
  title: string;
  text: ReactNode;
  action: string;
  onConfirm: () => Promise<void> | void;
  onClose: () => void;
}

/** The value as it was while something was open: what it tells of may be gone while that closes. */
function useWhileOpen<T>(open: boolean, value: T): T {
  const [kept, setKept] = useState(value);
  if (open && kept !== value) setKept(value);
  return open ? value : kept;
}

/** Asks before something that cannot be undone. */
export function Confirm({ open, title, text, action, onConfirm, onClose }: ConfirmProps): ReactNode {
  const [busy, setBusy] = useState(false);
  const [shownTitle, shownText] = [useWhileOpen(open, title), useWhileOpen(open, text)];
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
    } finally {
      setBusy(false);
      onClose();
    }
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={shownTitle}
      actions={
        <>
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button kind="danger" disabled={busy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {shownText}
    </Dialog>
  );
}
