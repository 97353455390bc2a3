// Searching with the lid off: what each leg finds, how it is ranked, and where the time goes.
import { useMutation } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { api, unwrap } from "../api/client";
import { useTitle } from "../lib/hooks";
import { t } from "../strings";
import { Empty, Failure, Loading } from "../ui/Notice";
import { ViewerPanel } from "../viewer/ViewerPanel";
import { Pictures } from "./Pictures";
import { QueryForm } from "./QueryForm";
import { Results } from "./Results";
import { picturesLike, pictureTaker } from "./similar";
import "./playground.css";
import { EMPTY_FORM, type Found, requestOf, type SearchForm } from "./request";

async function search(form: SearchForm): Promise<Found> {
  const started = performance.now();
  const answer = await unwrap(api.POST("/search", { body: requestOf(form) }));
  return { answer, roundTrip: performance.now() - started };
}

export default function PlaygroundScreen(): ReactNode {
  const [address, setAddress] = useSearchParams();
  const inAddress = address.get("q") ?? "";
  const [form, setForm] = useState<SearchForm>(() => ({ ...EMPTY_FORM, query: inAddress }));
  const found = useMutation({ mutationFn: search });
  const { mutate, reset } = found;
  const like = useMutation({ mutationFn: picturesLike });
  const { mutate: findLike, reset: forgetLike } = like;
  const [stored, blob] = [address.get("like"), address.get("blob")];
  useEffect(() => {
    if (stored) findLike({ resourceId: stored, blob });
    pictureTaker.set(() => (picture: File) => findLike(picture));
    return () => pictureTaker.set(null);
  }, [stored, blob, findLike]);
  useTitle(t.search);
  // What was searched for is in the address, so that it is there again after a reload and on the way back.
  const searched = useRef("");
  useEffect(() => {
    if (inAddress === searched.current) return;
    searched.current = inAddress;
    const asked = { ...form, query: inAddress };
    setForm(asked);
    if (inAddress) mutate(asked);
    else reset();
  }, [inAddress, form, mutate, reset]);
  const run = (): void => {
    searched.current = form.query;
    if (form.query !== inAddress) setAddress({ q: form.query });
    forgetLike();
    mutate(form);
  };
  return (
    <div className="playground-frame">
      <main className="screen playground">
        <div className="screen-inner stack playground-inner">
          <header>
            <h1>{t.search}</h1>
            <p className="muted">{t.playgroundText}</p>
          </header>
          <QueryForm form={form} isBusy={found.isPending} onForm={setForm} onSearch={run} onPicture={findLike} />
          {(like.isPending || (found.isPending && !found.data)) && <Loading lines={8} />}
          {like.isError && <Failure error={like.error} />}
          {like.data && <Pictures found={like.data} />}
          {like.isIdle && found.isError && <Failure error={found.error} onRetry={run} />}
          {like.isIdle && found.data && <Results found={found.data} />}
          {like.isIdle && found.isIdle && (
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
