// A file at a glance: figures, what it says, what was read, how it went, what is inside.
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Resource } from "../api/client";
import { wordFor } from "../api/codes";
import { projectsQuery } from "../api/queries";
import { presentWorkspace } from "../api/workspace";
import { formatBytes, formatMoment, formatNumber, languageName } from "../lib/format";
import { fileAddress } from "../lib/save";
import { t } from "../strings";
import { FileIcon } from "../ui/FileIcon";
import { Status } from "../ui/Status";
import { useMayChange, useShared, workspaceOf } from "../workspace/workspaces";
import { CoverageCard } from "./CoverageCard";
import { reportOf } from "./coverage";
import { MetadataCard } from "./MetadataCard";
import { childrenQuery } from "./queries";
import { lengthOf } from "./rows";
import { TimelineCard } from "./TimelineCard";
import { versionsOf } from "./timeline";

export function Overview({ resource }: { resource: Resource }): ReactNode {
  return (
    <div className="stack">
      <Figures resource={resource} />
      <div className={resource.coverage || resource.summary ? "overview" : "overview overview-brief"}>
        <div className="stack overview-column">
          <Summary resource={resource} />
          <CoverageCard resource={resource} />
          <Inside resource={resource} />
        </div>
        <div className="stack overview-column">
          <TimelineCard resource={resource} />
          <MetadataCard resource={resource} />
          <Details resource={resource} />
          <Versions resource={resource} />
        </div>
      </div>
    </div>
  );
}

function Figures({ resource }: { resource: Resource }): ReactNode {
  const report = reportOf(resource);
  const length = lengthOf(resource);
  const figures: [string, string][] = [
    [t.size, formatBytes(resource.file_size_bytes)],
    ...(length ? [[wordFor(t.unitName, length.unit), formatNumber(length.count)] as [string, string]] : []),
    ...(report?.rows ? [[t.rowsColumn, formatNumber(report.rows)] as [string, string]] : []),
    ...(report?.words ? [[t.words, formatNumber(report.words)] as [string, string]] : []),
    [t.chunks, formatNumber(resource.chunk_count)],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="tabular">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Summary({ resource }: { resource: Resource }): ReactNode {
  const isImage = resource.mime_type.startsWith("image/") && resource.detected_category === "image";
  if (!resource.summary && !isImage) return null;
  return (
    <section className="card stack" aria-labelledby="summary-title">
      <h2 id="summary-title">{isImage ? t.description : t.summary}</h2>
      {isImage && /^image\/(png|jpeg|webp|gif|bmp)$/.test(resource.mime_type) && (
        <img
          className="picture"
          src={fileAddress(resource.id, resource.version)}
          alt={resource.summary ?? resource.filename}
        />
      )}
      <p className="summary-text">{resource.summary ?? <span className="muted">{t.noDescription}</span>}</p>
    </section>
  );
}

function Inside({ resource }: { resource: Resource }): ReactNode {
  const inside = useQuery(childrenQuery(resource.id, workspaceOf(resource, useShared(), presentWorkspace())));
  if (!inside.data?.length) return null;
  return (
    <section className="card stack" aria-labelledby="inside-title">
      <h2 id="inside-title">{t.unpacked}</h2>
      <ul className="inside">
        {inside.data.map((child) => (
          <li key={child.id} className="row">
            <FileIcon type={child.type} />
            <Link href={`/library/${child.id}`} className="file-link truncate grow">
              {child.filename}
            </Link>
            <Status status={child.status} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Details({ resource }: { resource: Resource }): ReactNode {
  const own = useQuery(projectsQuery(null)).data ?? [];
  const names = [...own, ...useShared()].filter(({ id }) => resource.project_ids.includes(id)).map(({ name }) => name);
  const author = resource.extraction_metadata.author;
  const facts: [string, ReactNode][] = [
    [t.type, resource.mime_type],
    [t.project, names.join(", ")],
    [t.added, formatMoment(resource.created_at)],
    [t.expires, resource.expires_at && formatMoment(resource.expires_at)],
    [t.languageName, resource.language && languageName(resource.language)],
    [t.author, typeof author === "string" ? author : null],
    [
      t.hash,
      <code key="hash" title={resource.content_hash}>
        {resource.content_hash.slice(0, 12)}
      </code>,
    ],
  ];
  return (
    <section className="card stack" aria-labelledby="details-title">
      <h2 id="details-title">{t.details}</h2>
      <dl className="facts small">
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name}>
              <dt className="muted">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

function Versions({ resource }: { resource: Resource }): ReactNode {
  const mayChange = useMayChange()(resource);
  const versions = versionsOf(resource.stages ?? []);
  if (versions.length < 2) return null;
  return (
    <section className="card stack" aria-labelledby="versions-title">
      <h2 id="versions-title">{t.versions}</h2>
      <ul className="versions small">
        {versions.map(({ version, at }) => (
          <li key={version} className="row">
            <strong>{t.versionNumber(version)}</strong>
            <span className="muted grow">{formatMoment(at)}</span>
            {version === resource.version && <span className="tag">{t.currentVersion}</span>}
            {(mayChange || version === resource.version) && (
              <a
                className="icon-button icon-button-small"
                href={fileAddress(resource.id, version)}
                download
                aria-label={t.downloadVersion(version)}
              >
                <Download size={15} aria-hidden />
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
