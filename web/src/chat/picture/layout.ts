// Where the parts of a chart go, in pixels; drawing them is up to the component.
import { formatCompact, formatPrecise } from "../../lib/format";
import { scaleOf } from "./scale";
import type { Drawing, Value } from "./spec";

const LETTER = 6.6;
const HEIGHT = 250;
const LINE = 24;
const MOST_NAMES = 0.42;

export interface Label {
  text: string;
  x: number;
  y: number;
  anchor: "start" | "middle" | "end";
}

export interface Bar {
  value: Value;
  series: number;
  x: number;
  y: number;
  width: number;
  height: number;
  /** The figure beside the bar, where there is room. */
  label: Label | undefined;
}

export interface Dot {
  value: Value;
  series: number;
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  bars: Bar[];
  /** One per series. */
  lines: Dot[][];
  grid: { x1: number; x2: number; y1: number; y2: number; isZero: boolean }[];
  labels: Label[];
}

/** The place of a value in words: its name, or its range. */
export function nameOf(value: Value): string {
  if (value.x_end === undefined) return String(value.x);
  return `${formatPrecise(Number(value.x))} – ${formatPrecise(value.x_end)}`;
}

const lengthOf = (texts: readonly string[]): number => Math.max(0, ...texts.map(({ length }) => length)) * LETTER;

/** Standing bars lie down where their names do not fit side by side. */
export function layOut(drawing: Drawing, width: number): Layout {
  const room = (width - 60) / drawing.places.length;
  const isTight = drawing.form === "bars" && !drawing.isTemporal && lengthOf(drawing.places) + 10 > room;
  return drawing.form === "lying" || isTight ? lying(drawing, width) : standing(drawing, width);
}

function lying(drawing: Drawing, width: number): Layout {
  const { places, series, values } = drawing;
  const thick = series.length > 1 ? Math.max(10, LINE - 4 * series.length) : LINE - 7;
  const step = series.length * thick + 9;
  const names = Math.min(lengthOf(places) + 10, width * MOST_NAMES);
  const figures = lengthOf(values.map(({ y }) => formatPrecise(y))) + 8;
  const [left, right] = [names, width - figures];
  const height = places.length * step;
  const scale = scaleOf(values.map(({ y }) => y));
  const at = (value: number): number => left + scale.at(value) * (right - left);
  const bars = values.map((value): Bar => {
    const y = places.indexOf(String(value.x)) * step + series.indexOf(value.series ?? "") * thick + 4;
    const [from, to] = [Math.min(at(0), at(value.y)), Math.max(at(0), at(value.y))];
    const text: Label = { text: formatPrecise(value.y), x: to + 6, y: y + thick / 2 + 4, anchor: "start" };
    return {
      value,
      series: series.indexOf(value.series ?? ""),
      x: from,
      y,
      width: Math.max(1, to - from),
      height: thick - 1,
      label: text,
    };
  });
  const most = Math.max(3, Math.floor((names - 10) / LETTER));
  const labels = places.map(
    (place, index): Label => ({ text: cut(place, most), x: names - 10, y: index * step + step / 2 + 3, anchor: "end" }),
  );
  const grid = [{ x1: at(0), x2: at(0), y1: 0, y2: height, isZero: true }];
  return { width, height, bars, lines: [], grid, labels };
}

function standing(drawing: Drawing, width: number): Layout {
  const { form, places, series, values } = drawing;
  const scale = scaleOf(values.map(({ y }) => y));
  const ticks = scale.ticks.map((tick) => formatCompact(tick));
  const left = lengthOf(ticks) + 10;
  const [top, bottom] = [18, HEIGHT - 26];
  const at = (value: number): number => bottom - scale.at(value) * (bottom - top);
  const grid = scale.ticks.map((tick) => ({ x1: left, x2: width, y1: at(tick), y2: at(tick), isZero: tick === 0 }));
  const labels = scale.ticks.map(
    (tick, index): Label => ({ text: ticks[index] ?? "", x: left - 8, y: at(tick) + 4, anchor: "end" }),
  );
  if (form === "histogram") {
    const placed = ranges(drawing, left, width, at, bottom);
    return { width, height: HEIGHT, bars: placed.bars, lines: [], grid, labels: [...labels, ...placed.labels] };
  }
  const step = (width - left) / places.length;
  const middle = (place: string): number => left + (places.indexOf(place) + 0.5) * step;
  labels.push(...namesBelow(places, middle, step));
  if (form === "line") {
    const lines = series.map((name, index) =>
      values
        .filter((value) => (value.series ?? "") === name)
        .map((value): Dot => ({ value, series: index, x: middle(String(value.x)), y: at(value.y) })),
    );
    return { width, height: HEIGHT, bars: [], lines, grid, labels };
  }
  const wide = Math.min(step * 0.72, 84 * series.length);
  const each = wide / series.length;
  const fits = lengthOf(values.map(({ y }) => formatPrecise(y))) < (step / series.length) * 0.98;
  const bars = values.map((value): Bar => {
    const index = series.indexOf(value.series ?? "");
    const x = middle(String(value.x)) - wide / 2 + index * each;
    const [high, low] = [Math.min(at(0), at(value.y)), Math.max(at(0), at(value.y))];
    const text: Label = { text: formatPrecise(value.y), x: x + each / 2, y: high - 5, anchor: "middle" };
    return {
      value,
      series: index,
      x,
      y: high,
      width: each - (series.length > 1 ? 1.5 : 0),
      height: Math.max(1, low - high),
      label: fits && value.y >= 0 ? text : undefined,
    };
  });
  return { width, height: HEIGHT, bars, lines: [], grid, labels };
}

/** The ranges of a histogram side by side: an empty one leaves a gap, and the ends of ranges are named where they meet. */
function ranges(drawing: Drawing, left: number, width: number, at: (value: number) => number, bottom: number) {
  const starts = drawing.values.map(({ x }) => Number(x));
  const ends = drawing.values.map(({ x, x_end: end }) => end ?? Number(x));
  const [low, high] = [Math.min(...starts), Math.max(...ends)];
  const right = width - 14;
  const across = (value: number): number => left + ((value - low) / (high - low || 1)) * (right - left);
  const bars = drawing.values.map((value): Bar => {
    const [from, to] = [across(Number(value.x)), across(value.x_end ?? Number(value.x))];
    const text: Label = { text: formatPrecise(value.y), x: (from + to) / 2, y: at(value.y) - 5, anchor: "middle" };
    const label = lengthOf([text.text]) < to - from ? text : undefined;
    const height = Math.max(1, bottom - at(value.y));
    return { value, series: 0, x: from + 0.75, y: at(value.y), width: Math.max(1, to - from - 1.5), height, label };
  });
  const edges = [...new Set([...starts, ...ends])].sort((a, b) => a - b);
  const shown = edges.map((edge) => formatCompact(edge));
  const every = Math.max(1, Math.ceil((edges.length * (lengthOf(shown) + 12)) / (right - left)));
  const labels = edges.flatMap((edge, index): Label[] =>
    index % every ? [] : [{ text: shown[index] ?? "", x: across(edge), y: bottom + 18, anchor: "middle" }],
  );
  return { bars, labels };
}

/** Names under their places; every second, third … where there is no room for all. */
function namesBelow(places: readonly string[], middle: (place: string) => number, step: number): Label[] {
  const every = Math.max(1, Math.ceil((lengthOf(places) + 8) / step));
  return places.flatMap((place, index): Label[] =>
    index % every ? [] : [{ text: cut(place, 24), x: middle(place), y: HEIGHT - 8, anchor: "middle" }],
  );
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
