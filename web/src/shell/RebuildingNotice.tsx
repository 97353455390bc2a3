// Above every screen while the index is being rebuilt: how far it is, and that not everything is found yet.
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { api, unwrap } from "../api/client";
import { t } from "../strings";
import { Notice } from "../ui/Notice";

function readyQuery() {
  return queryOptions({
    queryKey: ["ready"],
    queryFn: () => unwrap(api.GET("/ready")),
    refetchInterval: (query) => (query.state.data?.rebuilding ? 2_000 : false),
    staleTime: 60_000,
    retry: false,
  });
}

export function RebuildingNotice(): ReactNode {
  const rebuilding = useQuery(readyQuery()).data?.rebuilding;
  if (!rebuilding) return null;
  return (
    <div className="rebuilding" role="status">
      <Notice kind="warn">
        {rebuilding.because && <>{rebuilding.because} </>}
        {t.rebuilding(rebuilding.done, rebuilding.total)}
        {rebuilding.problem && <span className="muted"> {rebuilding.problem}</span>}
      </Notice>
    </div>
  );
}
