// Your links to single answers: which there are, and ending one.
import { useQuery } from "@tanstack/react-query";
import { Link2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { api, type Schemas, unwrap } from "../api/client";
import { queryClient, threadQuery } from "../api/queries";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Failure, Loading } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { sharesQuery } from "./queries";
import { Section } from "./Section";

type Share = Schemas["ShareOut"];

export function SharesCard(): ReactNode {
  const shares = useQuery(sharesQuery());
  const [ended, setEnded] = useState<Share | null>(null);
  const end = async (): Promise<void> => {
    try {
      if (ended) await unwrap(api.DELETE("/shares/{share_id}", { params: { path: { share_id: ended.id } } }));
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["shares"] });
  };
  return (
    <Section title={t.sharesTitle} text={t.sharesText}>
      {shares.isPending && <Loading lines={1} />}
      {shares.isError && <Failure error={shares.error} onRetry={() => void shares.refetch()} />}
      {shares.data && !shares.data.length && <p className="muted small">{t.sharesNone}</p>}
      <ul className="tokens" aria-label={t.sharesTitle}>
        {shares.data?.map((share) => (
          <Line key={share.id} share={share} onEnd={() => setEnded(share)} />
        ))}
      </ul>
      <Confirm
        open={ended !== null}
        title={t.endShareTitle}
        text={t.endShareText}
        action={t.endShare}
        onConfirm={end}
        onClose={() => setEnded(null)}
      />
    </Section>
  );
}

function Line({ share, onEnd }: { share: Share; onEnd: () => void }): ReactNode {
  const thread = useQuery(threadQuery(share.thread));
  const title = thread.data?.title ?? t.conversation;
  return (
    <li className="token">
      <Link2 size={16} aria-hidden />
      <span className="grow">
        <strong>
          <Link href={`/conversations/${share.thread}`}>{title}</Link>
        </strong>
        <span className="muted small">
          {t.created} {formatDay(share.created_at)} · {t.expires} {formatDay(share.expires_at)}
        </span>
      </span>
      <Button small kind="quiet" onClick={onEnd} aria-label={t.endShareOf(title)}>
        {t.endShare}
      </Button>
    </li>
  );
}
