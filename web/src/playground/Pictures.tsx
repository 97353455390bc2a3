// The pictures that are like an example, each with its file and place.
import { Images } from "lucide-react";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { splitLabel } from "../chat/markers";
import { formatPrecise } from "../lib/format";
import { t } from "../strings";
import { IconButton } from "../ui/Button";
import { Empty, Notice } from "../ui/Notice";
import { openViewer } from "../viewer/state";
import { type FoundPictures, likeAddress } from "./similar";

export function Pictures({ found }: { found: FoundPictures }): ReactNode {
  const [, navigate] = useLocation();
  return (
    <section className="stack" aria-label={t.results}>
      {found.pictures.length === 0 && <Empty title={t.noSimilarPictures} />}
      <ol className="hits" aria-label={t.results}>
        {found.pictures.map((one) => {
          const { name, place } = splitLabel(one);
          const show = (): void =>
            openViewer({
              resourceId: one.resource_id,
              filename: one.filename,
              locator: one.locator,
              isPicture: true,
              picture: one.image,
            });
          return (
            <li key={one.image.path} className="card hit">
              <div className="hit-head">
                <button type="button" className="hit-label" onClick={show} title={t.openSource}>
                  <img className="similar-picture" src={one.image.path} alt="" loading="lazy" decoding="async" />
                  <span className="hit-name truncate">{name}</span>
                  {place && <span className="hit-place">{place}</span>}
                </button>
                <span className="grow" />
                <span className="muted small tabular">{formatPrecise(one.score)}</span>
                <IconButton small label={t.findSimilar} onClick={() => navigate(likeAddress(one.image))}>
                  <Images size={16} aria-hidden />
                </IconButton>
              </div>
            </li>
          );
        })}
      </ol>
      {found.notice && <Notice>{found.notice}</Notice>}
    </section>
  );
}
