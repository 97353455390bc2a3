// One hit: its place, its words, its scores in each leg side by side, and how its rank came about.
import { ArrowDown, ArrowUp, Minus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { wordFor } from "../api/codes";
import { Answer } from "../chat/Answer";
import { splitLabel } from "../chat/markers";
import { formatPrecise } from "../lib/format";
import { t } from "../strings";
import { openViewer } from "../viewer/state";
import type { Leg, RankedHit } from "./ranks";

const LONG = 420;

export function HitCard({ ranked, legs }: { ranked: RankedHit; legs: readonly Leg[] }): ReactNode {
  const { hit, rank } = ranked;
  const [isWhole, setWhole] = useState(false);
  const { name, place } = splitLabel(hit);
  const isLong = hit.text.length > LONG;
  const text = isLong && !isWhole ? shortened(hit.text) : hit.text;
  const show = (): void =>
    openViewer({
      resourceId: hit.resource_id,
      filename: hit.filename,
      locator: hit.locator,
      quote: hit.text,
      picture: hit.image,
    });
  return (
    <li className="card hit">
      <div className="hit-head">
        <span className="hit-rank tabular">
          <span className="visually-hidden">{t.rank(rank)}</span>
          <span aria-hidden>{rank}</span>
        </span>
        <button type="button" className="hit-label" onClick={show} title={t.openSource}>
          <span className="hit-name truncate">{name}</span>
          {place && <span className="hit-place">{place}</span>}
        </button>
        <span className="tag">{wordFor(t.chunkKind, hit.type)}</span>
        <span className="grow" />
        {legs.length > 0 && <RankChange before={ranked.before} after={rank} />}
      </div>
      {hit.type === "table" ? <Answer text={text} /> : <p className="hit-text">{text}</p>}
      {isLong && (
        <button
          type="button"
          className="link-button hit-more small"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? t.showLess : t.showMore}
        </button>
      )}
      {legs.length > 0 && (
        <dl className="scores">
          {legs.map((leg) => (
            <Score key={leg} leg={leg} ranked={ranked} />
          ))}
        </dl>
      )}
    </li>
  );
}

/** The beginning of a text; whole lines where it has lines, so that a table stays one. */
function shortened(text: string): string {
  const end = text.lastIndexOf("\n", LONG);
  return end > 0 ? text.slice(0, end) : `${text.slice(0, LONG)}…`;
}

function Score({ leg, ranked }: { leg: Leg; ranked: RankedHit }): ReactNode {
  const score = ranked.hit.scores[leg];
  const share = ranked.bars[leg];
  const place = leg === "dense" || leg === "lexical" ? ranked.legs[leg] : null;
  return (
    <div className="score">
      <dt className="small">
        <span className="swatch" data-leg={leg} aria-hidden />
        {t.legName[leg]}
        {place !== null && <span className="muted"> #{place}</span>}
      </dt>
      <dd>
        <span className="score-track" aria-hidden>
          {share !== null && (
            <span className="score-bar" data-leg={leg} style={{ width: `${Math.max(share * 100, 1)}%` }} />
          )}
        </span>
        <span className="score-value tabular small">
          {score === undefined ? <span className="muted">{t.notFoundByLeg}</span> : formatPrecise(score)}
        </span>
      </dd>
    </div>
  );
}

function RankChange({ before, after }: { before: number | null; after: number }): ReactNode {
  if (before === null) return <span className="rank-change rank-up small">{t.rankFromBelow}</span>;
  const Icon = before > after ? ArrowUp : before < after ? ArrowDown : Minus;
  const kind = before > after ? "rank-up" : before < after ? "rank-down" : "rank-same";
  return (
    <span className={`rank-change small tabular ${kind}`} title={t.rankChange(before, after)}>
      <Icon size={13} aria-hidden />
      <span className="visually-hidden">{t.rankChange(before, after)}</span>
      {before !== after && <span aria-hidden>{Math.abs(before - after)}</span>}
    </span>
  );
}
