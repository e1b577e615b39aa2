/** Operations on many files change 1,000 files in 2 calls without moving a byte, and refuse 1,001. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { COMMIT_FILES_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused, dataOf } from "../support/client/contract.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const undone = z.looseObject({ actions: z.array(z.unknown()) });
const changed = z.looseObject({ count: z.int() });

test("undo, copy, move and delete refuse 1,001 files; 1,000 are undone, and move, in 2 calls without a byte", async () => {
  const own = await files();
  const nameOf = (index: number) => `big/d${index % 7}/f${String(index).padStart(4, "0")}`;
  const names = Array.from({ length: COMMIT_FILES_MAX + 1 }, (_, index) => nameOf(index));
  for (let from = 0; from < names.length; from += 100) {
    const operations = names.slice(from, from + 100).map((path) => ({ op: "write", path, content: path }));
    const headers = { "x-run-id": "r1" };
    assertEquals((await own.request("POST", "/batch", { body: { operations }, headers })).status, 200);
  }
  const undo = (run: string, body: unknown, headers = {}) =>
    own.request("POST", `/runs/${run}/undo`, { body, headers });
  const inTwoCalls = async (work: () => Promise<void>) => {
    const calls = await service.proxy.during(work);
    assert(calls.length <= 2, JSON.stringify(calls));
    assert(calls.every(({ target }) => target === "database"), "no byte moves");
  };
  const refused = [
    await undo("r1", { dryRun: true }),
    await undo("r1", { dryRun: false }),
    await own.request("POST", "/folders/copy", { body: { path: "big", destination: "new" } }),
    await own.request("POST", "/folders/move", { body: { path: "big", destination: "new" } }),
    await own.request("DELETE", "/folders/big"),
  ];
  for (const answer of refused) assertEquals(assertRefused(answer, "TOO_MANY_FILES")["files"], 1001);
  await inTwoCalls(async () => {
    const paths = names.slice(0, COMMIT_FILES_MAX);
    const answer = await undo("r1", { dryRun: false, paths }, { "x-run-id": "u1" });
    assertEquals(dataOf(answer, "undo_run", undone).actions.length, COMMIT_FILES_MAX);
  });
  assertEquals((await own.list({ recursive: true })).total, 1);
  assertEquals((await undo("u1", { dryRun: false })).status, 200);
  assertEquals((await own.list({ recursive: true })).total, COMMIT_FILES_MAX + 1);
  await own.remove(names[0] ?? "");
  await inTwoCalls(async () => {
    const answer = await own.request("POST", "/folders/move", { body: { path: "big", destination: "new" } });
    assertEquals(dataOf(answer, "move_folder", changed).count, COMMIT_FILES_MAX);
  });
  assertEquals((await own.list({ directory: "new", recursive: true })).total, COMMIT_FILES_MAX);
  assertEquals((await own.read("new/d1/f0001")).content, "big/d1/f0001");
});
