// What this server is and does: health, index, account, members, people, keys, links, usage, quotas, the audit log, and your data.
import type { ReactNode } from "react";
import type { Session } from "../api/session";
import { useTitle } from "../lib/hooks";
import { t } from "../strings";
import { Notice } from "../ui/Notice";
import { useWorkspace } from "../workspace/workspaces";
import { Account } from "./Account";
import { Appearance } from "./Appearance";
import { AuditCard } from "./AuditCard";
import { DataCard } from "./DataCard";
import { HealthCard } from "./HealthCard";
import { IndexCard } from "./IndexCard";
import { LanguageChoice } from "./Language";
import { LocalModelCard } from "./LocalModel";
import { MembersCard } from "./MembersCard";
import { MemoryCard } from "./MemoryCard";
import { PeopleCard } from "./PeopleCard";
import { PersonCard } from "./PersonCard";
import { QuotaCard } from "./QuotaCard";
import { ServiceAccountsCard } from "./ServiceAccountsCard";
import { SharesCard } from "./SharesCard";
import { TelegramCard } from "./TelegramCard";
import { TokensCard } from "./TokensCard";
import { UsageCard } from "./UsageCard";
import { WebhooksCard } from "./WebhooksCard";
import "./settings.css";

export default function SettingsScreen({ session }: { session: Session }): ReactNode {
  const { project } = useWorkspace();
  useTitle(t.settings);
  return (
    <main className="screen settings">
      <div className="settings-inner stack">
        <header>
          <h1>{t.settings}</h1>
        </header>
        {project && <Notice>{t.settingsAreOwn(project.name)}</Notice>}
        <LanguageChoice />
        <Appearance />
        <MemoryCard />
        <HealthCard />
        <LocalModelCard />
        <IndexCard />
        <UsageCard />
        <QuotaCard />
        <TelegramCard />
        {session.person !== null && <PersonCard session={session} />}
        {session.person !== null && <MembersCard isAdministrator={session.isAdministrator} />}
        {session.person !== null && <ServiceAccountsCard />}
        {session.person !== null && session.isAdministrator && <PeopleCard owner={session.owner} />}
        <TokensCard hasScopes={session.accounts} />
        <SharesCard />
        <WebhooksCard />
        <AuditCard isAdministrator={session.isAdministrator} />
        <DataCard hasAccount={session.person !== null} />
        <Account version={session.version} />
      </div>
    </main>
  );
}
