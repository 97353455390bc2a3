// This browser's session, and where the rest is documented.
import { BookOpen, LogOut } from "lucide-react";
import type { ReactNode } from "react";
import { signOut } from "../api/session";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { notifyError } from "../ui/Toasts";
import { Section } from "./Section";

export function Account({ version }: { version: string }): ReactNode {
  const leave = (): void => void signOut().then(() => window.location.assign("/"), notifyError);
  return (
    <Section title={t.account} text={t.version(version)}>
      <div className="row wrap">
        <Button onClick={leave}>
          <LogOut size={16} aria-hidden />
          {t.signOut}
        </Button>
        <a className="button button-quiet" href="/docs">
          <BookOpen size={16} aria-hidden />
          {t.apiDocs}
        </a>
      </div>
    </Section>
  );
}
