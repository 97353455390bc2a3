// The panel that shows a source next to the screen; the viewers themselves are loaded when one is opened.
import { Download, Images, Library, X } from "lucide-react";
import {
  type KeyboardEvent,
  lazy,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  Suspense,
  useEffect,
  useRef,
  useState,
} from "react";
import { Link, useLocation } from "wouter";
import { NO_ROOM_BESIDE, PHONE, useMedia } from "../lib/hooks";
import { fileAddress } from "../lib/save";
import { useStore } from "../lib/store";
import { likeAddress } from "../playground/similar";
import { t } from "../strings";
import { IconButton } from "../ui/Button";
import { Loading } from "../ui/Notice";
import { closeViewer, viewer } from "./state";

const SourceView = lazy(() => import("./SourceView"));
const NARROWEST = 320;
const STEP = 40;
const KEY = "citewell.viewer";
/** In the state of the history's entry that a covering source has. */
const MARK = "citewell.source";

function storedWidth(): number {
  const width = Number(window.localStorage.getItem(KEY));
  return width >= NARROWEST ? width : Math.round(window.innerWidth * 0.42);
}

export function ViewerPanel(): ReactNode {
  const target = useStore(viewer);
  const isCovering = useMedia(PHONE);
  const isBelow = useMedia(NO_ROOM_BESIDE);
  const [width, setWidth] = useState(storedWidth);
  const [, navigate] = useLocation();
  const panel = useRef<HTMLElement>(null);

  useEffect(() => {
    if (!target) return;
    const close = (event: globalThis.KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented && !document.querySelector(".dialog")) closeViewer();
    };
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, [target]);
  useFocus(panel, target !== null, isCovering);
  useBackToClose(target !== null && isCovering);
  if (!target) return null;

  const resize = (next: number): void => {
    const width = Math.min(Math.max(next, NARROWEST), window.innerWidth - 480);
    setWidth(width);
    window.localStorage.setItem(KEY, String(width));
  };
  return (
    <aside className="viewer" aria-label={t.viewer} ref={panel} tabIndex={-1} style={isBelow ? undefined : { width }}>
      {!isBelow && <Resizer width={width} onResize={resize} />}
      <header className="viewer-head">
        <h2 className="truncate grow">{target.filename}</h2>
        {target.picture && (
          <Link
            className="icon-button icon-button-small"
            href={likeAddress(target.picture)}
            aria-label={t.findSimilar}
            title={t.findSimilar}
            onClick={() => isCovering && closeViewer()}
          >
            <Images size={16} aria-hidden />
          </Link>
        )}
        <IconButton
          small
          label={t.openInLibrary}
          onClick={() => {
            closeViewer();
            // In place of the source, where that has a place of its own in the history.
            navigate(`/library/${target.resourceId}`, { replace: isCovering });
          }}
        >
          <Library size={16} aria-hidden />
        </IconButton>
        <a
          className="icon-button icon-button-small"
          href={fileAddress(target.resourceId, target.version)}
          aria-label={t.download}
          download
        >
          <Download size={16} aria-hidden />
        </a>
        <IconButton small label={t.closeViewer} onClick={closeViewer}>
          <X size={17} aria-hidden />
        </IconButton>
      </header>
      <div className="viewer-body">
        <Suspense
          fallback={
            <div className="viewer-loading">
              <Loading lines={8} />
            </div>
          }
        >
          <SourceView key={target.resourceId} target={target} />
        </Suspense>
      </div>
    </aside>
  );
}

/** The focus goes into a source that covers the screen, and back to what opened it when it is closed with the focus inside. */
function useFocus(panel: RefObject<HTMLElement | null>, isOpen: boolean, isCovering: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    const opener = document.activeElement;
    return () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus();
    };
  }, [isOpen]);
  useEffect(() => {
    if (isOpen && isCovering) panel.current?.focus();
  }, [panel, isOpen, isCovering]);
}

/** While a source covers the screen, going back closes it, as it does any other screen. */
function useBackToClose(isCovering: boolean): void {
  useEffect(() => {
    if (!isCovering) return;
    window.history.pushState({ [MARK]: true }, "");
    window.addEventListener("popstate", closeViewer);
    return () => {
      window.removeEventListener("popstate", closeViewer);
      if (window.history.state?.[MARK]) window.history.back();
    };
  }, [isCovering]);
}

function Resizer({ width, onResize }: { width: number; onResize: (width: number) => void }): ReactNode {
  const start = (event: PointerEvent<HTMLDivElement>): void => {
    event.preventDefault();
    const from = event.clientX;
    const move = (moved: globalThis.PointerEvent): void => onResize(width + from - moved.clientX);
    const end = (): void => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowLeft") onResize(width + STEP);
    if (event.key === "ArrowRight") onResize(width - STEP);
  };
  return (
    <div
      className="viewer-resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label={t.resizeViewer}
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      tabIndex={0}
      onPointerDown={start}
      onKeyDown={onKeyDown}
    />
  );
}
