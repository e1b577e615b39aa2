/** The content types of the service. */
import { z } from "zod";

/** Every type that a file can have. */
export const MEDIA_TYPES = [
  "text/markdown",
  "text/plain",
  "text/javascript",
  "text/typescript",
  "application/json",
  "text/html",
  "text/css",
  "text/x-python",
  "text/x-java-source",
  "text/x-c++src",
  "text/x-csrc",
  "application/xml",
  "application/yaml",
  "text/csv",
  "image/jpeg",
  "image/png",
  "image/gif",
  "image/webp",
  "image/bmp",
  "image/svg+xml",
  "application/pdf",
  "application/zip",
  "audio/mpeg",
  "video/mp4",
  "video/x-msvideo",
  "video/quicktime",
  "application/octet-stream",
] as const;

export const mediaType = z.enum(MEDIA_TYPES);
export type MediaType = z.infer<typeof mediaType>;
