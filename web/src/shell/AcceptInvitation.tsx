// Somebody who is signed in has opened the link of an invitation.
import { type ReactNode, useState } from "react";
import { api, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { notify, notifyError } from "../ui/Toasts";

export function AcceptInvitation({ invitation }: { invitation: string }): ReactNode {
  const [isOpen, setOpen] = useState(true);
  const accept = async (): Promise<void> => {
    setOpen(false);
    try {
      await unwrap(api.POST("/invitations/accept", { body: { invitation } }));
      notify(t.invitationAccepted);
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["shared-projects"] });
  };
  return (
    <Dialog
      open={isOpen}
      onClose={() => setOpen(false)}
      title={t.invitedTitle}
      actions={
        <>
          <Button onClick={() => setOpen(false)}>{t.cancel}</Button>
          <Button kind="primary" onClick={() => void accept()}>
            {t.acceptInvitation}
          </Button>
        </>
      }
    >
      {t.invitedText}
    </Dialog>
  );
}
