// A filter as one makes it: a field that files have, an operator that fits its type, and a value, frequent ones with their counts.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { oneOf } from "../api/codes";
import { type Facet, facetsQuery, keyOf } from "../metadata/facets";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Failure, Loading } from "../ui/Notice";
import { type FieldType, type Filter, fieldLabel, type Operator, operatorsOf, typedValue, within } from "./filters";

/** What every file has, with other values in each: there is nothing to count. */
const UNCOUNTED: readonly Choice[] = [
  { field: "filename", type: "text" },
  { field: "identifier", type: "text" },
];
const MOST_SUGGESTED = 12;

interface Choice {
  field: string;
  type: FieldType;
  facet?: Facet;
}

interface FilterFormProps {
  /** What the files are filtered by already: suggestions and counts are of what is left. */
  present: readonly Filter[];
  onAdd: (filter: Filter) => void;
  onClose: () => void;
}

export function FilterForm({ present, onAdd, onClose }: FilterFormProps): ReactNode {
  const facets = useQuery(facetsQuery(present));
  if (facets.isPending) return <Loading lines={3} />;
  if (facets.isError) return <Failure error={facets.error} onRetry={() => void facets.refetch()} />;
  const own = facets.data.facets.map((facet): Choice => ({ field: facet.field, type: facet.type, facet }));
  const choices = [...own.filter(({ field }) => keyOf(field) === null), ...UNCOUNTED];
  return (
    <Fields
      builtIn={choices}
      metadata={own.filter(({ field }) => keyOf(field) !== null)}
      onAdd={(filter) => {
        onAdd(filter);
        onClose();
      }}
    />
  );
}

interface FieldsProps {
  builtIn: readonly Choice[];
  metadata: readonly Choice[];
  onAdd: (filter: Filter) => void;
}

const idOf = ({ field, type }: Choice): string => `${type} ${field}`;

function Fields({ builtIn, metadata, onAdd }: FieldsProps): ReactNode {
  const all = [...metadata, ...builtIn];
  const [id, setId] = useState(() => idOf(all[0] ?? { field: "filename", type: "text" }));
  const choice = all.find((one) => idOf(one) === id) ?? all[0];
  if (!choice) return null;
  return (
    <div className="filter-form">
      <label className="field">
        <span>{t.filterField}</span>
        <select className="select" value={idOf(choice)} onChange={(event) => setId(event.target.value)}>
          {metadata.length > 0 && <Group label={t.filterOwn} choices={metadata} />}
          <Group label={t.filterBuiltIn} choices={builtIn} />
        </select>
      </label>
      <ValueForm key={idOf(choice)} choice={choice} onAdd={onAdd} />
    </div>
  );
}

function Group({ label, choices }: { label: string; choices: readonly Choice[] }): ReactNode {
  return (
    <optgroup label={label}>
      {choices.map((choice) => (
        <option key={idOf(choice)} value={idOf(choice)}>
          {fieldLabel(choice.field)}
          {choices.filter(({ field }) => field === choice.field).length > 1 && ` (${t.valueKind[choice.type]})`}
        </option>
      ))}
    </optgroup>
  );
}

function ValueForm({ choice, onAdd }: { choice: Choice; onAdd: (filter: Filter) => void }): ReactNode {
  const { field, type, facet } = choice;
  const operators = operatorsOf(type);
  const [operator, setOperator] = useState<Operator>(field === "filename" ? "contains" : "eq");
  const [text, setText] = useState(type === "boolean" ? "true" : "");
  const [isWrong, setWrong] = useState(false);
  const apply = (event: FormEvent): void => {
    event.preventDefault();
    const value = operator === "exists" ? true : typedValue(type, text);
    if (value === null) setWrong(true);
    else onAdd({ field, operator, value });
  };
  return (
    <form className="filter-value" onSubmit={apply}>
      <div className="filter-line">
        <select
          className="select"
          aria-label={t.filterOperator}
          value={operator}
          onChange={(event) => setOperator(oneOf(operators, event.target.value) ?? operator)}
        >
          {operators.map((one) => (
            <option key={one} value={one}>
              {t.operatorName[one]}
            </option>
          ))}
        </select>
        {operator !== "exists" && <ValueInput type={type} text={text} isWrong={isWrong} onText={setText} />}
        <Button kind="primary" type="submit">
          {t.filterApply}
        </Button>
      </div>
      {isWrong && (
        <p className="filter-wrong small" role="alert">
          {t.filterWrong}
        </p>
      )}
      {facet && operator === "eq" && <Suggestions facet={facet} onAdd={onAdd} />}
      {facet?.min != null && facet.max != null && (
        <p className="muted small">{t.filterRange(String(facet.min), String(facet.max))}</p>
      )}
    </form>
  );
}

interface ValueInputProps {
  type: FieldType;
  text: string;
  isWrong: boolean;
  onText: (text: string) => void;
}

function ValueInput({ type, text, isWrong, onText }: ValueInputProps): ReactNode {
  if (type === "boolean") {
    return (
      <select
        className="select"
        aria-label={t.filterValue}
        value={text}
        onChange={(event) => onText(event.target.value)}
      >
        <option value="true">{t.yes}</option>
        <option value="false">{t.no}</option>
      </select>
    );
  }
  return (
    <input
      className="input"
      aria-label={t.filterValue}
      type={type === "date" ? "date" : "text"}
      inputMode={type === "number" ? "decimal" : undefined}
      value={text}
      aria-invalid={isWrong}
      onChange={(event) => onText(event.target.value)}
    />
  );
}

/** The values that files have, with how many; a click is enough. */
function Suggestions({ facet, onAdd }: { facet: Facet; onAdd: (filter: Filter) => void }): ReactNode {
  const { field, type } = facet;
  return (
    <div className="filter-suggestions" role="group" aria-label={t.filterSuggestions}>
      {facet.values.slice(0, MOST_SUGGESTED).map(({ value, files }) => {
        const name = typeof value === "boolean" ? (value ? t.yes : t.no) : String(value);
        const filter: Filter = type === "date" ? within(field, name) : { field, operator: "eq", value };
        return (
          <button
            key={name}
            type="button"
            className="pill filter-pick"
            aria-label={t.filterPick(name, files)}
            onClick={() => onAdd(filter)}
          >
            <span className="truncate">{name}</span>
            <span className="pill-count tabular">{files}</span>
          </button>
        );
      })}
    </div>
  );
}
