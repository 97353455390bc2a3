// Files dragged anywhere over the window open the dialog with them.
import { Upload } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useStore } from "../lib/store";
import { pictureTaker } from "../playground/similar";
import { t } from "../strings";
import { notify } from "../ui/Toasts";
import { useWorkspace } from "../workspace/workspaces";
import { droppedFiles } from "./folders";
import { openUploadDialog, uploadDialog } from "./uploads";

export function DropTarget(): ReactNode {
  const [isOver, setOver] = useState(false);
  const takesPicture = useStore(pictureTaker) !== null;
  const { project, mayAdd } = useWorkspace();
  useEffect(() => {
    let depth = 0;
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true;
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth += 1;
      setOver((mayAdd || pictureTaker.get() !== null) && !uploadDialog.get().open);
    };
    const leave = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth -= 1;
      if (depth <= 0) setOver(false);
    };
    const over = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      const [picture, ...others] = event.dataTransfer.files;
      const take = pictureTaker.get();
      if (take && picture?.type.startsWith("image/") && !others.length) {
        take(picture);
        return;
      }
      if (!mayAdd && !uploadDialog.get().open) {
        notify(t.mayNotAdd);
        return;
      }
      void droppedFiles(event.dataTransfer).then(({ files, unreadable }) => {
        if (files.length || !unreadable) openUploadDialog([...uploadDialog.get().files, ...files]);
        if (unreadable) notify(t.unreadableDrop(unreadable));
      });
    };
    const listeners = { dragenter: enter, dragleave: leave, dragover: over, drop } as const;
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name as "drop", listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name as "drop", listener);
    };
  }, [mayAdd]);
  if (!isOver) return null;
  return (
    <div className="drop-overlay" aria-hidden>
      <div>
        <Upload size={34} />
        {takesPicture ? t.dropPicture : project ? t.dropIn(project.name) : t.dropAnywhere}
      </div>
    </div>
  );
}
