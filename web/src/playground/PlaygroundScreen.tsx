// Searching with the lid off: what each leg finds, how it is ranked, and where the time goes.
import { useMutation } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, unwrap } from "../api/client";
import { useTitle } from "../lib/hooks";
import { t } from "../strings";
import { Empty, Failure, Loading } from "../ui/Notice";
import { ViewerPanel } from "../viewer/ViewerPanel";
import { QueryForm } from "./QueryForm";
import { Results } from "./Results";
import "./playground.css";
import { EMPTY_FORM, type Found, requestOf, type SearchForm } from "./request";

async function search(form: SearchForm): Promise<Found> {
  const started = performance.now();
  const answer = await unwrap(api.POST("/search", { body: requestOf(form) }));
  return { answer, roundTrip: performance.now() - started };
}

export default function PlaygroundScreen(): ReactNode {
  const [form, setForm] = useState<SearchForm>(EMPTY_FORM);
  const found = useMutation({ mutationFn: search });
  useTitle(t.search);
  return (
    <div className="playground-frame">
      <main className="screen playground">
        <div className="screen-inner stack playground-inner">
          <header>
            <h1>{t.search}</h1>
            <p className="muted">{t.playgroundText}</p>
          </header>
          <QueryForm form={form} isBusy={found.isPending} onForm={setForm} onSearch={() => found.mutate(form)} />
          {found.isPending && !found.data && <Loading lines={8} />}
          {found.isError && <Failure error={found.error} onRetry={() => found.mutate(form)} />}
          {found.data && <Results found={found.data} />}
          {found.isIdle && (
            <Empty icon={<FlaskConical size={40} aria-hidden />} title={t.playgroundEmptyTitle}>
              <p>{t.playgroundEmpty}</p>
            </Empty>
          )}
        </div>
      </main>
      <ViewerPanel />
    </div>
  );
}
