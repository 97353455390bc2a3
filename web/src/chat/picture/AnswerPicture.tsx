// The picture of a computed answer. What draws it is loaded when there is one to show; one that nobody asked for waits folded up.
import { ChartColumn } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Message } from "../../api/client";
import { t } from "../../strings";
import { Loading } from "../../ui/Notice";

const PictureView = lazy(() => import("./PictureView"));

export function AnswerPicture({ picture }: { picture: Message["details"]["picture"] }): ReactNode {
  const [open, setOpen] = useState(picture?.usermeta.citewell.open ?? false);
  if (!picture) return null;
  if (!open)
    return (
      <button type="button" className="picture-offer" onClick={() => setOpen(true)}>
        <ChartColumn size={16} aria-hidden />
        <span className="truncate">{t.showPicture(picture.title)}</span>
      </button>
    );
  return (
    <Suspense
      fallback={
        <div className="picture-wait">
          <Loading lines={4} />
        </div>
      }
    >
      <PictureView picture={picture} />
    </Suspense>
  );
}
