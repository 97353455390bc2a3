// Light, dark, or as the system.
import { Monitor, Moon, Sun } from "lucide-react";
import type { ReactNode } from "react";
import { setTheme, type Theme, useTheme } from "../lib/theme";
import { t } from "../strings";
import { Section } from "./Section";

const THEMES: readonly { theme: Theme; Icon: typeof Sun }[] = [
  { theme: "system", Icon: Monitor },
  { theme: "light", Icon: Sun },
  { theme: "dark", Icon: Moon },
];

export function Appearance(): ReactNode {
  const present = useTheme();
  return (
    <Section title={t.themeTitle}>
      <div className="themes" role="radiogroup" aria-label={t.themeTitle}>
        {THEMES.map(({ theme, Icon }) => (
          <label key={theme} className="theme">
            <input
              type="radio"
              name="theme"
              value={theme}
              checked={present === theme}
              onChange={() => setTheme(theme)}
            />
            <Icon size={17} aria-hidden />
            {t.theme[theme]}
          </label>
        ))}
      </div>
    </Section>
  );
}
