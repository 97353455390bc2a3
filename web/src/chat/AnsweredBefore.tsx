// Says that an answer was given before to an equal question, and offers to ask again.
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Message } from "../api/client";
import { formatDay } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";

interface AnsweredBeforeProps {
  details: Message["details"];
  threadId: string;
  onAgain?: (() => void) | undefined;
}

export function AnsweredBefore({ details, threadId, onAgain }: AnsweredBeforeProps): ReactNode {
  const before = details.answered_before;
  if (!before) return null;
  const when = t.answeredBefore(formatDay(new Date(before.answered_at * 1000).toISOString()));
  return (
    <div className="row wrap small muted">
      {before.thread_id === threadId ? (
        <span>{when}</span>
      ) : (
        <Link href={`/conversations/${before.thread_id}`} title={before.question}>
          {when}
        </Link>
      )}
      {onAgain && (
        <Button small onClick={onAgain}>
          {t.askAnew}
        </Button>
      )}
    </div>
  );
}
