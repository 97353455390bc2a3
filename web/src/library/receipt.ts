// What deletions removed, added up.
import type { Schemas } from "../api/client";

export type Receipt = Schemas["ReceiptOut"];

export interface ReceiptLine {
  key: "deleted" | "chunks" | "elements" | "files" | "vectors_left";
  count: number;
}

/** The sum of some receipts, as lines to read. */
export function sumReceipts(receipts: readonly Receipt[]): ReceiptLine[] {
  const sum = (count: (receipt: Receipt) => number): number =>
    receipts.reduce((total, receipt) => total + count(receipt), 0);
  return [
    { key: "deleted", count: sum((receipt) => receipt.deleted.length) },
    { key: "chunks", count: sum((receipt) => receipt.chunks) },
    { key: "elements", count: sum((receipt) => receipt.elements) },
    { key: "files", count: sum((receipt) => receipt.files) },
    { key: "vectors_left", count: sum((receipt) => receipt.vectors_left) },
  ];
}
