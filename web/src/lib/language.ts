// The language of the interface: what the browser prefers, or what is chosen in the settings of this browser.
import { english, speak, type Words } from "../strings";
import { setLocale } from "./format";
import { createStore } from "./store";

export type Language = "en" | "de" | "fr" | "es";

/** Each by the name that its speakers have for it. */
export const LANGUAGES: Readonly<Record<Language, string>> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
};
const KEY = "citewell.language";

/** One language is loaded; English is always there. */
const WORDS: Readonly<Record<Language, () => Promise<Words>>> = {
  en: async () => english,
  de: async () => (await import("../languages/de")).german,
  fr: async () => (await import("../languages/fr")).french,
  es: async () => (await import("../languages/es")).spanish,
};

/** Changes once the words of another language are in use. */
export const languageInUse = createStore<Language>("en");

function isLanguage(value: string | null | undefined): value is Language {
  return value !== null && value !== undefined && Object.hasOwn(LANGUAGES, value);
}

/** The language that was chosen; null where the browser decides. */
export function chosenLanguage(): Language | null {
  const stored = window.localStorage.getItem(KEY);
  return isLanguage(stored) ? stored : null;
}

/** The first of these preferences, `de-AT`, that there are words for, with its language. Without one, British English. */
export function preferred(
  preferences: readonly string[],
  chosen: Language | null,
): { language: Language; locale: string } {
  const known = preferences
    .map((locale) => ({ language: locale.slice(0, 2).toLowerCase(), locale }))
    .find(({ language }) => (chosen === null ? isLanguage(language) : language === chosen));
  if (known && isLanguage(known.language)) return { language: known.language, locale: known.locale };
  return chosen === null || chosen === "en"
    ? { language: "en", locale: "en-GB" }
    : { language: chosen, locale: chosen };
}

/** Choose a language, or leave it to the browser, and use it. */
export async function chooseLanguage(language: Language | null): Promise<void> {
  if (language === null) window.localStorage.removeItem(KEY);
  else window.localStorage.setItem(KEY, language);
  await applyLanguage();
}

/** Use the language that is chosen or preferred. Where its words cannot be loaded, the present ones stay. */
export async function applyLanguage(): Promise<void> {
  const { language, locale } = preferred(window.navigator.languages, chosenLanguage());
  speak(await WORDS[language]());
  setLocale(locale);
  document.documentElement.lang = language;
  languageInUse.set(language);
}
