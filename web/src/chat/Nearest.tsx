// Where there is no answer: what comes closest, folded up; each passage opens in the viewer.
import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { api, type Message, type Schemas, unwrap } from "../api/client";
import { t } from "../strings";
import { openViewer } from "../viewer/state";
import { splitLabel } from "./markers";

type Place = Schemas["PlaceOut"];

const MOST_SHOWN = 5;

export function Nearest({ details }: { details: Message["details"] }): ReactNode {
  const [open, setOpen] = useState(false);
  const places = (details.nearest ?? []).slice(0, MOST_SHOWN);
  const hint = details.no_answer?.hint;
  if (!places.length) return hint ? <p className="muted small">{hint}</p> : null;
  return (
    <div className="nearest">
      {hint && <p className="muted small">{hint}</p>}
      <button type="button" className="nearest-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={15} aria-hidden />
        {t.nearest(places.length)}
      </button>
      {open && (
        <>
          <p className="muted small">{t.nearestText}</p>
          <ul className="nearest-list">
            {places.map((place) => (
              <NearPassage key={place.chunk_id} place={place} />
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** The passage's words are asked for when it is shown: they are gone when the file is. */
function NearPassage({ place }: { place: Place }): ReactNode {
  const chunk = useQuery({
    queryKey: ["chunk", place.chunk_id],
    queryFn: () =>
      unwrap(
        api.GET("/resources/{resource_id}/chunks/{chunk_id}", {
          params: { path: { resource_id: place.resource_id, chunk_id: place.chunk_id } },
        }),
      ),
    staleTime: Infinity,
    retry: false,
  });
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
        <span className="nearest-text muted">{inOneLine(text)}</span>
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
