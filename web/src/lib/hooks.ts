// Small hooks that several screens share.
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

/** The value once it has not changed for a while. */
export function useDebounced<T>(value: T, milliseconds = 200): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}

/** The newest value, but not more often than so many milliseconds. */
export function useThrottled<T>(value: T, milliseconds: number): T {
  const [passed, setPassed] = useState(value);
  const next = useRef(0);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        next.current = Date.now() + milliseconds;
        setPassed(value);
      },
      Math.max(0, next.current - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return passed;
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => window.matchMedia(query).matches,
  );
}

export const PHONE = "(max-width: 760px)";

/** Where a source is under the screen that it belongs to, as there is no room beside it. */
export const NO_ROOM_BESIDE = "(max-width: 1020px)";

/** Sets the tab's title while the screen is shown. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Citewell` : "Citewell";
  }, [title]);
}

/** The key that shortcuts go with, as this system writes it. */
export function commandKey(): string {
  return /^(Mac|iP)/.test(navigator.platform) ? "⌘" : "Ctrl ";
}

/** Call `action` for ⌘K or Ctrl+K and the like. */
export function useShortcut(key: string, action: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === key) {
        event.preventDefault();
        action();
      }
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [key, action]);
}
