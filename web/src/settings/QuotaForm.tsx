// The quotas of one person, for administrators: the server's default, none, or a limit of their own.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notify } from "../ui/Toasts";
import { QUOTA_FORMAT } from "./QuotaCard";
import { personQuotasQuery } from "./queries";

type Quota = Schemas["QuotaOut"];
type Kind = "default" | "none" | "own";
/** What one in a field stands for: sizes are given in gigabytes. */
const UNIT: Record<Quota["quota"], number> = { files: 1, bytes: 1e9, questions: 1, spend: 1 };

interface QuotaFormProps {
  personId: string;
  onClose: () => void;
}

export function QuotaForm({ personId, onClose }: QuotaFormProps): ReactNode {
  const quotas = useQuery(personQuotasQuery(personId));
  if (quotas.isPending) return <Loading lines={4} />;
  if (quotas.isError) return <Failure error={quotas.error} onRetry={() => void quotas.refetch()} />;
  return <Fields personId={personId} quotas={quotas.data} onClose={onClose} />;
}

interface Chosen {
  kind: Kind;
  value: string;
}

function chosenOf({ own, limit, quota }: Quota): Chosen {
  if (!own) return { kind: "default", value: "" };
  return limit === null ? { kind: "none", value: "" } : { kind: "own", value: String(limit / UNIT[quota]) };
}

function Fields({ personId, quotas, onClose }: QuotaFormProps & { quotas: readonly Quota[] }): ReactNode {
  const [chosen, setChosen] = useState(() => new Map(quotas.map((one) => [one.quota, chosenOf(one)])));
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const body: Schemas["QuotasIn"] = {};
    for (const [quota, { kind, value }] of chosen) {
      if (kind === "none") body[quota] = null;
      if (kind === "own") body[quota] = quota === "spend" ? Number(value) : Math.round(Number(value) * UNIT[quota]);
    }
    try {
      const path = { person_id: personId };
      await unwrap(api.PUT("/people/{person_id}/quotas", { params: { path }, body }));
      await queryClient.invalidateQueries({ queryKey: ["people", personId] });
      await queryClient.invalidateQueries({ queryKey: ["quotas"] });
      notify(t.quotasSaved);
      onClose();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
    }
  };
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      {quotas.map((one) => (
        <Field
          key={one.quota}
          quota={one}
          chosen={chosen.get(one.quota) ?? chosenOf(one)}
          onChange={(next) => setChosen(new Map(chosen).set(one.quota, next))}
        />
      ))}
      {problem && <Notice kind="error">{problem}</Notice>}
      <div className="row form-end">
        <Button onClick={onClose}>{t.cancel}</Button>
        <Button kind="primary" type="submit">
          {t.save}
        </Button>
      </div>
    </form>
  );
}

interface FieldProps {
  quota: Quota;
  chosen: Chosen;
  onChange: (next: Chosen) => void;
}

function Field({ quota, chosen, onChange }: FieldProps): ReactNode {
  const name = t.quotaField[quota.quota];
  return (
    <div className="field">
      <span className="row">
        <span className="grow">{name}</span>
        <span className="muted small">{t.quotaInUse(QUOTA_FORMAT[quota.quota](quota.used))}</span>
      </span>
      <span className="row">
        <select
          className="select grow"
          aria-label={name}
          value={chosen.kind}
          onChange={(event) => onChange({ ...chosen, kind: event.target.value as Kind })}
        >
          {(["default", "none", "own"] as const).map((kind) => (
            <option key={kind} value={kind}>
              {t.quotaKind[kind]}
            </option>
          ))}
        </select>
        {chosen.kind === "own" && (
          <input
            className="input grow"
            type="number"
            min={0}
            step="any"
            required
            aria-label={t.quotaLimit(name)}
            value={chosen.value}
            onChange={(event) => onChange({ kind: "own", value: event.target.value })}
          />
        )}
      </span>
    </div>
  );
}
