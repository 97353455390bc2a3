// What a browser calls itself, in words that people use.

/** The first that is named counts: most browsers name others, too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/(?:Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** The browser and its system; for programs, the name that they give themselves. */
export function agentParts(agent: string): { browser: string; system: string | null } {
  const known = (table: typeof BROWSERS): string | null => table.find(([mark]) => mark.test(agent))?.[1] ?? null;
  return { browser: known(BROWSERS) ?? agent.split(/[\s/]/, 1)[0] ?? "", system: known(SYSTEMS) };
}
