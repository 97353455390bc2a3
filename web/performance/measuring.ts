// Frames and interactions, measured in the page.
import { cpus, loadavg } from "node:os";
import type { Locator, Page } from "@playwright/test";

export interface Frames {
  count: number;
  p50: number;
  p95: number;
  longest: number;
}

/**
 * Milliseconds between frames while a list is scrolled from its beginning by `step` pixels each frame, and `work`: what the page's own
 * thread computed per frame. Frames come late on a machine that is busy with other things; the work stays what it is.
 */
export async function framesWhileScrolling(
  list: Locator,
  step: number,
  frames = 240,
): Promise<Frames & { work: number }> {
  const inspector = await list.page().context().newCDPSession(list.page());
  await inspector.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async (): Promise<number> => {
    const { metrics } = await inspector.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
  };
  const before = await busy();
  const spans = await spansWhileScrolling(list, step, frames);
  const work = Math.round((((await busy()) - before) / frames) * 10) / 10;
  await inspector.detach();
  return { ...spans, work };
}

async function spansWhileScrolling(list: Locator, step: number, frames: number): Promise<Frames> {
  return list.evaluate(
    (element, { step, frames }) =>
      new Promise<Frames>((resolve) => {
        const spans: number[] = [];
        let before = 0;
        const next = (now: number): void => {
          if (before) spans.push(now - before);
          before = now;
          element.scrollTop += step;
          if (spans.length < frames) requestAnimationFrame(next);
          else {
            const sorted = [...spans].sort((a, b) => a - b);
            const at = (share: number): number =>
              Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10;
            resolve({ count: spans.length, p50: at(0.5), p95: at(0.95), longest: at(1) });
          }
        };
        requestAnimationFrame(next);
      }),
    { step, frames },
  );
}

/** Begin to note how long clicks and keys take, from the event to the next frame that shows what it did. */
export async function watchInteractions(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const noted: { name: string; duration: number }[] = [];
    (window as unknown as { noted: typeof noted }).noted = noted;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { interactionId?: number })[]) {
        if (entry.interactionId) noted.push({ name: entry.name, duration: entry.duration });
      }
    }).observe({ type: "event", durationThreshold: 16, buffered: true } as PerformanceObserverInit);
  });
}

/** The slowest interaction since the page was loaded, in milliseconds (in steps of 8; 0 when all were under 16). */
export async function slowestInteraction(page: Page): Promise<number> {
  await page.waitForTimeout(500);
  return page.evaluate(() =>
    Math.max(0, ...(window as unknown as { noted: { duration: number }[] }).noted.map(({ duration }) => duration)),
  );
}

/** How many processes want a processor, beside how many there are: what frames and waits must be read with. */
export function machine(): string {
  return `load ${loadavg()[0]?.toFixed(1)} on ${cpus().length} processors`;
}

export function report(what: string, figures: object): void {
  const text = Object.entries(figures).map(
    ([name, value]) => `${name} ${typeof value === "number" ? Math.round(value * 10) / 10 : value}`,
  );
  console.log(`  ${what}: ${text.join(", ")} (${machine()})`);
}
