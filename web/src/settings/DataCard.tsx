// All that is kept of you: taken along as an archive, or erased, with a receipt of what was removed where.
import { Download, Trash2 } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { formatNumber } from "../lib/format";
import { saveText } from "../lib/save";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Notice } from "../ui/Notice";
import { abandonUnsent } from "../upload/unsent";
import { Section } from "./Section";

type Receipt = Schemas["ErasureOut"];
/** What the server asks for, word for word. */
const WORDS = "erase everything";

/** hasAccount: whether there is an account that is erased, too. */
export function DataCard({ hasAccount }: { hasAccount: boolean }): ReactNode {
  const [isErasing, setErasing] = useState(false);
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const close = (): void => {
    if (receipt) window.location.assign("/");
    else setErasing(false);
  };
  return (
    <Section title={t.dataTitle} text={t.dataText}>
      <div className="row wrap">
        <a className="button" href="/export" download>
          <Download size={16} aria-hidden />
          {t.dataExport}
        </a>
        <Button kind="quiet" onClick={() => setErasing(true)}>
          <Trash2 size={16} aria-hidden />
          {t.dataErase}
        </Button>
      </div>
      <Dialog
        open={isErasing}
        onClose={close}
        title={receipt ? t.erasureTitle : t.dataErase}
        description={receipt ? undefined : t.dataEraseText(hasAccount)}
      >
        {receipt ? (
          <ReceiptView receipt={receipt} onClose={close} />
        ) : (
          <EraseForm onErased={setReceipt} onClose={close} />
        )}
      </Dialog>
    </Section>
  );
}

function EraseForm({ onErased, onClose }: { onErased: (receipt: Receipt) => void; onClose: () => void }): ReactNode {
  const [words, setWords] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      const receipt = await unwrap(api.POST("/erasure", { body: { confirm: words } }));
      abandonUnsent();
      onErased(receipt);
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>{t.dataConfirm(WORDS)}</span>
        <input className="input" autoComplete="off" value={words} onChange={(event) => setWords(event.target.value)} />
      </label>
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="danger" type="submit" disabled={isBusy || words.trim() !== WORDS}>
          {t.dataErase}
        </Button>
      </div>
    </form>
  );
}

function ReceiptView({ receipt, onClose }: { receipt: Receipt; onClose: () => void }): ReactNode {
  const places = receipt.removed.filter(({ before, after }) => before > 0 || after > 0);
  return (
    <div className="stack">
      <Notice kind={receipt.complete ? "info" : "warn"}>
        {receipt.complete ? t.erasureComplete : t.erasureIncomplete}
      </Notice>
      <div className="table-scroll erased-places" tabIndex={0} role="region" aria-label={t.erasureTitle}>
        <table className="usage-table">
          <thead>
            <tr>
              <th>{t.erasurePlace}</th>
              <th className="figure">{t.erasureBefore}</th>
              <th className="figure">{t.erasureAfter}</th>
            </tr>
          </thead>
          <tbody>
            {places.map(({ place, before, after }) => (
              <tr key={place}>
                <td>{place}</td>
                <td className="figure">{formatNumber(before)}</td>
                <td className="figure">{formatNumber(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {receipt.not_looked_into.length > 0 && (
        <p className="muted small">{t.erasureElsewhere(receipt.not_looked_into.join("; "))}</p>
      )}
      <div className="row form-end">
        <Button onClick={() => saveText("erasure-receipt.json", JSON.stringify(receipt, null, 2))}>
          {t.erasureSave}
        </Button>
        <Button kind="primary" onClick={onClose}>
          {t.close}
        </Button>
      </div>
    </div>
  );
}
