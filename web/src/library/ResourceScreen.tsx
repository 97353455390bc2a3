// One file: what happened to it, what was read, what is indexed; the original in a panel next to it.
import { Tabs } from "@base-ui/react/tabs";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { ApiError, type Resource } from "../api/client";
import { resourceQuery } from "../api/queries";
import { useTitle } from "../lib/hooks";
import { t } from "../strings";
import { Empty, Failure, Loading } from "../ui/Notice";
import { notify, notifyError } from "../ui/Toasts";
import { closeViewer, openViewer } from "../viewer/state";
import { tablesOf } from "../viewer/tables";
import { ViewerPanel } from "../viewer/ViewerPanel";
import { Attention } from "./Attention";
import { replaceFile } from "./actions";
import { Columns } from "./Columns";
import { Contents } from "./Contents";
import { DeleteFiles } from "./DeleteFiles";
import { Overview } from "./Overview";
import { passageQuery } from "./queries";
import { ResourceHead } from "./ResourceHead";
import "./library.css";
import "./resource.css";

export default function ResourceScreen({ id }: { id: string }): ReactNode {
  const resource = useQuery(resourceQuery(id));
  useTitle(resource.data?.filename ?? t.library);
  const isGone = resource.error instanceof ApiError && resource.error.status === 404;
  return (
    <div className="resource-frame">
      <main className="screen resource">
        <div className="screen-inner stack resource-inner">
          {resource.isPending && <Loading lines={8} />}
          {resource.isError &&
            (isGone ? (
              <Empty title={t.notFoundTitle}>{t.notFoundText}</Empty>
            ) : (
              <Failure error={resource.error} onRetry={() => void resource.refetch()} />
            ))}
          {resource.data && <FileDetails resource={resource.data} />}
        </div>
      </main>
      <ViewerPanel />
    </div>
  );
}

function FileDetails({ resource }: { resource: Resource }): ReactNode {
  const [, navigate] = useLocation();
  useLinkedPassage(resource);
  const [deleting, setDeleting] = useState<readonly Resource[] | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const tables = tablesOf(resource);
  const replace = (file: File | undefined): void => {
    if (file) void replaceFile(resource.id, file).then(() => notify(t.newVersionDone), notifyError);
  };
  const askForFile = (): void => picker.current?.click();
  return (
    <>
      <ResourceHead resource={resource} onReplace={askForFile} onDelete={() => setDeleting([resource])} />
      <Attention resource={resource} onReplace={askForFile} />
      <Tabs.Root defaultValue="overview">
        <Tabs.List className="tabs-list" aria-label={t.details}>
          <Tabs.Tab className="tab" value="overview">
            {t.overview}
          </Tabs.Tab>
          {resource.coverage && (
            <Tabs.Tab className="tab" value="contents">
              {t.contents}
            </Tabs.Tab>
          )}
          {tables.length > 0 && (
            <Tabs.Tab className="tab" value="columns">
              {t.columns}
            </Tabs.Tab>
          )}
        </Tabs.List>
        <Tabs.Panel value="overview" className="tab-panel">
          <Overview resource={resource} />
        </Tabs.Panel>
        <Tabs.Panel value="contents" className="tab-panel">
          <Contents resource={resource} />
        </Tabs.Panel>
        <Tabs.Panel value="columns" className="tab-panel">
          <Columns resource={resource} />
        </Tabs.Panel>
      </Tabs.Root>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label={t.newVersion}
        onChange={(event) => {
          replace(event.target.files?.[0]);
          event.target.value = "";
        }}
      />
      <DeleteFiles
        files={deleting}
        onClose={() => setDeleting(null)}
        onDeleted={() => {
          closeViewer();
          navigate("/library");
        }}
      />
    </>
  );
}

/** Opens the passage that a link names: `?passage=ID`, as answers to other programs give it. */
function useLinkedPassage({ id, filename }: Resource): void {
  const [address] = useSearchParams();
  const passage = useQuery(passageQuery(id, address.get("passage")));
  const found = passage.data;
  useEffect(() => {
    if (found) openViewer({ resourceId: id, filename, locator: found.locator, quote: found.text });
  }, [found, id, filename]);
  useEffect(() => {
    if (passage.error) notifyError(passage.error);
  }, [passage.error]);
}
