// What an answer quotes from earlier conversations, apart from its sources: no file says it.
import { MessageCircle } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Message } from "../api/client";
import { formatDay } from "../lib/format";
import { t } from "../strings";

export function Remembered({ quotes }: { quotes: Message["remembered"] }): ReactNode {
  if (!quotes?.length) return null;
  return (
    <section className="stack" aria-label={t.rememberedTitle}>
      <h3 className="small muted">{t.rememberedTitle}</h3>
      <ul className="plain stack">
        {quotes.map((one) => (
          <li key={one.message_id} className="row">
            <MessageCircle size={15} aria-hidden />
            <Link href={`/conversations/${one.thread_id}`} title={one.quote}>
              {t.chatOf(formatDay(one.said_at))}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
