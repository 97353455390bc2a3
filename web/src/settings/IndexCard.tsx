// The active index, and how to move to another model: build a second one, compare, switch, switch back.
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiError, api, unwrap } from "../api/client";
import { type IndexState, lookUp, wordFor } from "../api/codes";
import { queryClient } from "../api/queries";
import { formatMoment, formatNumber } from "../lib/format";
import { t } from "../strings";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Dialog";
import { Failure, Loading, Notice } from "../ui/Notice";
import { notify, notifyError } from "../ui/Toasts";
import { BuildIndex } from "./BuildIndex";
import { CompareIndex } from "./CompareIndex";
import { type Fingerprint, readFingerprint } from "./fingerprint";
import { estimateQuery, type Index, indexesQuery } from "./queries";
import { Section } from "./Section";

export function IndexCard(): ReactNode {
  const indexes = useQuery(indexesQuery());
  const [isBuilding, setBuilding] = useState(false);
  // Who is not the server's owner may not see indexes: nothing to be done about that here.
  if (indexes.error instanceof ApiError && indexes.error.status === 404) return null;
  return (
    <Section
      title={t.indexTitle}
      text={t.indexText}
      action={
        <Button small onClick={() => setBuilding(true)}>
          <Plus size={15} aria-hidden />
          {t.buildIndex}
        </Button>
      }
    >
      {indexes.isPending && <Loading lines={2} />}
      {indexes.isError && <Failure error={indexes.error} onRetry={() => void indexes.refetch()} />}
      {indexes.data && (
        <ul className="indexes">
          {[...indexes.data]
            .sort((a, b) => Number(answers(b)) - Number(answers(a)))
            .map((index) => (
              <IndexLine key={index.id} index={index} />
            ))}
        </ul>
      )}
      <BuildIndex open={isBuilding} onClose={() => setBuilding(false)} />
    </Section>
  );
}

const CLASSES = {
  active: "badge badge-ok",
  building: "badge badge-busy",
  filling: "badge badge-busy",
  offered: "badge",
  ready: "badge",
  retired: "badge",
} satisfies Record<IndexState, string>;

function answers(index: Index): boolean {
  return index.state === "active" || index.state === "filling";
}

function isBeingBuilt(index: Index): boolean {
  return index.state === "building" || index.state === "filling";
}

function IndexLine({ index }: { index: Index }): ReactNode {
  const name = readFingerprint(index.fingerprint);
  return (
    <li className="index">
      <div className="row wrap">
        <strong className="grow">{name.model}</strong>
        <span className={lookUp<string>(CLASSES, index.state) ?? "badge"}>
          {index.paused && isBeingBuilt(index) ? t.indexPaused : wordFor(t.indexState, index.state)}
        </span>
      </div>
      <p className="muted small">{describe(index, name)}</p>
      {index.state === "offered" && <Offer index={index} />}
      {index.problem && index.state !== "offered" && <p className="muted small">{index.problem}</p>}
      {isBeingBuilt(index) && (
        <div
          className="progress"
          role="progressbar"
          aria-label={t.indexState.building}
          aria-valuenow={index.progress}
          aria-valuemax={index.total}
        >
          <div
            className="progress-bar"
            style={{ width: `${index.total ? (index.progress / index.total) * 100 : 0}%` }}
          />
        </div>
      )}
      {!answers(index) && <IndexActions index={index} name={name} />}
    </li>
  );
}

/** What an index that waits for approval would take. */
function Offer({ index }: { index: Index }): ReactNode {
  const estimate = useQuery(estimateQuery(index));
  const found = estimate.data;
  return (
    <p className="muted small">
      {index.problem ? t.indexForLanguages : t.indexOffered}{" "}
      {found &&
        t.indexEstimate(
          formatNumber(found.texts),
          formatNumber(found.tokens),
          formatNumber(found.minutes),
          formatNumber(found.megabytes),
          found.dollars === null ? t.indexNoPrice : t.indexPrice(formatNumber(found.dollars)),
        )}
    </p>
  );
}

function IndexActions({ index, name }: { index: Index; name: Fingerprint }): ReactNode {
  const [asked, setAsked] = useState<"switch" | "delete" | "compare" | null>(null);
  const path = { params: { path: { index_id: index.id } } };
  const change = async (work: () => Promise<unknown>, done: string): Promise<void> => {
    try {
      await work();
      notify(done);
    } catch (error) {
      notifyError(error);
    }
    await queryClient.invalidateQueries({ queryKey: ["indexes"] });
  };
  const isReady = index.state === "ready" || (index.state === "retired" && !index.is_behind);
  const pause = (paused: boolean, done: string): void => {
    void change(() => unwrap(api.PATCH("/indexes/{index_id}", { ...path, body: { paused } })), done);
  };
  return (
    <div className="row wrap">
      {index.state === "building" && !index.paused && (
        <Button small onClick={() => pause(true, t.buildPaused)}>
          {t.pauseBuild}
        </Button>
      )}
      {(index.state === "offered" || (index.state === "building" && index.paused)) && (
        <Button small kind="primary" onClick={() => pause(false, t.buildStarted)}>
          {index.state === "offered" ? t.startBuild : t.resumeBuild}
        </Button>
      )}
      {isReady && (
        <>
          <Button small onClick={() => setAsked("compare")}>
            {t.compare}
          </Button>
          <Button small kind="primary" onClick={() => setAsked("switch")}>
            {index.activated_at ? t.switchBack : t.switchTo}
          </Button>
        </>
      )}
      <Button small kind="quiet" onClick={() => setAsked("delete")}>
        {t.delete}
      </Button>
      <Confirm
        open={asked === "switch"}
        title={t.switchTitle}
        text={<Notice>{t.switchText(name.model)}</Notice>}
        action={t.switchTo}
        onConfirm={() => change(() => unwrap(api.POST("/indexes/{index_id}/switch", path)), t.switched(name.model))}
        onClose={() => setAsked(null)}
      />
      <Confirm
        open={asked === "delete"}
        title={t.deleteIndex}
        text={t.deleteIndexText(name.model)}
        action={t.delete}
        onConfirm={() => change(() => unwrap(api.DELETE("/indexes/{index_id}", path)), t.indexDeleted)}
        onClose={() => setAsked(null)}
      />
      {asked === "compare" && <CompareIndex index={index} name={name.model} onClose={() => setAsked(null)} />}
    </div>
  );
}

function describe(index: Index, { provider, dimensions }: Fingerprint): string {
  return [
    lookUp<string>(t.provider, provider) ?? provider,
    dimensions && t.dimensions(formatNumber(dimensions)),
    lookUp<string>(t.store, index.store) ?? index.store,
    isBeingBuilt(index)
      ? t.progressOf(index.progress, index.total)
      : t.since(formatMoment(index.activated_at ?? index.created_at)),
  ]
    .filter(Boolean)
    .join(" · ");
}
