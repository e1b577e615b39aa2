/** The contract's media types, for tests of the function and of the deployed service. */

/** The contract's types, each with the extensions that must map to it. */
export const TYPES: Readonly<Record<string, string>> = {
  "text/markdown": "md markdown mkd",
  "text/plain": "txt text log",
  "text/javascript": "js jsx mjs cjs",
  "text/typescript": "ts tsx mts cts",
  "application/json": "json",
  "text/html": "html htm",
  "text/css": "css",
  "text/x-python": "py pyi",
  "text/x-java-source": "java",
  "text/x-c++src": "cpp cc cxx hpp hh hxx",
  "text/x-csrc": "c h",
  "application/xml": "xml xsd",
  "application/yaml": "yaml yml",
  "text/csv": "csv",
  "image/jpeg": "jpg jpeg",
  "image/png": "png",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/bmp": "bmp",
  "image/svg+xml": "svg",
  "application/pdf": "pdf",
  "application/zip": "zip",
  "audio/mpeg": "mp3",
  "video/mp4": "mp4",
  "video/x-msvideo": "avi",
  "video/quicktime": "mov",
  "application/octet-stream": "bin",
};

/** Types that are read as base64 even if the bytes are text. */
export const BINARY = new Set([
  ..."image/jpeg image/png image/gif image/webp image/bmp application/pdf application/zip".split(" "),
  ..."audio/mpeg video/mp4 video/x-msvideo video/quicktime".split(" "),
]);
