import { expect, it } from "vitest";
import { timelineOf, versionsOf } from "../../src/library/timeline";

const stage = (status: string, seconds: number, version = 1) => ({
  status,
  at: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString(),
  version,
  details: {},
});

it("measures each stage until the next begins", () => {
  const [only] = timelineOf([
    stage("uploaded", 0),
    stage("extracting", 1),
    stage("extracted", 4),
    stage("indexing", 4),
    stage("indexed", 10),
  ]);
  expect(only?.total).toBe(10_000);
  expect(only?.entries.map(({ status, duration }) => [status, duration])).toEqual([
    ["uploaded", 1_000],
    ["extracting", 3_000],
    ["extracted", 0],
    ["indexing", 6_000],
    ["indexed", null],
  ]);
  expect(only?.entries[3]?.share).toBe(0.6);
});

it("does not count the time between an end and a new attempt", () => {
  const [only] = timelineOf([
    stage("extracting", 0),
    stage("failed", 2),
    stage("extracting", 50),
    stage("indexed", 53),
  ]);
  expect(only?.total).toBe(5_000);
});

it("tells versions apart, the newest first", () => {
  const stages = [stage("uploaded", 0), stage("indexed", 1), stage("uploaded", 20, 2), stage("extracting", 21, 2)];
  expect(timelineOf(stages).map(({ version, entries }) => [version, entries.length])).toEqual([
    [2, 2],
    [1, 2],
  ]);
  expect(versionsOf(stages)).toEqual([
    { version: 2, at: stages[2]?.at },
    { version: 1, at: stages[0]?.at },
  ]);
});

it("gives the stage that lasts no duration", () => {
  expect(timelineOf([stage("uploaded", 0)])[0]?.entries[0]?.duration).toBeNull();
  expect(timelineOf([])).toEqual([]);
});
