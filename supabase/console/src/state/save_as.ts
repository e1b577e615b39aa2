/** Saves bytes as a download of the browser. */
export function saveAs(bytes: Blob, name: string): void {
  // With any other type the browser might open the file instead of saving it.
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
