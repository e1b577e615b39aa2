/// <reference lib="dom" />
/** Hands bytes to the browser's downloads. */
export function saveAs(bytes: Blob, name: string): void {
  // Never as a type that the browser would open instead of saving.
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
