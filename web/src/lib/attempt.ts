// What may fail without harm: storage may be full, forbidden, or hold what another program wrote.

export function attempt<T>(access: () => T): T | null {
  try {
    return access();
  } catch {
    return null;
  }
}
