// What the question was read to say of the files to look in: each can be taken off, and the question is asked again without it.
import { X } from "lucide-react";
import type { ReactNode } from "react";
import type { Message } from "../api/client";
import { t } from "../strings";

interface InferredFiltersProps {
  details: Message["details"];
  /** Whether the question can be asked again: only the last one can. */
  isLast: boolean;
  onWithout: (id: string) => void;
}

export function InferredFilters({ details, isLast, onWithout }: InferredFiltersProps): ReactNode {
  const inferred = details.inferred_filters ?? [];
  if (!inferred.length) return null;
  return (
    <div className="inferred-filters" role="group" aria-label={t.inferredFilters}>
      <span className="muted small">{t.inferredFilters}</span>
      {inferred.map(({ id, label, words, applied }) => (
        <span key={id} className="inferred-filter" data-applied={applied} title={words}>
          <span className="truncate">{applied ? label : t.inferredUnused(label)}</span>
          {applied && isLast && (
            <button type="button" aria-label={t.inferredWithout(label)} onClick={() => onWithout(id)}>
              <X size={13} aria-hidden />
            </button>
          )}
        </span>
      ))}
    </div>
  );
}
