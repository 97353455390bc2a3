// How to search: what the server's own settings decide unless it is said here.
import { type ReactNode, useId } from "react";
import { t } from "../strings";
import type { SearchForm } from "./request";

interface SearchOptionsProps {
  form: SearchForm;
  onChange: (part: Partial<SearchForm>) => void;
}

export function SearchOptions({ form, onChange }: SearchOptionsProps): ReactNode {
  return (
    <div className="options-grid">
      <Choice
        label={t.useRerank}
        value={form.rerank}
        options={[
          ["", t.asConfigured],
          ["on", t.on],
          ["off", t.off],
        ]}
        onChange={(rerank) => onChange({ rerank })}
      />
      <Choice
        label={t.selfQuery}
        value={form.selfQuery}
        options={[
          ["", t.asConfigured],
          ["off", t.off],
          ["rules", t.selfQueryRules],
          ["model", t.selfQueryModel],
        ]}
        onChange={(selfQuery) => onChange({ selfQuery })}
      />
      <Range label={t.topK} value={form.topK} min={1} max={50} step={1} onChange={(topK) => onChange({ topK })} />
      <Range
        label={t.neighbours}
        value={form.neighbours}
        min={0}
        max={5}
        step={1}
        onChange={(neighbours) => onChange({ neighbours })}
      />
      <Range
        label={t.diversity}
        value={form.diversity}
        min={0}
        max={1}
        step={0.1}
        onChange={(diversity) => onChange({ diversity })}
      />
    </div>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <select
        className="select"
        value={value}
        onChange={(event) => onChange(options.find(([key]) => key === event.target.value)?.[0] ?? value)}
      >
        {options.map(([key, name]) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface RangeProps {
  label: string;
  value: number;
  min: number;
  max: number;
  step: number;
  onChange: (value: number) => void;
}

function Range({ label, value, min, max, step, onChange }: RangeProps): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <span className="spread">
        <label htmlFor={id}>{label}</label>
        <output className="muted tabular" htmlFor={id}>
          {value}
        </output>
      </span>
      <input
        id={id}
        className="range"
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
      />
    </div>
  );
}
