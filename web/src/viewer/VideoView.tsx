// A video at the cited second, with the frames that were kept of it: a click goes to a frame's second.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { api, type Resource, unwrap } from "../api/client";
import { blobAddress, fileAddress } from "../lib/save";
import { clock } from "./clock";
import type { Target } from "./state";

export default function VideoView({ resource, target }: { resource: Resource; target: Target }): ReactNode {
  const player = useRef<HTMLVideoElement>(null);
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
  const go = (second: number): void => {
    if (player.current) player.current.currentTime = second;
  };
  const cited = target.locator?.second ?? 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: opening the same spot again goes there again
  useEffect(() => go(cited), [cited, target.nonce]);
  const frames = (elements.data ?? []).filter((element) => element.blob && element.locator.second !== undefined);
  return (
    <div className="video-view" tabIndex={0} role="document" aria-label={resource.filename}>
      {/* biome-ignore lint/a11y/useMediaCaption: the file brings its own captions or none */}
      <video
        ref={player}
        className="video-player"
        controls
        preload="metadata"
        src={fileAddress(resource.id, resource.version)}
        onLoadedMetadata={() => go(cited)}
      />
      <ol className="video-frames">
        {frames.map((element) => {
          const second = element.locator.second ?? 0;
          return (
            <li key={element.id}>
              <button
                type="button"
                className="video-frame"
                aria-current={second === cited}
                onClick={() => go(second)}
                title={clock(second)}
              >
                <img src={blobAddress(resource.id, element.blob ?? "")} alt={element.text} loading="lazy" />
                <span className="small tabular">{clock(second)}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
