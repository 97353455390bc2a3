// A picture of an answer: a Vega-Lite specification in the few forms that the server makes, read for drawing.
import type { Schemas } from "../../api/client";
import type { Locator } from "../../viewer/state";

export type Picture = Schemas["PictureOut"];
export type Value = Schemas["PictureValueOut"];

export type Form = "bars" | "lying" | "line" | "histogram";

export interface Drawing {
  form: Form;
  /** Whether the places are times, which stand in a row however many they are. */
  isTemporal: boolean;
  /** The names of the places, of what is measured, and of the series. */
  x: string;
  y: string;
  seriesTitle: string;
  places: string[];
  series: string[];
  values: readonly Value[];
}

interface Channel {
  field?: string;
  type?: string;
  title?: string;
}

/** What a specification draws; undefined for one in a form that is not known here. */
export function drawingOf(picture: Picture): Drawing | undefined {
  const mark = (picture.mark as { type?: string }).type;
  const encoding = picture.encoding as Record<string, Channel | undefined>;
  const values = picture.data.values;
  const [amount, place] =
    encoding.y?.field === "y" ? [encoding.y, encoding.x] : encoding.x?.field === "y" ? [encoding.x, encoding.y] : [];
  if (!amount || !place || !values.length || (mark !== "bar" && mark !== "line")) return undefined;
  const isHistogram = encoding.x2 !== undefined;
  const form = mark === "line" ? "line" : isHistogram ? "histogram" : amount === encoding.x ? "lying" : "bars";
  return {
    form,
    isTemporal: place.type === "ordinal",
    x: place.title ?? "",
    y: amount.title ?? "",
    seriesTitle: encoding.color?.title ?? "",
    places: [...new Set(values.map(({ x }) => String(x)))],
    series: [...new Set(values.map(({ series }) => series ?? ""))],
    values,
  };
}

/** Where the rows behind a value are. */
export function placeOfRows(picture: Picture, value: Value): Locator {
  const { sheet, column } = picture.usermeta.citewell;
  return {
    ...(sheet !== null && { sheet }),
    ...(column !== null && { column }),
    ...(value.row !== undefined && { row: value.row }),
    ...(value.row_end !== undefined && value.row_end !== value.row && { row_end: value.row_end }),
  };
}
