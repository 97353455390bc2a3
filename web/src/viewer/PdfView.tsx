// A PDF as pdf.js draws it: pages as they come into view, selectable text, the cited rectangles marked, and in a table row the cited cells.

import { ZoomIn, ZoomOut } from "lucide-react";
import {
  GlobalWorkerOptions,
  getDocument,
  type PDFDocumentProxy,
  type PDFPageProxy,
  TextLayer,
  version,
} from "pdfjs-dist";
import workerAddress from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { placed } from "../lib/placed";
import { fileAddress } from "../lib/save";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { Loading } from "../ui/Notice";
import { firstPage, rectangles, topOf } from "./geometry";
import { PdfProblem } from "./PdfProblem";
import type { Target } from "./state";

GlobalWorkerOptions.workerSrc = workerAddress;
const FILES = `/assets/pdfjs-${version}`;
const GAP = 12;
const MARGIN = 96;
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
const SIZES_AT_ONCE = 200;

interface Size {
  width: number;
  height: number;
}

interface Opened {
  document: PDFDocumentProxy;
  /** One per page in points; pages far down are taken to be like the first until they are seen. */
  sizes: Size[];
}

async function open(address: string, password?: string): Promise<{ opened: Opened; close: () => void }> {
  const task = getDocument({
    url: address,
    ...(password !== undefined && { password }),
    cMapUrl: `${FILES}/cmaps/`,
    standardFontDataUrl: `${FILES}/standard_fonts/`,
    wasmUrl: `${FILES}/wasm/`,
    iccUrl: `${FILES}/iccs/`,
    isEvalSupported: false,
    useSystemFonts: false,
    enableXfa: false,
  });
  const document = await task.promise;
  const known = Math.min(document.numPages, SIZES_AT_ONCE);
  const pages = await Promise.all(Array.from({ length: known }, (_, index) => document.getPage(index + 1)));
  const sizes = pages.map((page) => size(page));
  const like = sizes[0] ?? { width: 595, height: 842 };
  while (sizes.length < document.numPages) sizes.push(like);
  return { opened: { document, sizes }, close: () => void task.destroy() };
}

function size(page: PDFPageProxy): Size {
  const { width, height } = page.getViewport({ scale: 1 });
  return { width, height };
}

/** The passwords that were given in this tab, so that each is asked for once. */
const passwords = new Map<string, string>();

export default function PdfView({ target }: { target: Target }): ReactNode {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const address = fileAddress(target.resourceId, target.version);
  const [password, setPassword] = useState(() => passwords.get(address));

  useEffect(() => {
    let isGone = false;
    let close = (): void => undefined;
    setFailure(null);
    open(address, password).then(
      (result) => {
        close = result.close;
        if (password !== undefined) passwords.set(address, password);
        if (isGone) close();
        else setOpened(result.opened);
      },
      (error: unknown) => !isGone && setFailure(error),
    );
    return () => {
      isGone = true;
      close();
    };
  }, [address, password]);

  if (failure)
    return (
      <div className="viewer-loading">
        <PdfProblem error={failure} isSecondTry={password !== undefined} onPassword={setPassword} />
      </div>
    );
  if (!opened)
    return (
      <div className="viewer-loading">
        <Loading lines={10} />
      </div>
    );
  return <Pages opened={opened} target={target} />;
}

