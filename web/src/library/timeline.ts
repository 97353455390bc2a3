// A resource's changes of state as stages with durations.
import type { Schemas } from "../api/client";
import { isFinal } from "../api/codes";

type StageOut = Schemas["StageOut"];

export interface StageEntry {
  status: string;
  at: string;
  /** Milliseconds until the next change; null while it lasts, and for the state that it ended in. */
  duration: number | null;
  /** Of the time of the whole version, 0 to 1. */
  share: number;
  details: Schemas["StageDetailsOut"];
}

export interface VersionTimeline {
  version: number;
  entries: StageEntry[];
  /** Milliseconds from the upload to the last change. */
  total: number;
}

/** One timeline per version, newest version first. */
export function timelineOf(stages: readonly StageOut[]): VersionTimeline[] {
  const versions = new Map<number, StageOut[]>();
  for (const stage of stages) versions.set(stage.version, [...(versions.get(stage.version) ?? []), stage]);
  return [...versions].sort(([a], [b]) => b - a).map(([version, own]) => ({ version, ...measured(own) }));
}

function measured(stages: readonly StageOut[]): { entries: StageEntry[]; total: number } {
  const times = stages.map((stage) => new Date(stage.at).getTime());
  const durations = times.map((time, index) => {
    const next = times[index + 1];
    return next === undefined || isFinal(stages[index]?.status ?? "") ? null : Math.max(0, next - time);
  });
  const total = durations.reduce<number>((sum, duration) => sum + (duration ?? 0), 0);
  const entries = stages.map((stage, index) => {
    const duration = durations[index] ?? null;
    return {
      status: stage.status,
      at: stage.at,
      duration,
      share: total && duration ? duration / total : 0,
      details: stage.details ?? {},
    };
  });
  return { entries, total };
}

export interface VersionNote {
  version: number;
  at: string;
}

/** When each version came, newest first. */
export function versionsOf(stages: readonly StageOut[]): VersionNote[] {
  const first = new Map<number, string>();
  for (const { version, at } of stages) if (!first.has(version)) first.set(version, at);
  return [...first].map(([version, at]) => ({ version, at })).sort((a, b) => b.version - a.version);
}
