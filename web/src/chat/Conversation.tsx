// Questions and answers, oldest first; follows the newest unless the reader has scrolled away.
import { ArrowDown, Pencil } from "lucide-react";
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Message, Schemas } from "../api/client";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { Notice } from "../ui/Notice";
import { notifyError } from "../ui/Toasts";
import { find, useShared } from "../workspace/workspaces";
import { Answer } from "./Answer";
import { AnswerActions } from "./AnswerActions";
import { AnsweredBefore } from "./AnsweredBefore";
import { InferredFilters } from "./InferredFilters";
import { withoutMarkers } from "./markers";
import { Nearest } from "./Nearest";
import { inOrder } from "./order";
import { AnswerPicture } from "./picture/AnswerPicture";
import { Remembered } from "./Remembered";
import { ScopeNote } from "./ScopeNote";
import { Sources } from "./Sources";
import { ignoredOf, type Scope, scopeOf, within } from "./scope";
import { dropTurn, isStopped, type LiveTurn, openQuestion, refresh, startTurn, takeBack } from "./turns";

const NEAR_END = 80;

interface ConversationProps {
  thread: Schemas["ThreadWithMessages"];
  live: LiveTurn | undefined;
  /** Whether nothing more can be asked: the project that it is about is gone. */
  isOver?: boolean;
}

export function Conversation({ thread, live, isOver = false }: ConversationProps): ReactNode {
  const shared = useShared();
  const scroller = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const stick = useRef(true);
  // A stored copy of the question may already be at the end while its answer is still coming.
  const messages = live ? withoutLive(thread.messages, live) : thread.messages;
  const asked = useRef(live?.question);
  const isRunning = live ? !isEnded(live) : thread.answering;

  const toEnd = (): void => {
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  // After every render, as each may have made the conversation longer.
  useLayoutEffect(() => {
    if (asked.current !== live?.question) stick.current = true;
    asked.current = live?.question;
    if (stick.current) toEnd();
  });
  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return;
    stick.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
    setAtEnd(stick.current);
  };

  /** Take the question at `index` back and ask it again, in other words if need be, of the files that it was about. */
  const askAgain = async (index: number, without?: string, question?: string): Promise<void> => {
    const message = messages[index];
    if (!message) return;
    try {
      dropTurn(thread.id);
      await takeBack(thread.id, message.id);
      const ignored = ignoredOf(message.details);
      const all = without === undefined || ignored === true ? ignored : [...ignored, without];
      const { workspace, scope } = within(scopeOf(message.details), (id) => find(shared, id) !== null);
      void startTurn(thread.id, question ?? message.content, scope, all, workspace, question !== undefined);
    } catch (error) {
      notifyError(error);
    }
  };
  return (
    <div className="chat-scroll-frame">
      <div className="chat-scroll" ref={scroller} onScroll={onScroll} tabIndex={-1}>
        <div className="chat-column" role="log" aria-label={thread.title}>
          <h1 className="visually-hidden">{thread.title}</h1>
          {messages.map((message, index) =>
            message.role === "user" ? (
              <Question
                key={message.id}
                text={message.content}
                details={message.details}
                onEdit={isOver || isRunning ? undefined : (text) => void askAgain(index, undefined, text)}
              />
            ) : (
              <Reply
                key={message.id}
                threadId={thread.id}
                message={message}
                isLast={index === messages.length - 1 && !live && !isOver}
                onAgain={() => void askAgain(index - 1)}
                onWithout={(id) => void askAgain(index - 1, id)}
              />
            ),
          )}
          {!live && thread.answering && (
            <article className="reply" aria-label={t.answer} aria-busy>
              <Working text={t.thinking} />
            </article>
          )}
          {!live && !thread.answering && messages.at(-1)?.role === "user" && (
            <Unanswered text={t.noAnswerKept} onAgain={() => void askAgain(messages.length - 1)} />
          )}
          {live && <Live live={live} threadId={thread.id} />}
        </div>
      </div>
      {!isAtEnd && (
        <div className="to-end">
          <IconButton label={t.scrollDown} onClick={toEnd}>
            <ArrowDown size={18} aria-hidden />
          </IconButton>
        </div>
      )}
    </div>
  );
}

function withoutLive(messages: Message[], live: LiveTurn): Message[] {
  const open = openQuestion(messages, live.question);
  return open ? messages.slice(0, messages.indexOf(open)) : messages;
}

interface QuestionProps {
  text: string;
  details: Message["details"];
  onEdit?: ((text: string) => void) | undefined;
}

function Question({ text, details, onEdit }: QuestionProps): ReactNode {
  const [isEdited, setEdited] = useState(false);
  return (
    <article className="question" aria-label={t.you}>
      <ScopeNote scope={scopeOf(details)} />
      {isEdited && onEdit ? (
        <QuestionForm text={text} onAsk={onEdit} onClose={() => setEdited(false)} />
      ) : (
        <div className="question-row">
          {onEdit && (
            <IconButton small label={t.editQuestion} onClick={() => setEdited(true)}>
              <Pencil size={15} aria-hidden />
            </IconButton>
          )}
          <div className="question-text">{text}</div>
        </div>
      )}
    </article>
  );
}

