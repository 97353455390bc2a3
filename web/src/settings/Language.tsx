// The language of the interface: one of those there are, or as the browser prefers.
import type { ReactNode } from "react";
import { chooseLanguage, chosenLanguage, LANGUAGES, type Language } from "../lib/language";
import { t } from "../strings";
import { notifyError } from "../ui/Toasts";
import { Section } from "./Section";

export function LanguageChoice(): ReactNode {
  return (
    <Section title={t.languageTitle} text={t.languageText}>
      <select
        className="input language-select"
        aria-label={t.languageTitle}
        value={chosenLanguage() ?? ""}
        onChange={({ target }) => void chooseLanguage((target.value || null) as Language | null).catch(notifyError)}
      >
        <option value="">{t.languageOfBrowser}</option>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code} lang={code}>
            {name}
          </option>
        ))}
      </select>
    </Section>
  );
}
