// A stacked bar per day, drawn as SVG; the table below it says the same in words.
import type { ReactNode } from "react";
import { wordFor } from "../api/codes";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import type { DayBar } from "./usage";

interface UsageChartProps {
  bars: readonly DayBar[];
  format: (value: number) => string;
}

const WIDTH = 720;
const HEIGHT = 132;

export function UsageChart({ bars, format }: UsageChartProps): ReactNode {
  const highest = Math.max(...bars.map(({ total }) => total), 0);
  const kinds = [...new Set(bars.flatMap(({ parts }) => parts.map(({ kind }) => kind)))];
  const step = WIDTH / bars.length;
  const gap = Math.min(4, step * 0.25);
  return (
    <figure className="usage-chart">
      <p className="usage-scale muted small tabular" aria-hidden>
        {format(highest)}
      </p>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.usageChart(bars.length, format(highest))}
      >
        <line className="grid-line" x1={0} x2={WIDTH} y1={0.5} y2={0.5} />
        <line className="grid-line" x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <line className="grid-line" x1={0} x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {bars.map((bar, index) => (
          <Bar
            key={bar.day}
            bar={bar}
            x={index * step + gap / 2}
            width={step - gap}
            highest={highest}
            format={format}
          />
        ))}
      </svg>
      <div className="spread muted small usage-days" aria-hidden>
        <span>{bars[0] && formatDay(bars[0].day)}</span>
        <span>{bars.at(-1) && formatDay(bars.at(-1)?.day ?? "")}</span>
      </div>
      <figcaption>
        <ul className="legend">
          {kinds.map((kind) => (
            <li key={kind}>
              <span className="swatch" data-usage={kind} aria-hidden />
              {wordFor(t.usageKind, kind)}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

interface BarProps {
  bar: DayBar;
  x: number;
  width: number;
  highest: number;
  format: (value: number) => string;
}

function Bar({ bar, x, width, highest, format }: BarProps): ReactNode {
  const scale = highest > 0 ? HEIGHT / highest : 0;
  let top = HEIGHT;
  return (
    <g>
      <title>{`${formatDay(bar.day)}: ${format(bar.total)}`}</title>
      <rect className="histogram-hit" x={x} y={0} width={width} height={HEIGHT} />
      {bar.parts.map(({ kind, value }) => {
        const height = value * scale;
        top -= height;
        return <rect key={kind} className="usage-bar" data-usage={kind} x={x} y={top} width={width} height={height} />;
      })}
    </g>
  );
}
