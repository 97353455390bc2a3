// Where there is no answer: what comes closest, and what to do; each passage opens in the viewer.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Message, Schemas } from "../api/client";
import { lookUp } from "../api/codes";
import { chunkQuery } from "../api/resources";
import { t } from "../strings";
import { openViewer } from "../viewer/state";
import { splitLabel } from "./markers";
import { quoteInWords } from "./passages";

type Place = Schemas["PlaceOut"];

const MOST_SHOWN = 5;

export function Nearest({ details }: { details: Message["details"] }): ReactNode {
  const places = (details.nearest ?? []).slice(0, MOST_SHOWN);
  const { no_answer: reason } = details;
  const hint = reason && (lookUp<string>(t.refusalHint, reason.reason) ?? reason.hint);
  if (!places.length) return hint ? <p className="muted small">{hint}</p> : null;
  return (
    <section className="nearest" aria-label={t.nearest(places.length)}>
      <h2 className="nearest-head">{t.nearest(places.length)}</h2>
      <p className="muted small">{t.nearestText}</p>
      <ul className="nearest-list">
        {places.map((place) => (
          <NearPassage key={place.chunk_id} place={place} />
        ))}
      </ul>
      {hint && <p className="muted small">{hint}</p>}
    </section>
  );
}

/** The passage's words are asked for when it is shown: they are gone when the file is. */
function NearPassage({ place }: { place: Place }): ReactNode {
  const chunk = useQuery(chunkQuery(place));
  const { name, place: spot } = splitLabel(place);
  if (chunk.isError) return <li className="nearest-gone muted small">{`${name}: ${t.sourceGone}`}</li>;
  const text = chunk.data?.text ?? "";
  const show = (): void =>
    openViewer({ resourceId: place.resource_id, filename: place.filename, locator: place.locator, quote: text });
  return (
    <li>
      <button type="button" className="nearest-passage" onClick={show} disabled={!chunk.data}>
        <span className="nearest-label">
          <strong className="truncate">{name}</strong>
          {spot && <span className="muted">{spot}</span>}
        </span>
        <span className="nearest-text muted">
          {place.locator.row === undefined ? inOneLine(text) : quoteInWords(text, text, true)}
        </span>
      </button>
    </li>
  );
}

/** Tables come as Markdown: their cells one after the other. */
export function inOneLine(text: string): string {
  return text
    .split("\n")
    .filter((line) => !/^\s*\|(?:\s*:?-{3,}:?\s*\|)+\s*$/.test(line))
    .map((line) =>
      /^\s*\|.*\|\s*$/.test(line)
        ? line
            .trim()
            .slice(1, -1)
            .split("|")
            .map((cell) => cell.trim())
            .filter(Boolean)
            .join(" · ")
        : line.trim(),
    )
    .filter(Boolean)
    .join(" / ");
}
