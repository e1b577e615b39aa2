import { useEffect, useRef, useState } from "preact/hooks";
import { PDF_PAGES_PER_STEP } from "../../limits.ts";
import { Pending } from "../../components/states.tsx";
import { useLoad } from "../../state/use_load.ts";
import type { PDFDocumentProxy } from "./pdf.ts";

export function PdfPreview({ bytes }: { readonly bytes: Uint8Array<ArrayBuffer> }) {
  const [shown, setShown] = useState(PDF_PAGES_PER_STEP);
  const { data: pdf, error } = useLoad("pdf", async () => await (await import("./pdf.ts")).openPdf(bytes));
  useEffect(() => () => void pdf?.destroy(), [pdf]);
  if (pdf === undefined) return <Pending error={error} what="the document" />;
  const count = Math.min(shown, pdf.numPages);
  return (
    <div class="pdf">
      {Array.from({ length: count }, (_, index) => <Page key={index} pdf={pdf} number={index + 1} />)}
      {count < pdf.numPages && (
        <button type="button" onClick={() => setShown(shown + PDF_PAGES_PER_STEP)}>
          Show more pages ({count} of {pdf.numPages})
        </button>
      )}
    </div>
  );
}

function Page({ pdf, number }: { readonly pdf: PDFDocumentProxy; readonly number: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    const target = canvas.current;
    if (target === null) return;
    import("./pdf.ts").then(({ drawPage }) => drawPage(pdf, number, target)).catch(() => setBroken(true));
  }, [pdf, number]);
  if (isBroken) return <p class="problem">Page {number} cannot be drawn.</p>;
  return <canvas ref={canvas} role="img" aria-label={`Page ${number} of ${pdf.numPages}`} />;
}
