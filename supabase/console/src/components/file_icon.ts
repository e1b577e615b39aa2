/** The icon of a file: by its extension, otherwise by its type. */
import { nameOf } from "../format.ts";
import type { IconName } from "./icon.tsx";

const EXTENSIONS: readonly (readonly [IconName, string])[] = [
  ["fileText", "md mkd markdown mdx txt log rst adoc org rtf doc docx odt tex"],
  [
    "fileCode",
    "js mjs cjs jsx ts mts cts tsx py java c h cc cpp cxx hpp cs go rs rb php swift kt scala sh bash zsh ps1 " +
    "sql html htm css scss less vue svelte lua r pl ex exs erl hs clj dart zig wasm",
  ],
  [
    "fileData",
    "json jsonl ndjson json5 jsonc geojson ipynb yaml yml toml xml ini env cfg conf lock proto graphql",
  ],
  ["fileTable", "csv tsv tab xls xlsx ods parquet arrow feather"],
  ["fileImage", "jpg jpeg png gif webp bmp svg ico avif heic tif tiff apng jxl psd"],
  ["fileSound", "mp3 wav wave flac ogg oga opus m4a aac aif aiff weba"],
  ["fileFilm", "mp4 mov avi mkv webm ogv m4v"],
  ["filePdf", "pdf ps eps epub"],
  ["fileArchive", "zip tar gz tgz bz2 xz zst 7z rar jar whl"],
];

const BY_EXTENSION: ReadonlyMap<string, IconName> = new Map(
  EXTENSIONS.flatMap(([icon, extensions]) =>
    extensions.split(" ").map((extension) => [extension, icon] as const)
  ),
);

/** Icons by the beginning of the type. */
const BY_TYPE: readonly (readonly [string, IconName])[] = [
  ["image/", "fileImage"],
  ["audio/", "fileSound"],
  ["video/", "fileFilm"],
  ["application/pdf", "filePdf"],
  ["application/zip", "fileArchive"],
  ["text/csv", "fileTable"],
  ["application/json", "fileData"],
  ["application/xml", "fileData"],
  ["application/yaml", "fileData"],
  ["text/plain", "fileText"],
  ["text/markdown", "fileText"],
  ["text/", "fileCode"],
];

export function fileIcon(
  { path, mimeType = "" }: { readonly path: string; readonly mimeType?: string },
): IconName {
  const extension = /[^.]\.([^.]+)$/.exec(nameOf(path))?.[1]?.toLowerCase() ?? "";
  return BY_EXTENSION.get(extension) ?? BY_TYPE.find(([start]) => mimeType.startsWith(start))?.[1] ?? "file";
}
