import { describe, expect, it } from "vitest";
import { readLines } from "../src/api/ndjson";

function body(...pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function all(stream: ReadableStream<Uint8Array>): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of readLines(stream)) lines.push(line);
  return lines;
}

const bytes = new TextEncoder().encode('{"stream":"GHS 5 000 – “naïve” 日本"}\n\n{"done":{"n":1}}');

describe("lines of JSON", () => {
  it("come out whole wherever the bytes were cut, also inside a character", async () => {
    const whole = await all(body(bytes));
    expect(whole).toEqual([{ stream: "GHS 5 000 – “naïve” 日本" }, { done: { n: 1 } }]);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      expect(await all(body(bytes.slice(0, cut), bytes.slice(cut)))).toEqual(whole);
    }
  });

  it("fail when the last one is broken off", async () => {
    await expect(all(body(bytes.slice(0, -3)))).rejects.toThrow();
  });
});
