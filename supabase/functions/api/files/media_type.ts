/** How the content type of a file is derived from its name. */
import { MEDIA_TYPES, type MediaType } from "../contract/media_types.ts";

/** Extensions of each type, lower case. */
const EXTENSIONS: Readonly<Record<MediaType, readonly string[]>> = {
  "text/markdown": ["md", "markdown", "mkd", "mkdn", "mdown", "mdwn", "mdx"],
  "text/plain": ["txt", "text", "log"],
  "text/javascript": ["js", "mjs", "cjs", "jsx"],
  "text/typescript": ["ts", "mts", "cts", "tsx"],
  "application/json": ["json", "map", "webmanifest"],
  "text/html": ["html", "htm", "xhtml"],
  "text/css": ["css"],
  "text/x-python": ["py", "pyi", "pyw"],
  "text/x-java-source": ["java"],
  "text/x-c++src": ["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl"],
  "text/x-csrc": ["c", "h"],
  "application/xml": ["xml", "xsd", "xsl", "xslt", "rss", "atom", "plist"],
  "application/yaml": ["yaml", "yml"],
  "text/csv": ["csv"],
  "image/jpeg": ["jpg", "jpeg", "jpe", "jfif"],
  "image/png": ["png"],
  "image/gif": ["gif"],
  "image/webp": ["webp"],
  "image/bmp": ["bmp", "dib"],
  "image/svg+xml": ["svg"],
  "application/pdf": ["pdf"],
  "application/zip": ["zip"],
  "audio/mpeg": ["mp3", "mpga"],
  "video/mp4": ["mp4", "m4v", "mp4v"],
  "video/x-msvideo": ["avi"],
  "video/quicktime": ["mov", "qt"],
  "application/octet-stream": ["bin", "dat", "exe", "dll", "so", "dylib", "class", "o", "a"],
};

const TYPE_OF_EXTENSION: ReadonlyMap<string, MediaType> = new Map(
  MEDIA_TYPES.flatMap((type) => EXTENSIONS[type].map((extension): [string, MediaType] => [extension, type])),
);

const BINARY_TYPE = /^(?:image\/(?!svg\+xml$)|audio\/|video\/|application\/(?:pdf|zip)$)/;

/** Whether the text is exactly one of the 27 types. */
export function isMediaType(text: string): text is MediaType {
  return MEDIA_TYPES.some((type) => type === text);
}

/**
 * The type of the file's extension, in upper or lower case. A name without a known extension (a dot file has none) is
 * `text/plain` where its bytes are text, otherwise `application/octet-stream`.
 */
export function detectMediaType(path: string, isText: boolean): MediaType {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const known = dot > 0 ? TYPE_OF_EXTENSION.get(name.slice(dot + 1).toLowerCase()) : undefined;
  return known ?? (isText ? "text/plain" : "application/octet-stream");
}

/** Whether a file of this type is returned as base64 even where its bytes happen to be UTF-8. */
export function isBinaryMediaType(type: string): boolean {
  return BINARY_TYPE.test(type);
}
