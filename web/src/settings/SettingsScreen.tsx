// What this server is and does: health, index, tokens, usage, appearance.
import type { ReactNode } from "react";
import { useTitle } from "../lib/hooks";
import { t } from "../strings";
import { Account } from "./Account";
import { Appearance } from "./Appearance";
import { HealthCard } from "./HealthCard";
import { IndexCard } from "./IndexCard";
import { LocalModelCard } from "./LocalModel";
import { TelegramCard } from "./TelegramCard";
import { TokensCard } from "./TokensCard";
import { UsageCard } from "./UsageCard";
import { WebhooksCard } from "./WebhooksCard";
import "./settings.css";

export default function SettingsScreen({ version }: { version: string }): ReactNode {
  useTitle(t.settings);
  return (
    <main className="screen settings">
      <div className="settings-inner stack">
        <header>
          <h1>{t.settings}</h1>
        </header>
        <Appearance />
        <HealthCard />
        <LocalModelCard />
        <IndexCard />
        <UsageCard />
        <TelegramCard />
        <TokensCard />
        <WebhooksCard />
        <Account version={version} />
      </div>
    </main>
  );
}
