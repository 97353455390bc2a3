// As much of a browser as uploads need: tabs that share local storage and locks, each page with modules of its own.
import { vi } from "vitest";

type Unsent = typeof import("../../src/upload/unsent");
type Listener = (event: object) => void;

class FakeStorage {
  readonly values = new Map<string, string>();
  isFull = false;
  onChange: (key: string, value: string | null) => void = () => undefined;

  get length(): number {
    return this.values.size;
  }
  key(index: number): string | null {
    return [...this.values.keys()][index] ?? null;
  }
  getItem(key: string): string | null {
    return this.values.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    if (this.isFull) throw new DOMException("full", "QuotaExceededError");
    this.values.set(key, value);
    this.onChange(key, value);
  }
  removeItem(key: string): void {
    if (this.values.delete(key)) this.onChange(key, null);
  }
}

/** Requests are granted in order; a shared one waits until an exclusive one has ended. */
class FakeLocks {
  private readonly held = new Map<string, { page: Page; ended: Promise<unknown> }>();

  constructor(private readonly browser: FakeBrowser) {}

  async request(name: string, ...rest: [() => unknown] | [unknown, () => unknown]): Promise<void> {
    const page = this.browser.present;
    const work = rest.at(-1) as () => unknown;
    if (rest.length > 1) {
      while (this.held.has(name)) await this.held.get(name)?.ended;
      if (page.isOpen) work();
      return;
    }
    const ended = Promise.race([Promise.resolve(work()), page.closed]).then(() => this.held.delete(name));
    this.held.set(name, { page, ended });
    await ended;
  }
}

export class Page {
  isOpen = true;
  unsent!: Unsent;
  private close!: () => void;
  readonly closed = new Promise<void>((resolve) => (this.close = resolve));
  private readonly listeners = new Map<string, Set<Listener>>();
  readonly window: object;

  constructor(
    private readonly browser: FakeBrowser,
    readonly tab: FakeStorage,
  ) {
    this.window = {
      localStorage: browser.storage,
      sessionStorage: tab,
      addEventListener: (name: string, listener: Listener) =>
        this.listeners.set(name, (this.listeners.get(name) ?? new Set()).add(listener)),
      removeEventListener: (name: string, listener: Listener) => this.listeners.get(name)?.delete(listener),
    };
  }

  emit(name: string, values: object = {}): void {
    for (const listener of this.listeners.get(name) ?? []) listener(values);
  }

  /** Whether the browser would ask before the page is left. */
  get warns(): boolean {
    const preventDefault = vi.fn();
    this.emit("beforeunload", { preventDefault });
    return preventDefault.mock.calls.length > 0;
  }

  /** Do something in this page. */
  do<T>(work: (unsent: Unsent) => T): T {
    this.browser.enter(this);
    return work(this.unsent);
  }

  lost(): ReturnType<Unsent["lostFiles"]["get"]> {
    return this.unsent.lostFiles.get();
  }

  names(): string[] {
    return this.lost().map(({ name }) => name);
  }

  /** As by closing the tab; a crash leaves no time for `pagehide`. */
  async leave({ crashed = false } = {}): Promise<void> {
    this.browser.enter(this);
    if (!crashed) this.emit("pagehide");
    this.isOpen = false;
    this.close();
    await settle();
  }
}

export class FakeBrowser {
  readonly storage = new FakeStorage();
  readonly pages: Page[] = [];
  present!: Page;

  constructor(hasLocks = true) {
    this.storage.onChange = (key, newValue) => {
      const writer = this.present;
      for (const page of this.pages) {
        if (page === writer || !page.isOpen) continue;
        this.enter(page);
        page.emit("storage", { key, newValue });
      }
      this.enter(writer);
    };
    vi.stubGlobal("navigator", hasLocks ? { locks: new FakeLocks(this) } : {});
  }

  enter(page: Page): void {
    this.present = page;
    vi.stubGlobal("window", page.window);
  }

  /** A page for this owner, in a tab of its own or in the tab of an earlier page. */
  async open(owner: string, before?: Page): Promise<Page> {
    const page = new Page(this, before?.tab ?? new FakeStorage());
    this.pages.push(page);
    this.enter(page);
    vi.resetModules();
    page.unsent = await import("../../src/upload/unsent");
    page.do(({ openJournal }) => openJournal(owner));
    await settle();
    return page;
  }
}

/** Let promises that are due come to their ends. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
}
