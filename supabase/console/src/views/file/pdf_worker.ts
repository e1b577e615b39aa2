/** pdf.js's own worker, bundled so that the page needs no other address. */
import "pdfjs-dist/build/pdf.worker.mjs";
