// A chart as SVG: bars standing or lying, lines, ranges. The table beside it says the same to those who do not see it.
import { type ReactNode, useId } from "react";
import { formatPrecise } from "../../lib/format";
import { placed } from "../../lib/placed";
import { t } from "../../strings";
import { type Bar, type Dot, type Label, layOut, nameOf } from "./layout";
import type { Drawing, Value } from "./spec";

interface ChartProps {
  drawing: Drawing;
  width: number;
  title: string;
  description: string;
}

export function Chart({ drawing, width, title, description }: ChartProps): ReactNode {
  const layout = layOut(drawing, width);
  const id = useId();
  const hasNamed = drawing.values.some(({ named }) => named);
  return (
    <>
      {drawing.series.length > 1 && <Legend drawing={drawing} />}
      <svg
        className="picture-chart"
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        width={layout.width}
        height={layout.height}
        role="img"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-text`}
        data-named={hasNamed || undefined}
      >
        <title id={`${id}-title`}>{title}</title>
        <desc id={`${id}-text`}>{description}</desc>
        {placed(layout.grid).map(({ at, item: { isZero, ...line } }) => (
          <line key={at} {...line} className={isZero ? "picture-zero" : "picture-grid"} />
        ))}
        {placed(layout.labels).map(({ at, item }) => (
          <Words key={at} label={item} />
        ))}
        {placed(layout.bars).map(({ at, item }) => (
          <BarMark key={at} bar={item} drawing={drawing} />
        ))}
        {placed(layout.lines).map(({ at, item }) => (
          <Line key={at} dots={item} drawing={drawing} />
        ))}
      </svg>
    </>
  );
}

function Legend({ drawing }: { drawing: Drawing }): ReactNode {
  return (
    <ul className="picture-legend" aria-label={drawing.seriesTitle}>
      {drawing.series.map((name, index) => (
        <li key={name}>
          <span className="picture-swatch" data-series={index} aria-hidden />
          {name}
        </li>
      ))}
    </ul>
  );
}

function Words({ label }: { label: Label }): ReactNode {
  return (
    <text className="picture-label" x={label.x} y={label.y} textAnchor={label.anchor}>
      {label.text}
    </text>
  );
}

/** What is told of a value when one points at it. */
function told(value: Value, drawing: Drawing): string {
  const what = drawing.series.length > 1 ? `${nameOf(value)}, ${value.series}` : nameOf(value);
  return t.pictureValue(what, drawing.y, value.text ?? formatPrecise(value.y), value.rows);
}

function BarMark({ bar, drawing }: { bar: Bar; drawing: Drawing }): ReactNode {
  const { value, label, series, ...place } = bar;
  return (
    <g className="picture-mark">
      <title>{told(value, drawing)}</title>
      <rect {...place} className="picture-bar" data-series={series} data-named={value.named || undefined} rx={2} />
      {label && <Words label={label} />}
    </g>
  );
}

function Line({ dots, drawing }: { dots: Dot[]; drawing: Drawing }): ReactNode {
  return (
    <>
      <polyline
        className="picture-line"
        data-series={dots[0]?.series}
        points={dots.map(({ x, y }) => `${x},${y}`).join(" ")}
      />
      {placed(dots).map(({ at, item: { value, series, x, y } }) => (
        <g key={at} className="picture-mark">
          <title>{told(value, drawing)}</title>
          <circle className="picture-hit" cx={x} cy={y} r={11} />
          <circle
            className="picture-dot"
            data-series={series}
            data-named={value.named || undefined}
            cx={x}
            cy={y}
            r={value.named ? 5 : 3}
          />
        </g>
      ))}
    </>
  );
}
