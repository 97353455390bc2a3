// This browser's session, and where the rest is documented.
import { BookOpen, LogOut } from "lucide-react";
import { type ReactNode, useState } from "react";
import { signOut } from "../api/session";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { notifyError } from "../ui/Toasts";
import { abandonUnsent, countUnderWay } from "../upload/unsent";
import { Section } from "./Section";

export function Account({ version }: { version: string }): ReactNode {
  /** How many files signing out would stop, once that is asked about. */
  const [asked, setAsked] = useState(0);
  const leave = async (): Promise<void> => {
    try {
      await signOut();
    } catch (error) {
      notifyError(error);
      return;
    }
    abandonUnsent();
    window.location.assign("/");
  };
  const ask = (): void => {
    const waiting = countUnderWay();
    if (waiting) setAsked(waiting);
    else void leave();
  };
  return (
    <Section title={t.account} text={t.version(version)}>
      <div className="row wrap">
        <Button onClick={ask}>
          <LogOut size={16} aria-hidden />
          {t.signOut}
        </Button>
        <a className="button button-quiet" href="/docs">
          <BookOpen size={16} aria-hidden />
          {t.apiDocs}
        </a>
      </div>
      <Confirm
        open={asked > 0}
        title={t.signOutTitle}
        text={t.signOutText(asked)}
        action={t.signOut}
        onConfirm={leave}
        onClose={() => setAsked(0)}
      />
    </Section>
  );
}
