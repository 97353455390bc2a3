// Who wrote an e-mail to whom, when, and what is attached.
import { useQuery } from "@tanstack/react-query";
import { Paperclip } from "lucide-react";
import type { ReactNode } from "react";
import type { Resource } from "../api/client";
import { presentWorkspace } from "../api/workspace";
import { childrenQuery } from "../library/queries";
import { t } from "../strings";
import { useShared, workspaceOf } from "../workspace/workspaces";
import { openViewer } from "./state";

const FIELDS = ["from", "to", "cc", "date", "subject"];

export function MailHead({ resource }: { resource: Resource }): ReactNode {
  const isMail = ["eml", "msg", "mbox"].includes(resource.type) || resource.mime_type === "message/rfc822";
  const workspace = workspaceOf(resource, useShared(), presentWorkspace());
  const children = useQuery({ ...childrenQuery(resource.id, workspace), enabled: isMail });
  if (!isMail) return null;
  const fields = FIELDS.map((name) => [name, resource.extraction_metadata[name]] as const).filter(([, value]) =>
    Boolean(value),
  );
  return (
    <div className="mail-head">
      <dl>
        {fields.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{Array.isArray(value) ? value.join(", ") : String(value)}</dd>
          </div>
        ))}
      </dl>
      {Boolean(children.data?.length) && (
        <ul aria-label={t.attachments}>
          {children.data?.map(({ id, filename }) => (
            <li key={id}>
              <button type="button" className="chip" onClick={() => openViewer({ resourceId: id, filename })}>
                <Paperclip size={13} aria-hidden />
                <span className="chip-name">{filename}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
