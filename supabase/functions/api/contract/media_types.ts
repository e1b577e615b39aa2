/** The content types of the service, and how the type of a file follows from its name. */
import { z } from "zod";

/** Every type that a file can have, with its extensions, lower case. */
const TYPES = [
  ["text/markdown", "md markdown mkd mkdn mdown mdwn mdx"],
  ["text/plain", "txt text log"],
  ["text/javascript", "js mjs cjs jsx"],
  ["text/typescript", "ts mts cts tsx"],
  ["application/json", "json map webmanifest"],
  ["text/html", "html htm xhtml"],
  ["text/css", "css"],
  ["text/x-python", "py pyi pyw"],
  ["text/x-java-source", "java"],
  ["text/x-c++src", "cpp cc cxx c++ hpp hh hxx h++ ipp tpp inl"],
  ["text/x-csrc", "c h"],
  ["application/xml", "xml xsd xsl xslt rss atom plist"],
  ["application/yaml", "yaml yml"],
  ["text/csv", "csv"],
  ["image/jpeg", "jpg jpeg jpe jfif"],
  ["image/png", "png"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/bmp", "bmp dib"],
  ["image/svg+xml", "svg"],
  ["application/pdf", "pdf"],
  ["application/zip", "zip"],
  ["audio/mpeg", "mp3 mpga"],
  ["video/mp4", "mp4 m4v mp4v"],
  ["video/x-msvideo", "avi"],
  ["video/quicktime", "mov qt"],
  ["application/octet-stream", "bin dat exe dll so dylib class o a"],
] as const;

export const MEDIA_TYPES = TYPES.map(([type]) => type);
export const mediaType = z.enum(MEDIA_TYPES);
export type MediaType = z.infer<typeof mediaType>;

const TYPE_OF_EXTENSION: ReadonlyMap<string, MediaType> = new Map(
  TYPES.flatMap(([type, extensions]) => extensions.split(" ").map((extension) => [extension, type] as const)),
);

const BINARY_TYPE = /^(?:image\/(?!svg\+xml$)|audio\/|video\/|application\/(?:pdf|zip)$)/;

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
