// What a new chat shows: questions made from one's own files, or how to begin.
import { useQuery } from "@tanstack/react-query";
import { CornerDownLeft, FilePlus2, Sparkles } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { newestQuery } from "../api/resources";
import { LocalModelOffer } from "../settings/LocalModel";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Failure } from "../ui/Notice";
import { notify, notifyError } from "../ui/Toasts";
import { openUploadDialog } from "../upload/uploads";
import { type SharedProject, useWorkspace } from "../workspace/workspaces";

export function Welcome({ onAsk }: { onAsk: (question: string, resourceId: string) => void }): ReactNode {
  const { project, mayAdd } = useWorkspace();
  const resources = useQuery(newestQuery());
  const ready = resources.data?.filter((resource) => resource.chunk_count > 0).length ?? 0;
  if (resources.isPending) return null;
  if (resources.isError) return <Failure error={resources.error} onRetry={() => void resources.refetch()} />;
  if (project) return <SharedWelcome project={project} mayAdd={mayAdd} hasFiles={resources.data.length > 0} />;
  return (
    <div className="welcome">
      <h1>{resources.data.length ? t.emptyTitle : t.emptyNoFilesTitle}</h1>
      <p className="muted">{resources.data.length ? t.emptyText : t.emptyNoFilesText}</p>
      {resources.data.length ? <Examples ready={ready} onAsk={onAsk} /> : <FirstFiles />}
      <LocalModelOffer />
    </div>
  );
}

/** In somebody else's project there are no examples: they are made from one's own files. */
function SharedWelcome({
  project,
  mayAdd,
  hasFiles,
}: {
  project: SharedProject;
  mayAdd: boolean;
  hasFiles: boolean;
}): ReactNode {
  const empty = mayAdd ? t.emptyProjectAdd : t.emptyProjectView;
  return (
    <div className="welcome">
      <h1>{hasFiles ? t.emptyTitle : t.libraryEmptyTitle}</h1>
      <p className="muted">{(hasFiles ? t.emptyTextIn : empty)(project.name)}</p>
      {!hasFiles && mayAdd && <AddFiles />}
    </div>
  );
}

function Examples({
  ready,
  onAsk,
}: {
  ready: number;
  onAsk: (question: string, resourceId: string) => void;
}): ReactNode {
  const suggestions = useQuery({
    queryKey: ["suggestions", ready],
    queryFn: async () => (await unwrap(api.GET("/suggestions"))).suggestions,
    enabled: ready > 0,
  });
  if (suggestions.isFetching && !suggestions.data) {
    return (
      <ul className="examples" aria-hidden>
        {[0, 1, 2].map((place) => (
          <li key={place} className="skeleton example-wait" />
        ))}
      </ul>
    );
  }
  if (!suggestions.data?.length) return null;
  return (
    <ul className="examples" aria-label={t.examples}>
      {suggestions.data.map(({ question, filename, resource_id }) => (
        <li key={question}>
          <button type="button" className="example" onClick={() => onAsk(question, resource_id)}>
            <span className="example-text grow">
              {question}
              <span className="muted small truncate">{filename}</span>
            </span>
            <CornerDownLeft size={16} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
}

function FirstFiles(): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const addSamples = async (): Promise<void> => {
    setBusy(true);
    try {
      await unwrap(api.POST("/samples"));
      notify(t.samplesAdded);
      await queryClient.invalidateQueries({ queryKey: ["resources"] });
    } catch (error) {
      notifyError(error);
      setBusy(false);
    }
  };
  return (
    <div className="first-files">
      <AddFiles />
      <Button onClick={() => void addSamples()} disabled={isBusy}>
        <Sparkles size={17} aria-hidden />
        {t.trySamples}
      </Button>
    </div>
  );
}

function AddFiles(): ReactNode {
  return (
    <Button kind="primary" onClick={() => openUploadDialog()}>
      <FilePlus2 size={17} aria-hidden />
      {t.addFiles}
    </Button>
  );
}
