/** Compares a project of a million files with one of a thousand: pages and writes should cost the same. */
import { type Bench, fewer, sized } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { interleave } from "./measure.ts";
import { populate, SOME_DIRECTORY } from "./populate.ts";
import { atMost, type Bar } from "./report.ts";

const LARGE = { files: 1_000_000, filesPerDirectory: 1000 };
const SMALL = { files: 1000, filesPerDirectory: 100 };
const BASELINE = "the same with 1,000 files";
const CONTENT = lines(KILOBYTE);
/** A path in the middle of both projects. */
const MIDDLE = "top-5/sub-00005/file-0000505.txt";

/** Name, query, and the allowed ratio; null: reported only. `{last}` is the last path of the page before. */
const LISTS: readonly (readonly [name: string, query: string, bar: Bar | null])[] = [
  ["list from the root, first page", "recursive=true", atMost(2)],
  ["list from the root, by cursor", `recursive=true&after=${MIDDLE}`, atMost(2)],
  ["list from the root, last first, by cursor", `recursive=true&sortOrder=desc&after=${MIDDLE}`, atMost(2)],
  ["list of one directory, first page", `directory=${SOME_DIRECTORY}`, atMost(2)],
  [
    "list of one directory, by cursor",
    `directory=${SOME_DIRECTORY}&after=${SOME_DIRECTORY}/file-0`,
    atMost(2),
  ],
  ["list of one subtree, first page", "directory=top-3&recursive=true", atMost(2)],
  ["list from the root by size", "recursive=true&sortBy=size", atMost(5)],
  ["list from the root by size, largest first", "recursive=true&sortBy=size&sortOrder=desc", atMost(5)],
  ["list from the root by date of change", "recursive=true&sortBy=updated_at", atMost(5)],
  [
    "list from the root by date of change, newest first",
    "recursive=true&sortBy=updated_at&sortOrder=desc",
    atMost(5),
  ],
  ["list from the root by date of creation", "recursive=true&sortBy=created_at", atMost(5)],
  [
    "list from the root by date of creation, newest first",
    "recursive=true&sortBy=created_at&sortOrder=desc",
    atMost(5),
  ],
  ["list from the root, filter on size, total counted", "recursive=true&minSize=49000", null],
  ["list of one directory, filter on size", `directory=${SOME_DIRECTORY}&minSize=49000`, null],
  [
    "list from the root, filter on date, total counted",
    "recursive=true&createdAfter=2026-01-01T00:10:00Z",
    null,
  ],
];

/** Lists of the large project at a moment, compared with the present. */
const LISTS_AT: readonly (readonly [name: string, query: string])[] = [
  ["list from the root, first page", "recursive=true"],
  ["list from the root, by cursor", `recursive=true&after=${MIDDLE}`],
  ["list of one directory, first page", `directory=${SOME_DIRECTORY}`],
];

export async function largeProjects({ stack, rounds, report }: Bench): Promise<void> {
  report.group("A project of 1,000,000 files, pages of 100");
  const [large, small] = [await stack.project(), await stack.project()];
  await populate(stack, [large], { ...LARGE, files: sized(LARGE.files) });
  await populate(stack, [small], SMALL);
  const inLarge = new Client(stack.baseUrl, large.key);
  const inSmall = new Client(stack.baseUrl, small.key);
  for (const [name, query, bar] of LISTS) {
    const ask = (client: Client) => client.send("GET", `/files?limit=100&${query}`);
    const times = await interleave(
      {
        small: () => ask(inSmall),
        large: () => ask(inLarge),
      },
      bar === null ? fewer(rounds, 20) : fewer(rounds, 2),
      bar === null ? 1 : 8,
    );
    report.times(name, times.large, BASELINE, times.small, bar);
  }
  // The project was filled at once, so it had the same files a moment ago.
  const at = `at=${new Date(Date.now() - 1000).toISOString()}`;
  for (const [name, query] of LISTS_AT) {
    const times = await interleave(
      {
        now: () => inLarge.send("GET", `/files?limit=100&${query}`),
        then: () => inLarge.send("GET", `/files?limit=100&${query}&${at}`),
      },
      fewer(rounds, 2),
      8,
    );
    report.times(`${name}, as it was`, times.then, "the list of now", times.now, atMost(1.5));
  }
  const written = await interleave({
    small: (round) => inSmall.write(`${SOME_DIRECTORY}/new-${round}.txt`, CONTENT),
    large: (round) => inLarge.write(`${SOME_DIRECTORY}/new-${round}.txt`, CONTENT),
  }, rounds);
  report.times("write of 1 KB, a new file", written.large, BASELINE, written.small, atMost(1.3));
  const overwritten = await interleave({
    small: (round) => inSmall.overwrite(`${SOME_DIRECTORY}/new-${round}.txt`, CONTENT),
    large: (round) => inLarge.overwrite(`${SOME_DIRECTORY}/new-${round}.txt`, CONTENT),
  }, rounds);
  report.times("overwrite of 1 KB", overwritten.large, BASELINE, overwritten.small, atMost(1.3));
}
