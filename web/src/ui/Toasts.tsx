// Short messages in a corner, read out to screen readers.
import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { t } from "../strings";

const manager = Toast.createToastManager();

/** Say something in passing. */
export function notify(title: string): void {
  manager.add({ title });
}

/** Say that something went wrong, in the server's own words where it has any. */
export function notifyError(error: unknown): void {
  manager.add({ title: error instanceof ApiError ? error.message : t.noConnection, priority: "high" });
}

export function Toasts({ children }: { children: ReactNode }): ReactNode {
  return (
    <Toast.Provider toastManager={manager} timeout={5_000}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList(): ReactNode {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <div className="grow">
        <Toast.Title className="toast-title" />
        <Toast.Description className="muted" />
      </div>
      <Toast.Close className="icon-button icon-button-small" aria-label={t.close}>
        <X size={15} aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ));
}
