// How a column's values are spread: ranges as columns, texts as a list of the most frequent.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { formatNumber } from "../lib/format";
import { t } from "../strings";
import { barsOf, type ColumnFacts, type HistogramBar, statistic } from "./columns";
import { spreadQuery } from "./queries";

interface HistogramProps {
  resourceId: string;
  version: number;
  table: string;
  column: ColumnFacts;
}

const WIDTH = 220;
const HEIGHT = 56;
const MOST_TEXTS = 5;

export function Histogram({ resourceId, version, table, column }: HistogramProps): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const isSeen = useSeen(frame);
  const spread = useQuery({ ...spreadQuery(resourceId, version, table, column.name), enabled: isSeen });
  const bars = spread.data ? barsOf(spread.data, column.max) : [];
  return (
    <div ref={frame} className="histogram">
      {spread.isError && <span className="muted small">{t.noHistogram}</span>}
      {spread.data?.numeric && bars.length > 0 && <Ranges bars={bars} column={column} />}
      {spread.data && !spread.data.numeric && <Texts bars={bars.slice(0, MOST_TEXTS)} />}
    </div>
  );
}

function Ranges({ bars, column }: { bars: readonly HistogramBar[]; column: ColumnFacts }): ReactNode {
  const width = WIDTH / bars.length;
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.histogramOf(column.name, statistic(column.min), statistic(column.max))}
      >
        {bars.map(({ label, count, height }, index) => (
          <g key={label}>
            <title>{t.histogramBar(label, count)}</title>
            <rect className="histogram-hit" x={index * width} y={0} width={width} height={HEIGHT} />
            <rect
              className="histogram-bar"
              x={index * width + 0.75}
              y={HEIGHT - Math.max(count ? 1.5 : 0, height * HEIGHT)}
              width={Math.max(1, width - 1.5)}
              height={Math.max(count ? 1.5 : 0, height * HEIGHT)}
              rx={1}
            />
          </g>
        ))}
      </svg>
      <figcaption className="spread muted tabular">
        <span>{statistic(column.min)}</span>
        <span>{statistic(column.max)}</span>
      </figcaption>
    </figure>
  );
}

function Texts({ bars }: { bars: readonly HistogramBar[] }): ReactNode {
  return (
    <ol className="frequent">
      {bars.map(({ label, count, height }) => (
        <li key={label} title={t.histogramBar(label, count)}>
          <span className="frequent-bar" style={{ width: `${height * 100}%` }} aria-hidden />
          <span className="truncate">{label}</span>
          <span className="muted tabular">{formatNumber(count)}</span>
        </li>
      ))}
    </ol>
  );
}

/** Whether an element has been in sight: a wide table asks only for the columns that one looks at. */
function useSeen(ref: RefObject<Element | null>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true),
      { rootMargin: "200px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return isSeen;
}
