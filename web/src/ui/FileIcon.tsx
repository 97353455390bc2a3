// What kind of file it is, at a glance.
import { Archive, File, FileCode, FileSpreadsheet, FileText, Image, Mail, Presentation } from "lucide-react";
import type { ReactNode } from "react";
import { lookUp } from "../api/codes";

const ICONS = {
  pdf: FileText,
  docx: FileText,
  doc: FileText,
  odt: FileText,
  rtf: FileText,
  txt: FileText,
  markdown: FileText,
  epub: FileText,
  pptx: Presentation,
  ppt: Presentation,
  odp: Presentation,
  xlsx: FileSpreadsheet,
  xls: FileSpreadsheet,
  xlsb: FileSpreadsheet,
  ods: FileSpreadsheet,
  csv: FileSpreadsheet,
  tsv: FileSpreadsheet,
  parquet: FileSpreadsheet,
  json: FileCode,
  html: FileCode,
  xml: FileCode,
  eml: Mail,
  msg: Mail,
  zip: Archive,
  png: Image,
  jpeg: Image,
  tiff: Image,
  webp: Image,
} satisfies Record<string, typeof File>;

export function FileIcon({ type, size = 16 }: { type: string; size?: number }): ReactNode {
  const Icon = lookUp<typeof File>(ICONS, type) ?? File;
  return <Icon size={size} aria-hidden />;
}

const EXTENSIONS: Readonly<Record<string, string>> = { md: "markdown", jpg: "jpeg", tif: "tiff", htm: "html" };

/** The kind of file that a name promises, where only the name is known. */
export function typeOf(filename: string): string {
  const extension = filename.slice(filename.lastIndexOf(".") + 1).toLowerCase();
  return lookUp<string>(EXTENSIONS, extension) ?? extension;
}
