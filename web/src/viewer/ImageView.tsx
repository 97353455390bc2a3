// A picture, with the regions where words were read.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, type Resource, unwrap } from "../api/client";
import { placed } from "../lib/placed";
import { fileAddress } from "../lib/save";
import { t } from "../strings";
import { Empty } from "../ui/Notice";
import { findPassage } from "./passage";
import type { Target } from "./state";

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);

export default function ImageView({ resource, target }: { resource: Resource; target: Target }): ReactNode {
  const [size, setSize] = useState<{ width: number; height: number } | null>(null);
  const elements = useQuery({
    queryKey: ["image elements", resource.id, resource.version],
    queryFn: async () =>
      (
        await unwrap(
          api.GET("/resources/{resource_id}/elements", {
            params: { path: { resource_id: resource.id }, query: { limit: 1_000 } },
          }),
        )
      ).elements,
  });
  const all = elements.data ?? [];
  const marks = findPassage(all, undefined, target.quote);
  const cited =
    target.locator?.boxes ??
    all.filter((element) => marks.has(element.id)).flatMap((element) => element.locator.boxes ?? []);
  const words = all
    .map((element) => element.text)
    .filter(Boolean)
    .join("\n");
  return (
    <div className="image-view" tabIndex={0} role="document" aria-label={resource.filename}>
      {SHOWN.has(resource.mime_type) ? (
        <div className="image-frame">
          <img
            src={fileAddress(resource.id, resource.version)}
            alt={resource.summary ?? (words || resource.filename)}
            onLoad={(event) =>
              setSize({ width: event.currentTarget.naturalWidth, height: event.currentTarget.naturalHeight })
            }
          />
          {size &&
            placed(cited).map(({ at, item: box }) => (
              <div
                key={at}
                className="pdf-mark"
                data-picture={target.isPicture || undefined}
                style={{
                  left: `${(box.x0 / size.width) * 100}%`,
                  top: `${(box.y0 / size.height) * 100}%`,
                  width: `${((box.x1 - box.x0) / size.width) * 100}%`,
                  height: `${((box.y1 - box.y0) / size.height) * 100}%`,
                }}
              />
            ))}
        </div>
      ) : (
        <Empty title={t.noPreview} />
      )}
      {words && <p className="image-words">{words}</p>}
    </div>
  );
}
