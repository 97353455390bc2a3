// The coverage report, drawn: one cell per page, coloured by how it was read.
import { Tooltip } from "@base-ui/react/tooltip";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import type { Resource } from "../api/client";
import { wordFor } from "../api/codes";
import { formatNumber, formatPercent } from "../lib/format";
import { t } from "../strings";
import { type Locator, openViewer } from "../viewer/state";
import {
  type CoverageReport,
  type CoverageUnit,
  kindOf,
  mainUnit,
  ranges,
  remarksOf,
  reportOf,
  sharesOf,
} from "./coverage";

/** Front matter before chapter 1, numbered as its pages are in a printed book. */
const FRONT = "i";

export function CoverageCard({ resource }: { resource: Resource }): ReactNode {
  const report = reportOf(resource);
  if (!report) return null;
  const total = totals(report);
  if (!total.length && !report.units.length && !remarksOf(report).length) return null;
  const isWhole = report.units.length === 1 && report.units[0]?.unit === "file";
  const open = (unit: CoverageUnit): void =>
    openViewer({ resourceId: resource.id, filename: resource.filename, locator: placeOf(unit) });
  return (
    <section className="card stack" aria-labelledby="coverage-title">
      <div className="spread">
        <h2 id="coverage-title">{t.coverage}</h2>
        <span className="muted small">{total.join(" · ")}</span>
      </div>
      {!isWhole && report.units.length > 0 && (
        <>
          <ShareBar units={report.units} />
          <CoverageMap units={report.units} onOpen={open} />
        </>
      )}
      {isWhole && report.units[0] && (
        <p className="small muted">
          {describe(report.units[0])
            .filter((line) => !total.includes(line))
            .join(" · ") || t.coverageKind[kindOf(report.units[0])]}
        </p>
      )}
      <Remarks report={report} />
    </section>
  );
}

function ShareBar({ units }: { units: readonly CoverageUnit[] }): ReactNode {
  const shares = sharesOf(units);
  return (
    <>
      <div className="share-bar" aria-hidden>
        {shares.map(({ kind, share }) => (
          <span key={kind} data-cover={kind} style={{ width: `${share * 100}%` }} />
        ))}
      </div>
      <ul className="legend">
        {shares.map(({ kind, count }) => (
          <li key={kind}>
            <span className="swatch" data-cover={kind} aria-hidden />
            {t.coverageKind[kind]} <span className="muted tabular">{formatNumber(count)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Arrows move from page to page; only one cell is in the tab order, and all share one tooltip, as there may be thousands. */
function CoverageMap({
  units,
  onOpen,
}: {
  units: readonly CoverageUnit[];
  onOpen: (unit: CoverageUnit) => void;
}): ReactNode {
  const [active, setActive] = useState(0);
  const [tip] = useState(() => Tooltip.createHandle<CoverageUnit>());
  const map = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = { ArrowRight: active + 1, ArrowLeft: active - 1, Home: 0, End: units.length - 1 }[event.key];
    if (target === undefined || target < 0 || target >= units.length) return;
    event.preventDefault();
    setActive(target);
    map.current?.querySelectorAll("button")[target]?.focus();
  };
  return (
    <div
      className="cover-map"
      role="group"
      aria-label={t.coverageMap(wordFor(t.unitName, mainUnit(units)))}
      ref={map}
      onKeyDown={onKeyDown}
    >
      {units.map((unit, index) => (
        <Tooltip.Trigger
          key={`${unit.unit}${unit.number}`}
          handle={tip}
          payload={unit}
          delay={60}
          className={hasRemark(unit) ? "cover-cell cover-remark" : "cover-cell"}
          data-cover={kindOf(unit)}
          aria-label={[titleOf(unit), t.coverageKind[kindOf(unit)], ...linesOf(unit)].join(". ")}
          tabIndex={index === active ? 0 : -1}
          onFocus={() => setActive(index)}
          onClick={() => onOpen(unit)}
        >
          {unit.unit === "front" ? FRONT : unit.number}
        </Tooltip.Trigger>
      ))}
      <Tooltip.Root handle={tip}>{({ payload }) => payload && <UnitTip unit={payload} />}</Tooltip.Root>
    </div>
  );
}

function UnitTip({ unit }: { unit: CoverageUnit }): ReactNode {
  return (
    <Tooltip.Portal>
      <Tooltip.Positioner sideOffset={6} className="positioner">
        <Tooltip.Popup className="tooltip cover-tip">
          <strong>{titleOf(unit)}</strong>
          <span>{t.coverageKind[kindOf(unit)]}</span>
          {linesOf(unit).map((line) => (
            <span key={line}>{line}</span>
          ))}
        </Tooltip.Popup>
      </Tooltip.Positioner>
    </Tooltip.Portal>
  );
}

/** What was skipped shows in its colour already. */
const hasRemark = (unit: CoverageUnit): boolean => kindOf(unit) !== "skipped" && unit.warnings.length > 0;

const titleOf = (unit: CoverageUnit): string =>
  t.coverageUnit(wordFor(t.oneUnit, unit.unit), unit.unit === "front" ? null : unit.number, unit.name);
const linesOf = (unit: CoverageUnit): string[] => [...describe(unit), ...unit.skipped, ...unit.warnings];

function Remarks({ report }: { report: CoverageReport }): ReactNode {
  const remarks = remarksOf(report);
  if (!remarks.length) return null;
  return (
    <ul className="remarks small">
      {remarks.map(({ text, numbers }) => (
        <li key={text}>
          {text}
          {numbers.length > 0 && <span className="muted"> ({ranges(numbers)})</span>}
        </li>
      ))}
    </ul>
  );
}

/** What a page holds, as words. */
function describe(unit: CoverageUnit): string[] {
  return [
    unit.words && t.coverageWords(unit.words),
    unit.tables && t.coverageTables(unit.tables),
    unit.images && t.coverageImages(unit.images),
    unit.rows && t.coverageRows(unit.rows),
    unit.ocr_share > 0 && t.coverageByOcr(formatPercent(unit.ocr_share)),
    unit.ocr_confidence !== null && t.coverageConfidence(formatPercent(unit.ocr_confidence)),
  ].filter((line): line is string => typeof line === "string");
}

function totals(report: CoverageReport): string[] {
  return [
    report.words && t.coverageWords(report.words),
    report.tables && t.coverageTables(report.tables),
    report.images && t.coverageImages(report.images),
    report.rows && t.coverageRows(report.rows),
  ].filter((line): line is string => typeof line === "string");
}

function placeOf(unit: CoverageUnit): Locator {
  if (unit.unit === "sheet") return unit.name ? { sheet: unit.name } : {};
  return unit.unit === "slide" ? { slide: unit.number, page: unit.number } : { page: unit.number };
}
