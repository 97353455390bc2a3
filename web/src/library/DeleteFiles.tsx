// Deleting files: asks first, says how far it is, and shows the receipt of what was removed.
import { Check, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiError, api, type Resource, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { formatNumber } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Notice } from "../ui/Notice";
import { type Receipt, sumReceipts } from "./receipt";

interface DeleteFilesProps {
  /** What to delete; null when nothing is asked. */
  files: readonly Resource[] | null;
  onClose: () => void;
  /** Called once something is gone, when the receipt is put away. */
  onDeleted: () => void;
}

type Phase =
  | { name: "asking" }
  | { name: "deleting"; done: number }
  | { name: "done"; receipts: Receipt[]; problems: string[] };

export function DeleteFiles({ files, onClose, onDeleted }: DeleteFilesProps): ReactNode {
  return files && <DeleteDialog files={files} onClose={onClose} onDeleted={onDeleted} />;
}

function DeleteDialog({ files, onClose, onDeleted }: DeleteFilesProps & { files: readonly Resource[] }): ReactNode {
  const [phase, setPhase] = useState<Phase>({ name: "asking" });
  const only = files.length === 1 ? files[0] : undefined;

  const run = async (): Promise<void> => {
    const receipts: Receipt[] = [];
    const problems: string[] = [];
    for (const [done, file] of files.entries()) {
      setPhase({ name: "deleting", done });
      try {
        receipts.push(await deleteFile(file.id));
      } catch (error) {
        problems.push(`${file.filename}: ${error instanceof ApiError ? error.message : t.noConnection}`);
      }
    }
    setPhase({ name: "done", receipts, problems });
    await queryClient.invalidateQueries({ queryKey: ["resources"] });
  };
  const close = (): void => {
    if (phase.name === "deleting") return;
    if (phase.name === "done" && phase.receipts.length) onDeleted();
    onClose();
  };
  if (phase.name === "done") {
    return (
      <Dialog
        open
        onClose={close}
        title={t.receiptTitle}
        description={t.receiptText}
        actions={<Button onClick={close}>{t.close}</Button>}
      >
        <ReceiptLines receipts={phase.receipts} problems={phase.problems} />
      </Dialog>
    );
  }
  const busy = phase.name === "deleting";
  return (
    <Dialog
      open
      onClose={close}
      title={only ? t.deleteFile : t.deleteFiles(files.length)}
      actions={
        <>
          <Button onClick={close} disabled={busy}>
            {t.cancel}
          </Button>
          <Button kind="danger" disabled={busy} onClick={() => void run()}>
            {t.delete}
          </Button>
        </>
      }
    >
      <p>{only ? t.deleteFileText(only.filename) : t.deleteFilesText(files.length)}</p>
      {phase.name === "deleting" && files.length > 1 && (
        <div
          className="progress delete-progress"
          role="progressbar"
          aria-label={t.deleting}
          aria-valuemax={files.length}
          aria-valuenow={phase.done}
        >
          <div className="progress-bar" style={{ width: `${(phase.done / files.length) * 100}%` }} />
        </div>
      )}
    </Dialog>
  );
}

function ReceiptLines({
  receipts,
  problems,
}: {
  receipts: readonly Receipt[];
  problems: readonly string[];
}): ReactNode {
  return (
    <div className="stack">
      {receipts.length > 0 && (
        <dl className="receipt">
          {sumReceipts(receipts).map(({ key, count }) => {
            const isRemainder = key === "vectors_left";
            const Icon = isRemainder && count > 0 ? TriangleAlert : Check;
            return (
              <div key={key} className={isRemainder && count > 0 ? "receipt-line receipt-warn" : "receipt-line"}>
                <Icon size={15} aria-hidden />
                <dt>{t.receipt[key]}</dt>
                <dd className="tabular">{formatNumber(count)}</dd>
              </div>
            );
          })}
        </dl>
      )}
      {problems.map((problem) => (
        <Notice key={problem} kind="error">
          {problem}
        </Notice>
      ))}
    </div>
  );
}

function deleteFile(id: string): Promise<Receipt> {
  return unwrap(api.DELETE("/resources/{resource_id}", { params: { path: { resource_id: id } } }));
}
