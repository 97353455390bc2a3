// A secret that is shown once, to be copied.
import { Copy } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { notify, notifyError } from "../ui/Toasts";

interface SecretProps {
  secret: string;
  label: string;
  /** What is said of it being shown once. */
  once: string;
  /** What is said when it was copied. */
  copied: string;
  /** What copies it. */
  action: string;
  onClose: () => void;
}

export function Secret({ secret, label, once, copied, action, onClose }: SecretProps): ReactNode {
  const copy = (): void => void navigator.clipboard.writeText(secret).then(() => notify(copied), notifyError);
  return (
    <div className="stack">
      <Notice kind="warn">{once}</Notice>
      <div className="secret">
        <input
          className="input secret-value"
          readOnly
          aria-label={label}
          value={secret}
          onFocus={(event) => event.target.select()}
        />
        <Button kind="primary" onClick={copy}>
          <Copy size={15} aria-hidden />
          {action}
        </Button>
      </div>
      <div className="row form-end">
        <Button onClick={onClose}>{t.close}</Button>
      </div>
    </div>
  );
}
