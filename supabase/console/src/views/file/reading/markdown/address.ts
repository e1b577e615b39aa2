/** The targets of links and images in a document. */
import { directoryOf, encodePath } from "../../../../format.ts";
import type { FilePlace, FilesPlace } from "../../../../state/router.ts";
import { linesBetween } from "../../../../state/lines.ts";

export type Address =
  | { readonly kind: "file"; readonly place: FilePlace }
  | { readonly kind: "folder"; readonly place: FilesPlace }
  | { readonly kind: "external"; readonly href: string }
  /** An image inside the address itself. */
  | { readonly kind: "inline"; readonly href: string };

const BASE = "https://project.invalid/";
const EXTERNAL = ["http:", "https:", "mailto:"];
const INLINE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

/**
 * Resolves an address relative to the file, or to the project if it begins with a slash, as on GitHub. Returns null for
 * scripts, other schemes, and broken addresses.
 */
export function addressOf(href: string, from: FilePlace): Address | null {
  if (INLINE.test(href)) return { kind: "inline", href };
  const directory = encodePath(directoryOf(from.path));
  const base = new URL(directory === "" ? BASE : `${BASE}${directory}/`);
  const url = URL.canParse(href, base) ? new URL(href, base) : null;
  if (url === null) return null;
  if (url.origin !== base.origin) {
    return EXTERNAL.includes(url.protocol) ? { kind: "external", href: url.href } : null;
  }
  const fragment = decode(url.hash.slice(1)) ?? "";
  if (href.startsWith("#")) {
    return { kind: "file", place: { ...fileAt(from, from.path), ...partOf(fragment) } };
  }
  const path = decode(url.pathname.slice(1));
  if (path === null) return null;
  if (path === "" || path.endsWith("/")) {
    return {
      kind: "folder",
      place: { name: "files", projectId: from.projectId, directory: path.replace(/\/$/, "") },
    };
  }
  return { kind: "file", place: { ...fileAt(from, path), ...partOf(fragment) } };
}

function fileAt({ projectId, path: own, version }: FilePlace, path: string): FilePlace {
  return { name: "file", projectId, path, tab: "content", version: path === own ? version : undefined };
}

/** As on GitHub, `#L12` is a line of the source and `#L12-L20` a range; anything else is a heading. */
function partOf(fragment: string): Pick<FilePlace, "line" | "lastLine" | "heading"> {
  const [, line, last] = /^L([1-9]\d{0,8})(?:C\d+)?(?:-L?([1-9]\d{0,8}))?/.exec(fragment) ?? [];
  if (line !== undefined) return linesBetween(Number(line), last === undefined ? undefined : Number(last));
  const heading = fragment.replace(/^user-content-/, "");
  return heading === "" ? {} : { heading };
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
