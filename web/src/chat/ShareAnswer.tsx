// Making a link to one answer, for people without an account.
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, api, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { Secret } from "../settings/Secret";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Notice } from "../ui/Notice";

const DAYS = [1, 7, 30, 90, 365];

interface ShareAnswerProps {
  open: boolean;
  threadId: string;
  messageId: string;
  onClose: () => void;
}

export function ShareAnswer({ open, threadId, messageId, onClose }: ShareAnswerProps): ReactNode {
  const [days, setDays] = useState(30);
  const [link, setLink] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const close = (): void => {
    setLink(null);
    setProblem(null);
    onClose();
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const path = { thread_id: threadId, message_id: messageId };
    try {
      const call = api.POST("/threads/{thread_id}/messages/{message_id}/share", { params: { path }, body: { days } });
      setLink(new URL((await unwrap(call)).path, window.location.href).href);
      await queryClient.invalidateQueries({ queryKey: ["shares"] });
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : t.noConnection);
    }
  };
  return (
    <Dialog open={open} onClose={close} title={t.shareAnswer} description={link ? undefined : t.shareAnswerText}>
      {link ? (
        <Secret
          secret={link}
          label={t.shareLink}
          once={t.shareOnce}
          copied={t.inviteCopied}
          action={t.copyLink}
          onClose={close}
        />
      ) : (
        <form className="stack" onSubmit={(event) => void submit(event)}>
          <label className="field">
            <span>{t.shareDays}</span>
            <select className="select" value={days} onChange={(event) => setDays(Number(event.target.value))}>
              {DAYS.map((one) => (
                <option key={one} value={one}>
                  {t.days(one)}
                </option>
              ))}
            </select>
          </label>
          {problem && <Notice kind="error">{problem}</Notice>}
          <div className="row form-end">
            <Button onClick={close}>{t.cancel}</Button>
            <Button kind="primary" type="submit">
              {t.createLink}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