interface QuestionFormProps {
  text: string;
  onAsk: (text: string) => void;
  onClose: () => void;
}

/** The question in a field of its own; what came after it goes when it is asked again. */
function QuestionForm({ text, onAsk, onClose }: QuestionFormProps): ReactNode {
  const [edited, setEdited] = useState(text);
  const ask = (): void => {
    if (!edited.trim()) return;
    onClose();
    onAsk(edited.trim());
  };
  return (
    <form
      className="question-form"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <textarea
        className="input"
        dir="auto"
        rows={Math.min(8, edited.split("\n").length + 1)}
        aria-label={t.editQuestion}
        value={edited}
        maxLength={32_000}
        autoFocus
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          ask();
        }}
      />
      <p className="muted small">{t.editQuestionText}</p>
      <div className="row form-end">
        <Button small onClick={onClose}>
          {t.cancel}
        </Button>
        <Button small kind="primary" type="submit" disabled={!edited.trim()}>
          {t.askEdited}
        </Button>
      </div>
    </form>
  );
}

function isEnded({ phase }: LiveTurn): boolean {
  return phase === "stopped" || phase === "failed";
}

interface ReplyProps {
  threadId: string;
  message: Message;
  isLast: boolean;
  onAgain: () => void;
  onWithout: (id: string) => void;
}

function Reply({ threadId, message, isLast, onAgain, onWithout }: ReplyProps): ReactNode {
  const ordered = useMemo(() => ({ ...message, ...orderOf(message) }), [message]);
  const problem = message.details.error;
  if (problem && !message.content) return <Unanswered text={problem.message || t.noAnswerKept} onAgain={onAgain} />;
  if (isStopped(message)) {
    return (
      <article className="reply" aria-label={t.answer}>
        <Answer text={withoutMarkers(message.content)} />
        <Unanswered text={t.stopped} onAgain={onAgain} />
      </article>
    );
  }
  return (
    <article className="reply" aria-label={t.answer}>
      <InferredFilters details={message.details} isLast={isLast} onWithout={onWithout} />
      <Answer text={ordered.content} citations={ordered.citations} />
      {message.details.notice && <Notice>{message.details.notice}</Notice>}
      <AnswerPicture picture={message.details.picture} />
      <Sources citations={ordered.citations} />
      <Remembered quotes={message.remembered} />
      <Nearest details={message.details} />
      <AnsweredBefore details={message.details} threadId={threadId} onAgain={isLast ? onAgain : undefined} />
      <AnswerActions threadId={threadId} message={ordered} isLast={isLast} onAgain={onAgain} />
    </article>
  );
}

function orderOf({ content, citations }: Message): Pick<Message, "content" | "citations"> {
  const ordered = inOrder(content, citations);
  return { content: ordered.text, citations: ordered.citations };
}

function Live({ live, threadId }: { live: LiveTurn; threadId: string }): ReactNode {
  const again = async (): Promise<void> => {
    dropTurn(threadId);
    const { messages } = await refresh(threadId);
    // The server may have kept the question although its answer broke off.
    const open = openQuestion(messages, live.question);
    if (open) await takeBack(threadId, open.id);
    void startTurn(threadId, live.question, live.scope, live.ignored, live.workspace);
  };
  const isOver = isEnded(live);
  return (
    <>
      <Question text={live.question} details={{ scope: keptScope(live) }} />
      <article className="reply" aria-label={t.answer} aria-busy={!isOver}>
        {live.text && <Answer text={withoutMarkers(live.text)} />}
        {live.phase === "thinking" && <Thinking progress={live.progress} reading={live.reading} />}
        {live.phase === "reconnecting" && <Working text={t.reconnecting} />}
        {isOver && <Unanswered text={live.problem ?? t.stopped} onAgain={() => void again().catch(notifyError)} />}
      </article>
    </>
  );
}

/** The scope of a live turn as the server will keep it. */
function keptScope({ workspace, scope }: LiveTurn): Scope {
  return workspace === null ? scope : { ...scope, project: workspace };
}

/** What is under way before the first word: reading long files is counted part by part. */
function Thinking({ progress, reading }: Pick<LiveTurn, "progress" | "reading">): ReactNode {
  if (!progress?.total) return <Working text={reading ? t.modelReads(reading.tokens, reading.seconds) : t.thinking} />;
  return (
    <div className="reading">
      <Working text={t.readingParts(progress.done, progress.total)} />
      <div
        className="progress"
        role="progressbar"
        aria-label={t.thinking}
        aria-valuemin={0}
        aria-valuenow={progress.done}
        aria-valuemax={progress.total}
      >
        <div className="progress-bar" style={{ width: `${(progress.done / progress.total) * 100}%` }} />
      </div>
    </div>
  );
}

function Working({ text }: { text: string }): ReactNode {
  return (
    <p className="working" role="status">
      <span className="working-dots" aria-hidden>
        <i />
        <i />
        <i />
      </span>
      {text}
    </p>
  );
}

function Unanswered({ text, onAgain }: { text: string; onAgain: () => void }): ReactNode {
  return (
    <Notice kind="warn">
      <div className="spread">
        <span>{text}</span>
        <Button small onClick={onAgain}>
          {t.askAgain}
        </Button>
      </div>
    </Notice>
  );
}
