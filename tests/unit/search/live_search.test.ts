/** The live reads of a search, and its report of texts that it could not read. */
import { assertEquals } from "@std/assert";
import { ApiError, unavailable } from "../../../supabase/functions/api/errors.ts";
import { SEARCH_LIVE_BYTES_MAX } from "../../../supabase/functions/api/limits.ts";
import type { Content } from "../../../supabase/functions/api/ports/files.ts";
import type { UnsearchedPage } from "../../../supabase/functions/api/ports/schemas.ts";
import { ByteBudget } from "../../../supabase/functions/api/runtime/byte_budget.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { LiveReadSlots } from "../../../supabase/functions/api/search/live_read_slots.ts";
import { LiveSearch } from "../../../supabase/functions/api/search/live_search.ts";
import { substringFinder } from "../../../supabase/functions/api/search/matching_lines.ts";
import { comparePaths } from "../../../supabase/functions/api/search/unsearched.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { segmentOf } from "../segment_of.ts";

const TIME = "2026-11-20T10:15:30.250Z";

/** A file whose only segment has the file's path as its name. */
function fileOf(path: string, size = 10): Content {
  const times = { createdAt: TIME, updatedAt: TIME };
  const file = { id: path, path, version: 1, mimeType: "text/plain", size, ...times };
  return { file, segments: [segmentOf(path, size)] };
}

function pageOf(live: readonly Content[], rest: Partial<UnsearchedPage> = {}): UnsearchedPage {
  return { live, files: 0, bytes: 0, paths: [], reasons: [], isComplete: true, ...rest };
}

const NEVER = new AbortController().signal;

/** Searches for `needle` in files with these texts, or with these errors of reading them. */
function searchIn(contents: Readonly<Record<string, string | Error>>, liveReadSlots = new LiveReadSlots()) {
  const clock = new ManualClock();
  const read: string[] = [];
  const unused = () => {
    throw new Error("unused");
  };
  const live = new LiveSearch({
    request: { signal: NEVER },
    gate: { projectId: "p" },
    deadline: new Deadline(20_000, clock),
    readAhead: new ByteBudget(0),
    liveReadSlots,
    segments: {
      ...{ put: unused, list: unused, remove: unused, free: unused, days: unused, probe: unused },
      get({ name }) {
        read.push(name);
        const content = contents[name] ?? "";
        return typeof content === "string"
          ? Promise.resolve(new TextEncoder().encode(content))
          : Promise.reject(content);
      },
    },
  }, substringFinder("needle", true));
  const found = () => {
    const paths: string[] = [];
    for (let next = live.next(); next; next = live.next()) paths.push(next.path);
    return paths;
  };
  return { live, found, clock, read };
}

async function searchMany(count: number, content: string | Error) {
  const names = Array.from({ length: count }, (_, n) => `f${n + 10}`);
  const search = searchIn(Object.fromEntries(names.map((name) => [name, content])));
  await search.live.read(pageOf(names.map((name) => fileOf(name))));
  return search;
}

Deno.test("LiveSearch: a file that cannot be read is reported as not searched, and the others are searched", async () => {
  const corrupt = new ApiError("CONTENT_CORRUPT", "corrupt");
  const { live, found } = searchIn({ a: corrupt, b: "a needle", c: "nothing" });
  await live.read(pageOf(["a", "b", "c"].map((path) => fileOf(path))));
  assertEquals(found(), ["b"]);
  assertEquals(live.notSearched, { files: 1, bytes: 10, paths: ["a"], reasons: ["unreadable"] });
  assertEquals([...live.searched], ["b", "c"]);
});

Deno.test("LiveSearch: where Storage is out of reach nothing further is asked of it", async () => {
  const { live, read } = await searchMany(20, unavailable());
  assertEquals([live.notSearched?.files, live.notSearched?.reasons], [20, ["unreadable"]]);
  assertEquals(read.length < 10, true, `${read.length} reads`);
});

Deno.test("LiveSearch: while another search of the project reads, one waits, and then does without", async () => {
  const liveReadSlots = new LiveReadSlots();
  const first = searchIn({});
  const release = await liveReadSlots.begin("p", SEARCH_LIVE_BYTES_MAX, new Deadline(1, first.clock), NEVER);
  const { live, clock } = searchIn({ a: "a needle" }, liveReadSlots);
  const reading = live.read(pageOf([fileOf("a")]));
  clock.advance(20_000);
  await reading;
  assertEquals(live.notSearched?.reasons, ["busy"]);
  release();
  const after = searchIn({ a: "a needle" }, liveReadSlots);
  await after.live.read(pageOf([fileOf("a")]));
  assertEquals([after.found(), after.live.notSearched], [["a"], null]);
});

Deno.test("LiveSearch: a text that takes too much work is not searched, and none after it", async () => {
  const { live } = await searchMany(12, "needl ".repeat(2_000_000));
  assertEquals(live.notSearched?.reasons, ["bounds"]);
});

Deno.test("LiveSearch: unsearched files that a later page finds are reported, and an earlier report stays", async () => {
  const { live } = searchIn({});
  await live.read(pageOf([]));
  const more = { files: 1, bytes: 7, paths: ["new"], reasons: ["pending"] } as const;
  live.note(pageOf([], more));
  assertEquals(live.notSearched, { ...more });
  live.note(pageOf([], { ...more, paths: ["other"] }));
  assertEquals(live.notSearched?.paths, ["new"]);
});

Deno.test("LiveSearch: where not all files could be counted the answer never claims to be complete", async () => {
  const { live } = searchIn({});
  await live.read(pageOf([], { isComplete: false }));
  assertEquals(live.notSearched, { files: 1, bytes: 0, paths: [], reasons: ["pending"] });
});

Deno.test("comparePaths: the order of the bytes in UTF-8, as the database has it", () => {
  const paths = ["", "a", "a/b", "aa", "b", "é", "\uFFEE", "\u{1F600}", "\u{1F600}a", "\u{10FFFF}"];
  const shuffled = [...paths].reverse();
  assertEquals(shuffled.sort(comparePaths), paths);
  const encoder = new TextEncoder();
  const bytes = (text: string) => [...encoder.encode(text)].map((byte) => String.fromCharCode(byte)).join("");
  for (const a of paths) {
    for (const b of paths) {
      const expected = bytes(a) < bytes(b) ? -1 : bytes(a) > bytes(b) ? 1 : 0;
      assertEquals(Math.sign(comparePaths(a, b)), expected, `${a} ${b}`);
    }
  }
});