function Pages({ opened, target }: { opened: Opened; target: Target }): ReactNode {
  const { document: pdf, sizes } = opened;
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [zoom, setZoom] = useState(1);
  const [seen, setSeen] = useState({ first: 1, last: 2, current: 1, hasPassage: false });
  const passage = firstPage(target.locator);
  const passageTop = passage === undefined ? 0 : topOf(target.locator, passage);
  const widest = Math.max(...sizes.slice(0, SIZES_AT_ONCE).map((page) => page.width));
  const scale = width ? ((width - 2 * GAP) / widest) * zoom : 0;
  const tops = useMemo(() => offsets(sizes, scale), [sizes, scale]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const look = useCallback((): void => {
    const element = scroller.current;
    if (!element || !scale) return;
    const [top, bottom] = [element.scrollTop, element.scrollTop + element.clientHeight];
    const first = Math.max(1, tops.findLastIndex((offset) => offset <= top - element.clientHeight / 2) + 1);
    const last = Math.max(1, tops.findLastIndex((offset) => offset < bottom + element.clientHeight / 2) + 1);
    const current = Math.max(1, tops.findLastIndex((offset) => offset <= top + element.clientHeight / 3) + 1);
    const place = (tops[(passage ?? 0) - 1] ?? Number.NaN) + passageTop * scale;
    const hasPassage = top <= place && place < bottom;
    setSeen((present) =>
      present.first === first &&
      present.last === last &&
      present.current === current &&
      present.hasPassage === hasPassage
        ? present
        : { first, last, current, hasPassage },
    );
  }, [scale, tops, passage, passageTop]);

  const goTo = useCallback(
    (page: number, points: number): void => {
      const top = tops[page - 1];
      if (top !== undefined && scroller.current)
        scroller.current.scrollTop = Math.max(0, top + points * scale - MARGIN);
    },
    [scale, tops],
  );
  // Go to the passage when it is opened and when the width settles, not while one reads.
  const gone = useRef("");
  useLayoutEffect(() => {
    const aim = `${target.nonce} ${scale.toFixed(4)}`;
    if (scale && gone.current !== aim) {
      gone.current = aim;
      if (passage) {
        goTo(passage, passageTop);
        // Once more when it is laid out: the browser may move what it scrolls when a scrollbar or a page appears.
        requestAnimationFrame(() => goTo(passage, passageTop));
      }
    }
    look();
  }, [target, scale, goTo, look, passage, passageTop]);

  const step = (by: number): void => {
    const at = ZOOMS.findIndex((value) => value >= zoom);
    setZoom(ZOOMS[Math.min(Math.max(at + by, 0), ZOOMS.length - 1)] ?? 1);
  };
  return (
    <div className="pdf">
      <div
        className="pdf-scroll"
        ref={scroller}
        onScroll={look}
        tabIndex={0}
        aria-label={target.filename}
        role="document"
      >
        <div
          className="pdf-pages"
          style={{
            height: (tops.at(-1) ?? 0) + (sizes.at(-1)?.height ?? 0) * scale + GAP,
            minWidth: widest * scale + 2 * GAP,
          }}
        >
          {scale > 0 &&
            placed(sizes)
              .slice(seen.first - 1, seen.last)
              .map(({ at, item }) => (
                <Page
                  key={at}
                  pdf={pdf}
                  number={at + 1}
                  size={item}
                  top={tops[at] ?? 0}
                  scale={scale}
                  target={target}
                />
              ))}
        </div>
      </div>
      <div className="pdf-bar">
        {passage !== undefined && !seen.hasPassage && (
          <Button small kind="quiet" onClick={() => goTo(passage, passageTop)}>
            {t.backToPassage}
          </Button>
        )}
        <span className="tabular small" role="status">
          {t.page} {t.pageOf(seen.current, pdf.numPages)}
        </span>
        <IconButton small label={t.zoomOut} onClick={() => step(-1)} disabled={zoom <= 0.5}>
          <ZoomOut size={16} aria-hidden />
        </IconButton>
        <IconButton small label={t.zoomIn} onClick={() => step(1)} disabled={zoom >= 3}>
          <ZoomIn size={16} aria-hidden />
        </IconButton>
      </div>
    </div>
  );
}

/** Where each page begins, in pixels. */
function offsets(sizes: readonly Size[], scale: number): number[] {
  let top = GAP;
  return sizes.map(({ height }) => {
    const begin = top;
    top += height * scale + GAP;
    return begin;
  });
}

interface PageProps {
  pdf: PDFDocumentProxy;
  number: number;
  size: Size;
  top: number;
  scale: number;
  target: Target;
}

function Page({ pdf, number, size: { width, height }, top, scale, target }: PageProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isGone = false;
    let stop = (): void => undefined;
    void pdf.getPage(number).then((page) => {
      if (isGone || !canvas.current || !text.current) return;
      stop = draw(page, canvas.current, text.current, scale);
    });
    return () => {
      isGone = true;
      stop();
    };
  }, [pdf, number, scale]);

  const cells = rectangles(target.locator?.cell_boxes, number, scale);
  return (
    <div
      className="pdf-page"
      data-page={number}
      style={{
        top,
        width: width * scale,
        height: height * scale,
        left: `max(${GAP}px, calc(50% - ${(width * scale) / 2}px))`,
      }}
      role="group"
      aria-label={`${t.page} ${number}`}
    >
      <canvas ref={canvas} aria-hidden />
      {placed(rectangles(target.locator?.boxes, number, scale)).map(({ at, item: rectangle }) => (
        <div
          key={at}
          className="pdf-mark"
          data-around={cells.length > 0 || undefined}
          data-picture={target.isPicture || undefined}
          style={{ ...rectangle }}
        />
      ))}
      {placed(cells).map(({ at, item: rectangle }) => (
        <div key={at} className="pdf-cell" style={{ ...rectangle }} />
      ))}
      {placed(target.overlay?.filter((box) => box.page === number) ?? []).map(({ at, item: box }) => (
        <div key={at} className="pdf-outline" data-tone={box.tone} style={{ ...rectangles([box], number, scale)[0] }}>
          <span>{box.label}</span>
        </div>
      ))}
      <div ref={text} className="textLayer" />
    </div>
  );
}

/** Draw a page and lay its text over it; returns how to stop. */
function draw(page: PDFPageProxy, canvas: HTMLCanvasElement, text: HTMLDivElement, scale: number): () => void {
  const density = Math.min(window.devicePixelRatio || 1, 2);
  const viewport = page.getViewport({ scale });
  canvas.width = Math.floor(viewport.width * density);
  canvas.height = Math.floor(viewport.height * density);
  const drawing = page.render({
    canvas,
    viewport,
    ...(density !== 1 && { transform: [density, 0, 0, density, 0, 0] }),
  });
  drawing.promise.catch(() => undefined);
  text.replaceChildren();
  text.style.setProperty("--total-scale-factor", String(scale));
  const layer = new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport });
  layer.render().catch(() => undefined);
  return () => {
    drawing.cancel();
    layer.cancel();
  };
}
