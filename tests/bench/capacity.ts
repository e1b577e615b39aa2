/**
 * Space that files, versions, segments and indexed text take in a real Postgres database, compared with the tariff.
 * Tables are measured with their indexes and with the free space that Postgres leaves.
 */
import {
  TARIFF_INDEXED_FACTOR,
  TARIFF_LISTED_SEGMENT_BYTES,
  TARIFF_SEGMENT_BYTES,
  TARIFF_VERSION_BYTES,
} from "../support/client/tariff.ts";
import { fileCost } from "../support/client/tariff.ts";
import { type Bench, sized } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE } from "./contents.ts";
import { whenIndexed } from "./indexed.ts";
import { atMost } from "./report.ts";

const FILES = 2_000;
const WRITERS = 16;
const TEXT_BYTES = 4 * KILOBYTE;
const APPENDS = 4_000;
/** Size of the made-up vocabulary, about that of a working language. */
const VOCABULARY = 5_000;

const TABLES = {
  files: ["files", "project_usage"],
  versions: ["file_versions"],
  segments: ["segments"],
  index: ["search_texts", "search_contents", "search_chunks", "search_queue"],
} as const;
type Part = keyof typeof TABLES;

export async function capacity({ stack, report }: Bench): Promise<void> {
  report.group("What it takes in the database, on a real Postgres");
  const client = new Client(stack.baseUrl, (await stack.project(false)).key);
  const words = vocabulary();
  const path = (file: number) => `notes/2026-11/session-${String(file).padStart(5, "0")}.md`;

  const empty = await sizes(stack);
  await parallel(sized(FILES), (file) => client.write(path(file), text(words, TEXT_BYTES)));
  await whenIndexed(stack);
  const filled = await sizes(stack);
  const grown = (part: Part) => (filled[part] - empty[part]) / sized(FILES);
  report.against(
    "a file in two directories",
    grown("files"),
    "B",
    "the tariff",
    fileCost(path(0)),
    atMost(1),
  );
  const version = TARIFF_VERSION_BYTES + TARIFF_LISTED_SEGMENT_BYTES;
  report.against("a version of one segment", grown("versions"), "B", "the tariff", version, atMost(1));
  report.against("a segment", grown("segments"), "B", "the tariff", TARIFF_SEGMENT_BYTES, atMost(1));
  const indexed = grown("index") / TEXT_BYTES;
  report.against("a byte of text in the index", indexed, "B", "the tariff", TARIFF_INDEXED_FACTOR, null);

  await parallel(sized(APPENDS), (append) => client.append(path(append % sized(FILES)), "one line more\n"));
  await whenIndexed(stack);
  const appended = await sizes(stack);
  const later = (part: Part) => (appended[part] - filled[part]) / sized(APPENDS);
  report.value("an append: what files grow by", later("files"), "B", null);
  report.value("an append: its version", later("versions"), "B", null);
  report.value("an append: its segment", later("segments"), "B", null);
  report.value("an append: what the index grows by", later("index"), "B", null);
}

async function sizes(stack: Bench["stack"]): Promise<Record<Part, number>> {
  const found: Partial<Record<Part, number>> = {};
  for (const [part, tables] of Object.entries(TABLES)) {
    for (const table of tables) await stack.sql(`vacuum filestore.${table}`);
    const [row] = await stack.sql<{ bytes: number }>(
      `select sum(pg_total_relation_size(t))::float8 as bytes
       from unnest(array[${tables.map((table) => `'filestore.${table}'::regclass`).join()}]) t`,
    );
    Object.assign(found, { [part]: row?.bytes ?? NaN });
  }
  return found as Record<Part, number>;
}

async function parallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const writer = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

function vocabulary(): string[] {
  const letters = "etaoinshrdlucmfwypvbgkjqxz";
  const letter = () => letters[Math.floor(Math.random() ** 2 * letters.length)] ?? "e";
  return Array.from(
    { length: VOCABULARY },
    () => Array.from({ length: 2 + Math.floor(Math.random() * 9) }, letter).join(""),
  );
}

/** Lines of ten words, some far more frequent than others, as in any language. */
function text(words: readonly string[], bytes: number): string {
  const word = () => words[Math.floor(Math.random() ** 3 * words.length)] ?? "";
  let all = "";
  while (all.length < bytes) all += `${Array.from({ length: 10 }, word).join(" ")}.\n`;
  return all.slice(0, bytes);
}
