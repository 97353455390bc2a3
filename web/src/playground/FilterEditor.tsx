// Conditions on what the files say of themselves, all of which must hold.
import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { FILTER_FIELDS, oneOf } from "../api/codes";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { conditionOf, type Field, type FilterDraft, inputOf, operatorsOf } from "./request";

interface FilterEditorProps {
  filters: FilterDraft[];
  onFilters: (filters: FilterDraft[]) => void;
}

export function FilterEditor({ filters, onFilters }: FilterEditorProps): ReactNode {
  const change = (id: number, part: Partial<FilterDraft>): void =>
    onFilters(filters.map((filter) => (filter.id === id ? { ...filter, ...part } : filter)));
  const add = (): void => {
    const id = Math.max(0, ...filters.map((filter) => filter.id)) + 1;
    onFilters([...filters, { id, field: "filename", operator: "eq", value: "" }]);
  };
  return (
    <fieldset className="filter-editor">
      <legend className="visually-hidden">{t.filters}</legend>
      {filters.map((filter) => (
        <Condition
          key={filter.id}
          filter={filter}
          onChange={(part) => change(filter.id, part)}
          onRemove={() => onFilters(filters.filter(({ id }) => id !== filter.id))}
        />
      ))}
      <Button small kind="quiet" onClick={add}>
        <Plus size={15} aria-hidden />
        {t.addFilter}
      </Button>
    </fieldset>
  );
}

interface ConditionProps {
  filter: FilterDraft;
  onChange: (part: Partial<FilterDraft>) => void;
  onRemove: () => void;
}

function Condition({ filter, onChange, onRemove }: ConditionProps): ReactNode {
  const pickField = (field: Field): void => {
    const operators = operatorsOf(field);
    onChange({ field, value: "", operator: operators.includes(filter.operator) ? filter.operator : "eq" });
  };
  return (
    <div className="condition">
      <select
        className="select select-small"
        aria-label={t.filterField}
        value={filter.field}
        onChange={(event) => pickField(oneOf(FILTER_FIELDS, event.target.value) ?? filter.field)}
      >
        {FILTER_FIELDS.map((field) => (
          <option key={field} value={field}>
            {t.fieldName[field]}
          </option>
        ))}
      </select>
      <select
        className="select select-small"
        aria-label={t.filterOperator}
        value={filter.operator}
        onChange={(event) =>
          onChange({ operator: oneOf(operatorsOf(filter.field), event.target.value) ?? filter.operator, value: "" })
        }
      >
        {operatorsOf(filter.field).map((operator) => (
          <option key={operator} value={operator}>
            {t.operatorName[operator]}
          </option>
        ))}
      </select>
      <input
        className="input input-small condition-value"
        aria-label={t.filterValue}
        type={inputOf(filter)}
        value={filter.value}
        placeholder={filter.operator === "in" ? t.filterList : undefined}
        aria-invalid={filter.value !== "" && conditionOf(filter) === null}
        onChange={(event) => onChange({ value: event.target.value })}
      />
      <IconButton small label={t.removeFilter} onClick={onRemove}>
        <X size={15} aria-hidden />
      </IconButton>
    </div>
  );
}
