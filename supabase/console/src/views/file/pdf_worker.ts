/** The worker of pdf.js, bundled so that it is loaded from the same origin. */
import "pdfjs-dist/build/pdf.worker.mjs";
