// What a search found, and how it came to it.
import { type ReactNode, useMemo, useState } from "react";
import { formatDuration } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Empty } from "../ui/Notice";
import { HitCard } from "./HitCard";
import { Passages } from "./Passages";
import { type Leg, legsOf, type Order, ordered, ranked } from "./ranks";
import type { Found } from "./request";
import { TraceCard } from "./TraceCard";

export function Results({ found }: { found: Found }): ReactNode {
  const { hits, passages, trace } = found.answer;
  const all = useMemo(() => ranked(hits, trace), [hits, trace]);
  const [order, setOrder] = useState<Order>("final");
  const [asPassages, setAsPassages] = useState(false);
  const [isExplained, setExplained] = useState(false);
  const legs = legsOf(all);
  const present = order === "final" || legs.includes(order) ? order : "final";
  if (!hits.length) return <Empty title={t.noHits} />;
  const showsPassages = asPassages && Boolean(passages?.length);
  return (
    <div className="results" data-explained={isExplained || undefined}>
      <section className="stack" aria-label={t.results}>
        <div className="results-head">
          <h2>
            {t.hits(hits.length)}{" "}
            <span className="results-count small">{t.inTime(formatDuration(found.roundTrip))}</span>
          </h2>
          <span className="grow" />
          <Button small kind="quiet" aria-expanded={isExplained} onClick={() => setExplained(!isExplained)}>
            {t.howRanked}
          </Button>
          {Boolean(passages?.length) && (
            <Segments
              label={t.resultsAs}
              value={showsPassages ? "passages" : "hits"}
              options={[
                ["hits", t.asHits],
                ["passages", t.asPassages],
              ]}
              onChange={(value) => setAsPassages(value === "passages")}
            />
          )}
          {isExplained && !showsPassages && (
            <Segments
              label={t.orderBy}
              value={present}
              options={[["final", t.orderFinal], ...legs.map((leg): [Order, string] => [leg, t.legName[leg]])]}
              onChange={setOrder}
            />
          )}
        </div>
        {showsPassages ? (
          <Passages passages={passages ?? []} />
        ) : (
          <HitList hits={ordered(all, isExplained ? present : "final")} legs={isExplained ? legs : []} />
        )}
      </section>
      {isExplained && trace && <TraceCard trace={trace} />}
    </div>
  );
}

function HitList({ hits, legs }: { hits: ReturnType<typeof ordered>; legs: readonly Leg[] }): ReactNode {
  return (
    <ol className="hits" aria-label={t.results}>
      {hits.map((one) => (
        <HitCard key={one.hit.chunk_id} ranked={one} legs={legs} />
      ))}
    </ol>
  );
}

interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  options: [T, string][];
  onChange: (value: T) => void;
}

function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>): ReactNode {
  return (
    <div className="segmented" role="group" aria-label={label}>
      {options.map(([key, name]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {name}
        </button>
      ))}
    </div>
  );
}
