// Which source is open in the panel, and at which place.
import type { Schemas } from "../api/client";
import { createStore } from "../lib/store";

export type Locator = Schemas["LocatorOut"];

/** An outline on a page, to show what was read where. */
export interface Overlay {
  page: number;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  tone: string;
  label: string;
}

export interface ViewerTarget {
  resourceId: string;
  filename: string;
  version?: number;
  locator?: Locator;
  quote?: string;
  overlay?: Overlay[];
  /** Whether what is cited is a picture or a chart, which is framed and not tinted. */
  isPicture?: boolean;
  /** The picture that is cited, to find others like it. */
  picture?: Schemas["ImageOut"] | null | undefined;
}

/** `nonce` changes with every opening, so that the same spot can be gone to again. */
export type Target = ViewerTarget & { nonce: number };

export const viewer = createStore<Target | null>(null);

let opened = 0;

export function openViewer(target: ViewerTarget): void {
  opened += 1;
  viewer.set({ ...target, nonce: opened });
}

export function closeViewer(): void {
  viewer.set(null);
}
