// Telegram: make a code that links an account, see which accounts are linked, unlink.
import { useQuery } from "@tanstack/react-query";
import { ExternalLink, Plus, Send } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { telegramQuery } from "./queries";
import { Section } from "./Section";

type Link = Schemas["TelegramLinkOut"];
type Code = Schemas["TelegramCodeOut"];

export function TelegramCard(): ReactNode {
  const telegram = useQuery(telegramQuery());
  const [code, setCode] = useState<Code | null>(null);
  const [unlinked, setUnlinked] = useState<Link | null>(null);
  const link = async (): Promise<void> => {
    try {
      setCode(await unwrap(api.POST("/telegram/codes")));
    } catch (error) {
      notifyError(error);
    }
  };
  const unlink = async (): Promise<void> => {
    try {
      if (unlinked)
        await unwrap(api.DELETE("/telegram/links/{user_id}", { params: { path: { user_id: unlinked.user_id } } }));
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["telegram"] });
  };
  const bot = telegram.data?.bot;
  return (
    <Section
      title={t.telegramTitle}
      text={t.telegramText}
      action={
        bot && (
          <Button small onClick={() => void link()}>
            <Plus size={15} aria-hidden />
            {t.telegramLink}
          </Button>
        )
      }
    >
      {telegram.isPending && <Loading lines={2} />}
      {telegram.isError && <Failure error={telegram.error} onRetry={() => void telegram.refetch()} />}
      {telegram.data && <p className="muted small">{bot ? t.telegramBot(bot) : t.telegramNoBot}</p>}
      {code && <LinkCode code={code} />}
      <Links links={telegram.data?.links ?? []} onUnlink={setUnlinked} />
      <Confirm
        open={unlinked !== null}
        title={t.unlinkTitle}
        text={t.unlinkText(unlinked?.name ?? "")}
        action={t.unlink}
        onConfirm={unlink}
        onClose={() => setUnlinked(null)}
      />
    </Section>
  );
}

function LinkCode({ code }: { code: Code }): ReactNode {
  return (
    <div className="stack">
      <Notice kind="info">{t.telegramSend}</Notice>
      <div className="secret">
        <input
          className="input secret-value"
          readOnly
          aria-label={t.telegramCode}
          value={code.code}
          onFocus={(event) => event.target.select()}
        />
        {code.address && (
          <a className="button" href={code.address} target="_blank" rel="noreferrer">
            <ExternalLink size={15} aria-hidden />
            {t.telegramOpen}
          </a>
        )}
      </div>
    </div>
  );
}

function Links({ links, onUnlink }: { links: Link[]; onUnlink: (link: Link) => void }): ReactNode {
  return (
    <ul className="tokens">
      {links.map((link) => (
        <li key={link.user_id} className="token">
          <Send size={16} aria-hidden />
          <span className="grow">
            <strong>{link.name}</strong>
            <span className="muted small">
              {t.telegramLinked} {formatDay(link.linked_at)}
            </span>
          </span>
          <Button small kind="quiet" onClick={() => onUnlink(link)} aria-label={t.unlinkNamed(link.name)}>
            {t.unlink}
          </Button>
        </li>
      ))}
    </ul>
  );
}
