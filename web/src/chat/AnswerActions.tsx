// What one can do with an answer, and what else the server says about it.
import { Copy, RefreshCw, Share2, ThumbsDown, ThumbsUp } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type Citation, type Message, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { chunkQuery } from "../api/resources";
import { t } from "../strings";
import { IconButton } from "../ui/Button";
import { notify, notifyError } from "../ui/Toasts";
import { find, useShared } from "../workspace/workspaces";
import { withReferences } from "./markers";
import { ShareAnswer } from "./ShareAnswer";
import { scopeOf, within } from "./scope";

/** The passages of citations that quote rows: the names of their columns are in them alone. A deleted one is quoted as it is. */
async function cellsBehind(citations: readonly Citation[]): Promise<Map<string, string>> {
  const ofRows = citations.filter(({ quote, available }) => quote.includes("|") && available !== false);
  const found = await Promise.allSettled(
    ofRows.map(
      async (citation) => [citation.chunk_id, (await queryClient.fetchQuery(chunkQuery(citation))).text] as const,
    ),
  );
  return new Map(found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
}

interface AnswerActionsProps {
  threadId: string;
  message: Message;
  isLast: boolean;
  onAgain: () => void;
}

type Rating = "up" | "down" | null;

export function AnswerActions({ threadId, message, isLast, onAgain }: AnswerActionsProps): ReactNode {
  const stored = message.details.feedback;
  const [rating, setRating] = useState<Rating>(stored?.rating ?? null);
  const [isSharing, setSharing] = useState(false);
  const shared = useShared();
  // What another's project says is not one's own to publish.
  const isOwn = within(scopeOf(message.details), (id) => find(shared, id) !== null).workspace === null;

  const copy = async (): Promise<void> => {
    const texts = await cellsBehind(message.citations);
    await navigator.clipboard.writeText(withReferences(message.content, message.citations, t.references, texts));
    notify(t.copied);
  };
  const rate = async (next: Rating): Promise<void> => {
    const before = rating;
    setRating(next);
    try {
      await unwrap(
        api.PUT("/threads/{thread_id}/messages/{message_id}/feedback", {
          params: { path: { thread_id: threadId, message_id: message.id } },
          body: { rating: next },
        }),
      );
      if (next) notify(t.feedbackThanks);
    } catch (error) {
      setRating(before);
      notifyError(error);
    }
  };
  return (
    <div className="reply-actions">
      <IconButton small label={t.copy} onClick={() => void copy().catch(notifyError)}>
        <Copy size={15} aria-hidden />
      </IconButton>
      {message.citations.length > 0 && isOwn && (
        <IconButton small label={t.shareAnswer} onClick={() => setSharing(true)}>
          <Share2 size={15} aria-hidden />
        </IconButton>
      )}
      {isLast && (
        <IconButton small label={t.regenerate} onClick={onAgain}>
          <RefreshCw size={15} aria-hidden />
        </IconButton>
      )}
      <IconButton
        small
        label={t.goodAnswer}
        aria-pressed={rating === "up"}
        onClick={() => void rate(rating === "up" ? null : "up")}
      >
        <ThumbsUp size={15} aria-hidden />
      </IconButton>
      <IconButton
        small
        label={t.badAnswer}
        aria-pressed={rating === "down"}
        onClick={() => void rate(rating === "down" ? null : "down")}
      >
        <ThumbsDown size={15} aria-hidden />
      </IconButton>
      <ShareAnswer open={isSharing} threadId={threadId} messageId={message.id} onClose={() => setSharing(false)} />
    </div>
  );
}
