// From rectangles in PDF points to rectangles on the screen.
import type { Locator } from "./state";

export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

type Box = NonNullable<Locator["boxes"]>[number];

const PADDING = 1.5;

/** Boxes of a page (points, origin top left) as pixels at a scale, a little larger so that letters are not cut. */
export function rectangles(boxes: readonly Box[] | undefined, page: number, scale: number): Rectangle[] {
  return (boxes ?? [])
    .filter((box) => box.page === page)
    .map(({ x0, y0, x1, y1 }) => ({
      left: (x0 - PADDING) * scale,
      top: (y0 - PADDING) * scale,
      width: (x1 - x0 + 2 * PADDING) * scale,
      height: (y1 - y0 + 2 * PADDING) * scale,
    }));
}

/** The page that a place begins on. */
export function firstPage(place: Locator | undefined): number | undefined {
  return place?.boxes?.[0]?.page ?? place?.page ?? place?.pages?.[0];
}

/** How far down its page a place begins, in points. */
export function topOf(place: Locator | undefined, page: number): number {
  const tops = (place?.boxes ?? []).filter((box) => box.page === page).map((box) => box.y0);
  return tops.length ? Math.min(...tops) : 0;
}
