// Starts building the index of another model, while the present one goes on answering.
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { oneOf } from "../api/codes";
import { queryClient } from "../api/queries";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Notice } from "../ui/Notice";

type Provider = NonNullable<Schemas["IndexIn"]["provider"]>;
const PROVIDERS: readonly Provider[] = ["builtin", "openai", "voyage", "pinecone", "fastembed"];

export function BuildIndex({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  return (
    <Dialog open={open} onClose={onClose} title={t.buildIndexTitle} description={t.buildIndexText}>
      <BuildForm onClose={onClose} />
    </Dialog>
  );
}

function BuildForm({ onClose }: { onClose: () => void }): ReactNode {
  const [provider, setProvider] = useState<Provider>("openai");
  const [model, setModel] = useState("");
  const [dimensions, setDimensions] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await unwrap(
        api.POST("/indexes", {
          body: {
            provider,
            model: model.trim() || null,
            dimensions: dimensions ? Number(dimensions) : null,
            mode: "dual",
            confirm: false,
            pause_seconds: 0,
          },
        }),
      );
      await queryClient.invalidateQueries({ queryKey: ["indexes"] });
      onClose();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
      setBusy(false);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <label className="field">
        <span>{t.providerLabel}</span>
        <select
          className="select"
          value={provider}
          onChange={(event) => setProvider(oneOf(PROVIDERS, event.target.value) ?? provider)}
        >
          {PROVIDERS.map((one) => (
            <option key={one} value={one}>
              {t.provider[one]}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>{t.model}</span>
        <input
          className="input"
          value={model}
          maxLength={200}
          placeholder={t.modelHint}
          onChange={(event) => setModel(event.target.value)}
        />
      </label>
      <label className="field">
        <span>{t.indexDimensions}</span>
        <input
          className="input"
          type="number"
          min={1}
          max={65_536}
          value={dimensions}
          placeholder={t.modelHint}
          onChange={(event) => setDimensions(event.target.value)}
        />
      </label>
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit" disabled={isBusy}>
          {t.buildIndex}
        </Button>
      </div>
    </form>
  );
}
