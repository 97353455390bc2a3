// Lists whose items are told apart by their place alone: rows and cells of a table, rectangles on a page.

/** Every item with its place, which is its key. */
export function placed<T>(items: readonly T[]): { at: number; item: T }[] {
  return items.map((item, at) => ({ at, item }));
}
