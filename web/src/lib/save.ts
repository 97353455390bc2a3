// Handing the browser something to keep.

/** Offer a text as a download. Characters that no file name may have are replaced. */
export function saveText(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name.replace(/[\\/:*?"<>|\p{Cc}]/gu, "_");
  link.click();
  URL.revokeObjectURL(address);
}

/** The address of a resource's original bytes. */
export function fileAddress(resourceId: string, version?: number): string {
  return `/resources/${encodeURIComponent(resourceId)}/file${version ? `?version=${version}` : ""}`;
}

/** The address of a file that extraction made. */
export function blobAddress(resourceId: string, name: string): string {
  return `/resources/${encodeURIComponent(resourceId)}/blobs/${name.split("/").map(encodeURIComponent).join("/")}`;
}
