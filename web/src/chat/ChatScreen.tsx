// The home screen: a conversation, its composer, and the source in a panel next to it.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { ApiError, type Message } from "../api/client";
import { threadQuery } from "../api/queries";
import { presentWorkspace } from "../api/workspace";
import { useTitle } from "../lib/hooks";
import { useStore } from "../lib/store";
import { t } from "../strings";
import { Empty, Failure, Loading } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { ViewerPanel } from "../viewer/ViewerPanel";
import { Composer } from "./Composer";
import { Conversation } from "./Conversation";
import { pendingScope, pendingText } from "./pending";
import { EVERYTHING, type Scope, scopeOf } from "./scope";
import { Elsewhere, Gone, useThreadPlace } from "./ThreadWorkspace";
import { askLater, beginThread, liveTurns, startTurn } from "./turns";
import { Welcome } from "./Welcome";

const LOOK_AGAIN_MS = 2_500;
const LONGEST_TURN_MS = 10 * 60_000;

/** Whether the newest message is a question that was asked not long ago. */
function mayBeAnswered(newest: Message | undefined): boolean {
  return newest?.role === "user" && Date.now() - Date.parse(newest.created_at) < LONGEST_TURN_MS;
}

export function ChatScreen({ threadId }: { threadId: string | null }): ReactNode {
  return (
    <div className="chat">
      <main className="chat-main">{threadId ? <ThreadChat threadId={threadId} /> : <NewChat />}</main>
      <ViewerPanel />
    </div>
  );
}

function NewChat(): ReactNode {
  const [, navigate] = useLocation();
  const [scope, setScope] = useState<Scope>(() => pendingScope.get());
  const [isStarting, setStarting] = useState(false);
  useTitle("");

  const submit = async (question: string, within = scope): Promise<void> => {
    const workspace = presentWorkspace();
    setStarting(true);
    try {
      const thread = await beginThread(question);
      void startTurn(thread.id, question, within, [], workspace);
      pendingScope.set(EVERYTHING);
      navigate(`/conversations/${thread.id}`);
    } catch (error) {
      pendingText.set(question);
      notifyError(error);
      setStarting(false);
    }
  };
  return (
    <>
      <div className="chat-scroll">
        <Welcome onAsk={(question, resourceId) => void submit(question, { resource_ids: [resourceId] })} />
      </div>
      <Composer scope={scope} onScope={setScope} isBusy={isStarting} onSubmit={(question) => void submit(question)} />
    </>
  );
}

function ThreadChat({ threadId }: { threadId: string }): ReactNode {
  const live = useStore(liveTurns, (all) => all[threadId]);
  const thread = useQuery({
    ...threadQuery(threadId),
    // Another tab may be waiting for the answer.
    refetchInterval: ({ state }) =>
      !live && (state.data?.answering || mayBeAnswered(state.data?.messages.at(-1))) ? LOOK_AGAIN_MS : false,
  });
  const [chosen, setChosen] = useState<Scope | null>(null);
  const lastAsked = thread.data?.messages.findLast((message) => message.role === "user");
  const place = useThreadPlace(lastAsked ? scopeOf(lastAsked.details) : EVERYTHING);
  useTitle(thread.data?.title ?? "");

  if (thread.isPending || !place.isKnown)
    return (
      <div className="chat-scroll">
        <div className="chat-column">
          <Loading lines={6} />
        </div>
      </div>
    );
  if (thread.isError) {
    const isGone = thread.error instanceof ApiError && thread.error.status === 404;
    return (
      <div className="chat-scroll">
        {isGone ? (
          <Empty title={t.notFoundTitle}>{t.notFoundText}</Empty>
        ) : (
          <Failure error={thread.error} onRetry={() => void thread.refetch()} />
        )}
      </div>
    );
  }
  const { workspace, scope: present } =
    live ?? (lastAsked ? place : { workspace: presentWorkspace(), scope: EVERYTHING });
  const scope = chosen ?? present;
  const isBusy = live ? !["stopped", "failed"].includes(live.phase) : thread.data.answering;
  const ask = (question: string): void => {
    const asked = { question, scope, ignored: [], workspace };
    if (isBusy) askLater(threadId, asked);
    else void startTurn(threadId, question, scope, [], workspace);
  };
  const isGone = place.isGone && !live;
  return (
    <>
      <Conversation thread={thread.data} live={live} isOver={isGone} />
      {isGone ? (
        <Gone />
      ) : workspace !== presentWorkspace() ? (
        <Elsewhere workspace={workspace} />
      ) : (
        <Composer threadId={threadId} scope={scope} onScope={setChosen} isBusy={isBusy} onSubmit={ask} />
      )}
    </>
  );
}
