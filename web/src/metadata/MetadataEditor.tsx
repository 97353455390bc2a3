// Rows of a key, a type and a value; keys and values that files have are offered.
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { oneOf } from "../api/codes";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { facetsQuery, type KnownKey, knownKeys } from "./facets";
import { emptyRow, type MetadataRow, type RowProblem, VALUE_KINDS } from "./values";

/** A key of metadata that the server has refused, and why. */
export interface Refusal {
  key: string | null;
  message: string;
}

interface MetadataEditorProps {
  rows: readonly MetadataRow[];
  problems: ReadonlyMap<number, RowProblem>;
  refusal?: Refusal | null | undefined;
  onRows: (rows: MetadataRow[]) => void;
}

export function MetadataEditor({ rows, problems, refusal, onRows }: MetadataEditorProps): ReactNode {
  const known = knownKeys(useQuery(facetsQuery()).data?.facets ?? []);
  const keys = useId();
  const change = (id: number, part: Partial<MetadataRow>): void =>
    onRows(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const pickKey = (row: MetadataRow, key: string): void => {
    const found = known.find((one) => one.key === key.trim());
    // A key that files have brings its type along, unless a value was already entered.
    change(row.id, found && !row.value ? { key, kind: found.kind, value: startOf(found) } : { key });
  };
  return (
    <fieldset className="metadata-editor">
      <legend>{t.metadata}</legend>
      <datalist id={keys}>
        {known.map(({ key }) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      {rows.map((row) => (
        <Row
          key={row.id}
          row={row}
          keys={keys}
          values={known.find(({ key }) => key === row.key.trim())?.values ?? []}
          problem={problemText(problems.get(row.id)) ?? (refusal?.key === row.key.trim() ? refusal.message : null)}
          onKey={(key) => pickKey(row, key)}
          onChange={(part) => change(row.id, part)}
          onRemove={() => onRows(rows.filter(({ id }) => id !== row.id))}
        />
      ))}
      <Button small kind="quiet" onClick={() => onRows([...rows, emptyRow()])}>
        <Plus size={15} aria-hidden />
        {t.addMetadata}
      </Button>
    </fieldset>
  );
}

const startOf = ({ kind }: KnownKey): string => (kind === "boolean" ? "true" : "");

function problemText(problem: RowProblem | undefined): string | null {
  return problem ? t.metadataProblem[problem] : null;
}

interface RowProps {
  row: MetadataRow;
  keys: string;
  values: readonly string[];
  problem: string | null;
  onKey: (key: string) => void;
  onChange: (part: Partial<MetadataRow>) => void;
  onRemove: () => void;
}

function Row({ row, keys, values, problem, onKey, onChange, onRemove }: RowProps): ReactNode {
  const error = useId();
  const invalid = problem ? { "aria-invalid": true, "aria-describedby": error } : {};
  return (
    <div className="metadata-row">
      <input
        className="input"
        aria-label={t.metadataKey}
        placeholder={t.metadataKey}
        list={keys}
        value={row.key}
        maxLength={64}
        {...invalid}
        onChange={(event) => onKey(event.target.value)}
      />
      <select
        className="select metadata-kind"
        aria-label={t.metadataKind}
        value={row.kind}
        onChange={(event) => {
          const kind = oneOf(VALUE_KINDS, event.target.value) ?? row.kind;
          onChange({ kind, value: kind === "boolean" ? "true" : row.kind === "boolean" ? "" : row.value });
        }}
      >
        {VALUE_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {t.valueKind[kind]}
          </option>
        ))}
      </select>
      <ValueField row={row} values={values} invalid={invalid} onChange={(value) => onChange({ value })} />
      <IconButton className="metadata-remove" label={t.removeMetadata(row.key)} onClick={onRemove}>
        <X size={16} aria-hidden />
      </IconButton>
      {problem && (
        <p className="field-problem small" id={error} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

interface ValueFieldProps {
  row: MetadataRow;
  values: readonly string[];
  invalid: { "aria-invalid"?: boolean; "aria-describedby"?: string };
  onChange: (value: string) => void;
}

function ValueField({ row, values, invalid, onChange }: ValueFieldProps): ReactNode {
  const offered = useId();
  if (row.kind === "boolean") {
    return (
      <select
        className="select metadata-value"
        aria-label={t.metadataValue}
        value={row.value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="true">{t.yes}</option>
        <option value="false">{t.no}</option>
      </select>
    );
  }
  // A date that has a time stays a text, which a date field would cut off.
  const isDay = row.kind === "date" && row.value.length <= 10;
  return (
    <>
      <input
        className="input metadata-value"
        aria-label={t.metadataValue}
        placeholder={row.kind === "list" ? t.metadataList : t.metadataValue}
        type={isDay ? "date" : "text"}
        inputMode={row.kind === "number" ? "decimal" : undefined}
        list={values.length ? offered : undefined}
        value={row.value}
        {...invalid}
        onChange={(event) => onChange(event.target.value)}
      />
      {values.length > 0 && (
        <datalist id={offered}>
          {values.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </>
  );
}
