import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeBrowser, settle } from "./browser";

const waiting = (name: string, size = 10) => ({ id: name, name, size, isUnderWay: true });

let browser: FakeBrowser;
beforeEach(() => {
  vi.useFakeTimers();
  browser = new FakeBrowser();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the warning before a page is left", () => {
  it("is given while a file waits or is being sent, and no longer", async () => {
    const page = await browser.open("ama");
    expect(page.warns).toBe(false);
    page.do(({ noteUnsent }) => noteUnsent([waiting("a.txt"), waiting("b.txt")]));
    expect(page.warns).toBe(true);
    page.do(({ noteSettled }) => noteSettled("a.txt"));
    expect(page.warns).toBe(true);
    page.do(({ noteUnsent }) => noteUnsent([{ ...waiting("b.txt"), isUnderWay: false }]));
    expect(page.warns).toBe(false);
    page.do(({ noteUnsent }) => noteUnsent([waiting("b.txt")]));
    expect(page.warns).toBe(true);
  });

  it("counts what the same owner's other tabs send, and nobody else's", async () => {
    const one = await browser.open("ama");
    one.do(({ noteUnsent }) => noteUnsent([waiting("a.txt"), waiting("b.txt")]));
    const two = await browser.open("ama");
    two.do(({ noteUnsent }) => noteUnsent([waiting("c.txt")]));
    const other = await browser.open("kofi");
    expect(two.do(({ countUnderWay }) => countUnderWay())).toBe(3);
    expect(other.do(({ countUnderWay }) => countUnderWay())).toBe(0);
  });
});

describe("after a page is gone", () => {
  it("what it did not send is listed in order, and what the server had acknowledged is not", async () => {
    const before = await browser.open("ama");
    before.do(({ noteUnsent }) => noteUnsent([waiting("a.txt", 1), waiting("b.txt", 2), waiting("c.txt", 3)]));
    before.do(({ noteSettled }) => noteSettled("a.txt"));
    await before.leave();
    const after = await browser.open("ama", before);
    expect(after.do(({ lostFiles }) => lostFiles.get())).toEqual([
      { name: "b.txt", size: 2 },
      { name: "c.txt", size: 3 },
    ]);
    expect(after.warns).toBe(false);
  });

  it("a crash loses nothing of the list", async () => {
    const before = await browser.open("ama");
    before.do(({ noteUnsent }) => noteUnsent([waiting("a.txt"), waiting("b.txt")]));
    before.do(({ noteSettled }) => noteSettled("a.txt"));
    vi.advanceTimersByTime(1_000);
    await before.leave({ crashed: true });
    expect((await browser.open("ama")).names()).toEqual(["b.txt"]);
  });

  it("another owner learns nothing of it, and its own owner still does later", async () => {
    const before = await browser.open("ama");
    before.do(({ noteUnsent }) => noteUnsent([waiting("a.txt")]));
    await before.leave();
    const stranger = await browser.open("kofi", before);
    expect(stranger.names()).toEqual([]);
    await stranger.leave();
    expect((await browser.open("ama", stranger)).names()).toEqual(["a.txt"]);
  });

  it("nothing is listed of a page that sent everything, and no trace stays", async () => {
    const before = await browser.open("ama");
    before.do(({ noteUnsent }) => noteUnsent([waiting("a.txt")]));
    before.do(({ noteSettled }) => noteSettled("a.txt"));
    await before.leave();
    expect((await browser.open("ama", before)).names()).toEqual([]);
    expect([...browser.storage.values.keys()]).toEqual([]);
  });

  it("what was abandoned on signing out is listed after signing in again", async () => {
    const before = await browser.open("ama");
    before.do(({ noteUnsent }) => noteUnsent([waiting("a.txt")]));
    before.do(({ abandonUnsent }) => abandonUnsent());
    expect(before.warns).toBe(false);
    await before.leave();
    expect((await browser.open("ama", before)).names()).toEqual(["a.txt"]);
  });
});

