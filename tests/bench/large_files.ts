/** Appends and edits: their cost depends on the size of the change, not of the file. */
import { Bare, ByHand } from "./baselines.ts";
import { type Bench, fewer } from "./bench.ts";
import { Client } from "./client.ts";
import { bytesOf, KILOBYTE, lineOf, lines, MEGABYTE } from "./contents.ts";
import { interleave, median } from "./measure.ts";
import { atLeast, atMost } from "./report.ts";

const ADDED = "x".repeat(99) + "\n";
const LARGE = lines(10 * MEGABYTE);
/** The line to edit, in the middle of the file. */
const EDITED_LINE = 81_920;
const BY_HAND_APPEND = "by hand: select, download, join, upload, insert";
const BY_HAND_EDIT = "by hand: select, download, replace, upload, insert";

export async function largeAppends({ stack, rounds, report }: Bench): Promise<void> {
  const client = new Client(stack.baseUrl, (await stack.project()).key);
  const byHand = new ByHand(stack.supabase);
  const bare = new Bare(stack.supabase);
  report.group("Appends of 100 bytes");
  await client.write("1kb.txt", lines(KILOBYTE));
  await client.write("10mb.txt", LARGE);
  await byHand.write("10mb.txt", bytesOf(LARGE));
  const small = await interleave({
    toSmall: () => client.append("1kb.txt", ADDED),
    toLarge: () => client.append("10mb.txt", ADDED),
  }, rounds);
  report.times("append to 10 MB", small.toLarge, "append to 1 KB", small.toSmall, atMost(1.2));
  const large = await interleave(
    {
      byHand: () => byHand.append("10mb.txt", bytesOf(ADDED)),
      append: () => client.append("10mb.txt", ADDED),
      bare: () => bare.write(4, bytesOf(ADDED)),
    },
    fewer(rounds, 10),
    1,
  );
  const [append, hand] = [median(large.append), median(large.byHand)];
  report.against("append to 10 MB, times faster", append, "ms", BY_HAND_APPEND, hand, atLeast(20), true);
  const floor = median(large.bare);
  report.against(
    "  one upload and one RPC alone, times faster",
    floor,
    "ms",
    BY_HAND_APPEND,
    hand,
    null,
    true,
  );
}

export async function largeEdits({ stack, rounds, report }: Bench): Promise<void> {
  const project = await stack.project();
  const client = new Client(stack.baseUrl, project.key);
  const byHand = new ByHand(stack.supabase);
  report.group("Edit of one line in 10 MB");
  await client.write("edited.txt", LARGE);
  // Read alternately with the edits, these files push the edited file out of the cache.
  for (const index of [1, 2, 3]) {
    await client.write(`other-${index}.txt`, LARGE.replaceAll("fox", `fo${index}`));
  }
  await byHand.write("edited.txt", bytesOf(LARGE));
  const texts = new Map<string, string>();
  /** Toggles the line, so that every edit finds its old string. */
  const toggled = (who: string): [string, string] => {
    const now = texts.get(who) ?? lineOf(EDITED_LINE);
    const next = now.includes("fox") ? now.replace("fox", "cat") : now.replace("cat", "fox");
    texts.set(who, next);
    return [now, next];
  };
  const uploadsBefore = await uploads(stack, project.id);
  await client.edit("edited.txt", ...toggled("own"));
  report.value(
    "uploads of one edit",
    await uploads(stack, project.id) - uploadsBefore,
    "objects",
    atMost(2, "value"),
  );
  const few = fewer(rounds, 20);
  const bare = new Bare(stack.supabase);
  await bare.writeSeveral("edit", MEGABYTE, 10);
  const warm = await interleave(
    {
      byHand: () => byHand.edit("edited.txt", ...toggled("hand")),
      edit: () => client.edit("edited.txt", ...toggled("own")),
    },
    few,
    1,
  );
  const hand = median(warm.byHand);
  report.against("warm, times faster", median(warm.edit), "ms", BY_HAND_EDIT, hand, atLeast(4), true);
  const cold: number[] = [];
  const coldByHand: number[] = [];
  const coldBare: number[] = [];
  for (let round = 0; round < few; round++) {
    for (const index of [1, 2, 3]) await client.drain(`other-${index}.txt`);
    const times = await interleave(
      {
        byHand: () => byHand.edit("edited.txt", ...toggled("hand")),
        edit: () => client.edit("edited.txt", ...toggled("own")),
        bare: () => bare.editSeveral("edit", MEGABYTE, 10),
      },
      1,
      0,
    );
    cold.push(...times.edit);
    coldByHand.push(...times.byHand);
    coldBare.push(...times.bare);
  }
  report.against(
    "cold, times faster",
    median(cold),
    "ms",
    BY_HAND_EDIT,
    median(coldByHand),
    atLeast(1.8),
    true,
  );
  report.against(
    "  ten downloads of 1 MB, one upload and one RPC alone, times faster",
    median(coldBare),
    "ms",
    BY_HAND_EDIT,
    median(coldByHand),
    null,
    true,
  );
}

/** The number of the project's objects in storage. */
async function uploads(stack: Bench["stack"], projectId: string): Promise<number> {
  const [row] = await stack.sql<{ count: number }>(
    "select count(*)::int as count from storage.objects where bucket_id = 'filestore-segments' and name like $1 || '/%'",
    [projectId],
  );
  return row?.count ?? NaN;
}
