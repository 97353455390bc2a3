// What an index's fingerprint says: `builtin/all-MiniLM-L6-v2/384@39fdedf6cba8`.
export interface Fingerprint {
  provider: string;
  model: string;
  dimensions: number | null;
  revision: string;
}

/** The parts of a fingerprint; a model's name may itself hold slashes. */
export function readFingerprint(fingerprint: string): Fingerprint {
  const [name = "", revision = ""] = fingerprint.split("@");
  const parts = name.split("/");
  const last = Number(parts.at(-1));
  const hasDimensions = parts.length > 2 && Number.isInteger(last);
  const model = parts.slice(1, hasDimensions ? -1 : undefined).join("/");
  return { provider: parts[0] ?? "", model: model || fingerprint, dimensions: hasDimensions ? last : null, revision };
}
