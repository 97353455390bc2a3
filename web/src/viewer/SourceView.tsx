// Picks the viewer that fits a file.
import { useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense } from "react";
import type { Resource } from "../api/client";
import { resourceQuery } from "../api/queries";
import { reportOf } from "../library/coverage";
import { t } from "../strings";
import { Empty, Failure, Loading, Notice } from "../ui/Notice";
import { ElementsView } from "./ElementsView";
import { SelectionMenu } from "./SelectionMenu";
import type { Target } from "./state";
import { tablesOf } from "./tables";

const PdfView = lazy(() => import("./PdfView"));
const GridView = lazy(() => import("./GridView"));
const ImageView = lazy(() => import("./ImageView"));
const VideoView = lazy(() => import("./VideoView"));

export default function SourceView({ target }: { target: Target }): ReactNode {
  const resource = useQuery(resourceQuery(target.resourceId));
  if (resource.isPending)
    return (
      <div className="viewer-loading">
        <Loading lines={8} />
      </div>
    );
  if (resource.isError)
    return (
      <div className="viewer-loading">
        <Failure error={resource.error} onRetry={() => void resource.refetch()} />
      </div>
    );
  const { version } = resource.data;
  return (
    <>
      {target.version !== undefined && target.version !== version && resource.data.type !== "pdf" && (
        <div className="viewer-note">
          <Notice kind="warn">{t.earlierVersion(target.version)}</Notice>
        </div>
      )}
      <SelectionMenu resourceId={target.resourceId}>
        <Suspense
          fallback={
            <div className="viewer-loading">
              <Loading lines={8} />
            </div>
          }
        >
          <View resource={resource.data} target={target} />
        </Suspense>
      </SelectionMenu>
    </>
  );
}

function View({ resource, target }: { resource: Resource; target: Target }): ReactNode {
  if (resource.type === "pdf") return <PdfView target={target} />;
  if (tablesOf(resource).length && resource.detected_category === "data")
    return <GridView resource={resource} target={target} />;
  if (resource.mime_type.startsWith("image/")) return <ImageView resource={resource} target={target} />;
  if (resource.mime_type.startsWith("video/") && resource.status !== "stored")
    return <VideoView resource={resource} target={target} />;
  const report = reportOf(resource);
  if (report && report.elements !== 0) return <ElementsView resource={resource} target={target} />;
  return <Empty title={t.noPreview} />;
}
