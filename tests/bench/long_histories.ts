/** Compares a file with a hundred thousand versions with one that has ten. */
import { type Bench, sized } from "./bench.ts";
import { Client } from "./client.ts";
import { interleave } from "./measure.ts";
import { addVersions } from "./populate.ts";
import { atMost } from "./report.ts";

const BASELINE = "the same of a file with 10 versions";

export async function longHistories({ stack, rounds, report }: Bench): Promise<void> {
  report.group("A file with 100,000 versions, pages of 10");
  const project = await stack.project();
  const client = new Client(stack.baseUrl, project.key);
  for (const path of ["long.txt", "short.txt"]) await client.write(path, "content");
  await addVersions(stack, project, "long.txt", sized(99_999));
  await addVersions(stack, project, "short.txt", 9);
  const page = (path: string, offset: number) =>
    client.send("GET", `/files/${path}?versions&limit=10&offset=${offset}`);
  const times = await interleave({
    short: () => page("short.txt", 0),
    newest: () => page("long.txt", 0),
    middle: () => page("long.txt", sized(50_000)),
    oldest: () => page("long.txt", sized(99_990)),
  }, rounds);
  report.times("version list, newest page", times.newest, BASELINE, times.short, atMost(1.5));
  report.times("version list, page in the middle", times.middle, BASELINE, times.short, atMost(1.5));
  report.times("version list, oldest page", times.oldest, BASELINE, times.short, atMost(1.5));
}