describe("two tabs", () => {
  it("a tab that is still sending is not taken for lost; once it is gone, the other tab says what is missing", async () => {
    const sending = await browser.open("ama");
    sending.do(({ noteUnsent }) => noteUnsent([waiting("a.txt"), waiting("b.txt")]));
    const other = await browser.open("ama");
    expect(other.names()).toEqual([]);
    sending.do(({ noteSettled }) => noteSettled("a.txt"));
    vi.advanceTimersByTime(1_000);
    await settle();
    expect(other.names()).toEqual([]);
    await sending.leave();
    expect(other.names()).toEqual(["b.txt"]);
  });

  it("a tab that begins to send later is watched too, and one that finishes is forgotten", async () => {
    const other = await browser.open("ama");
    const sending = await browser.open("ama");
    sending.do(({ noteUnsent }) => noteUnsent([waiting("a.txt")]));
    await settle();
    expect(other.names()).toEqual([]);
    sending.do(({ noteSettled }) => noteSettled("a.txt"));
    vi.advanceTimersByTime(1_000);
    await settle();
    expect(other.names()).toEqual([]);
    sending.do(({ noteUnsent }) => noteUnsent([waiting("b.txt")]));
    await sending.leave({ crashed: true });
    expect(other.names()).toEqual(["b.txt"]);
  });

  it("a notice that is dismissed in one tab goes from the other", async () => {
    const before = await browser.open("ama");
    before.do(({ noteUnsent }) => noteUnsent([waiting("a.txt")]));
    await before.leave();
    const [one, two] = [await browser.open("ama"), await browser.open("ama")];
    expect([one.names(), two.names()]).toEqual([["a.txt"], ["a.txt"]]);
    one.do(({ dismissLost }) => dismissLost());
    await settle();
    expect([one.names(), two.names()]).toEqual([[], []]);
    expect((await browser.open("ama")).names()).toEqual([]);
  });
});

describe("files that are chosen again", () => {
  it("leave the list, one for one by name and size", async () => {
    const before = await browser.open("ama");
    const twice = [
      waiting("a.txt", 1),
      { ...waiting("a.txt", 1), id: "another" },
      waiting("a.txt, longer", 2),
      { ...waiting("a.txt", 9), id: "third" },
    ];
    before.do(({ noteUnsent }) => noteUnsent(twice));
    await before.leave();
    const after = await browser.open("ama", before);
    after.do(({ strikeLost }) => strikeLost([{ name: "a.txt", size: 1 }]));
    expect(after.do(({ lostFiles }) => lostFiles.get().map(({ size }) => size))).toEqual([1, 2, 9]);
    await after.leave();
    const later = await browser.open("ama", after);
    later.do(({ strikeLost }) =>
      strikeLost([
        { name: "a.txt", size: 1 },
        { name: "a.txt, longer", size: 2 },
        { name: "a.txt", size: 9 },
      ]),
    );
    expect(later.names()).toEqual([]);
    expect(browser.storage.values.size).toBe(0);
  });
});

describe("a browser that keeps little", () => {
  it("uploads without a journal where storage is full", async () => {
    browser.storage.isFull = true;
    const page = await browser.open("ama");
    expect(() => page.do(({ noteUnsent }) => noteUnsent([waiting("a.txt")]))).not.toThrow();
    expect(page.warns).toBe(true);
  });

  it("passes over what it cannot read, and what is a month old", async () => {
    browser.storage.values.set("citewell.unsent/ama/one", "{");
    browser.storage.values.set("citewell.unsent/ama/two", '{"at":"yesterday","files":[]}');
    browser.storage.values.set("citewell.unsent/ama/three", '{"at":0,"files":[{"name":"old.txt","size":1}]}');
    browser.storage.values.set(
      "citewell.unsent/ama/four",
      JSON.stringify({ at: Date.now(), files: [{ name: 1 }, null, { name: "a.txt", size: 1 }] }),
    );
    expect((await browser.open("ama")).names()).toEqual(["a.txt"]);
    expect(browser.storage.values.size).toBe(1);
  });

  it("knows without locks what its own tab left, and waits a day for another's", async () => {
    browser = new FakeBrowser(false);
    const [mine, other] = [await browser.open("ama"), await browser.open("ama")];
    mine.do(({ noteUnsent }) => noteUnsent([waiting("mine.txt")]));
    other.do(({ noteUnsent }) => noteUnsent([waiting("other.txt")]));
    await mine.leave();
    const after = await browser.open("ama", mine);
    expect(after.names()).toEqual(["mine.txt"]);
    vi.advanceTimersByTime(25 * 3_600_000);
    expect((await browser.open("ama")).names().sort()).toEqual(["mine.txt", "other.txt"]);
  });
});
