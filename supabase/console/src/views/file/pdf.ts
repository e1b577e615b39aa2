/** pdf.js, loaded when a PDF is first shown. */
import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy } from "pdfjs-dist";
import { PDF_PAGE_WIDTH_PIXELS } from "../../limits.ts";

export type { PDFDocumentProxy } from "pdfjs-dist";

export async function openPdf(bytes: Uint8Array<ArrayBuffer>): Promise<PDFDocumentProxy> {
  GlobalWorkerOptions.workerPort ??= new Worker(new URL("./pdf_worker.ts", import.meta.url), {
    type: "module",
  });
  // A copy, because the bytes are transferred to the worker. No code is compiled, and no script in the document runs.
  return await getDocument({
    data: bytes.slice(),
    isEvalSupported: false,
    useWasm: false,
    enableXfa: false,
    stopAtErrors: false,
  }).promise;
}

export async function drawPage(
  pdf: PDFDocumentProxy,
  number: number,
  canvas: HTMLCanvasElement,
): Promise<void> {
  const page = await pdf.getPage(number);
  const natural = page.getViewport({ scale: 1 });
  const viewport = page.getViewport({ scale: PDF_PAGE_WIDTH_PIXELS / natural.width });
  canvas.width = viewport.width;
  canvas.height = viewport.height;
  await page.render({ canvas, viewport }).promise;
}
