/** GET /diff: the changes between two versions as a unified diff that applies exactly. */
import { assertEquals } from "@std/assert";

import { Administration } from "../../supabase/local/admin/administration.ts";
import { newKey } from "../../supabase/local/admin/new_key.ts";
import { assertRefused, type Code } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import cases, { MIB } from "../acceptance/diff.ts";
import { acceptance, suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

await acceptance(cases);

test("GET /diff with toPath compares two files, by default the latest version of each", async () => {
  const own = await files();
  const texts = { "a.txt": ["one\n", "one\ntwo\n"], "dir/b.txt": ["one\nthree\n", "one\nfour\n"] };
  for (const [path, versions] of Object.entries(texts)) {
    for (const text of versions) await own.write(path, text);
  }
  const latest = await own.diff("a.txt", { toPath: "dir/b.txt" });
  const diff = "--- a.txt\n+++ dir/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+four\n";
  assertEquals(latest, { from: 2, to: 2, diff, additions: 1, deletions: 1 });
  const chosen = await own.diff("a.txt", { toPath: "dir/b.txt", from: "1", to: "1" });
  assertEquals([chosen.from, chosen.to, chosen.diff.includes("+three")], [1, 1, true]);
  const none = await own.diff("a.txt", { toPath: "a.txt", from: "1", to: "1" });
  assertEquals(none, { from: 1, to: 1, diff: "", additions: 0, deletions: 0 });
});

test("GET /diff with toPath: each side is refused as a read of it is, and below a key's prefix alone", async () => {
  const own = await files();
  for (const path of ["a.txt", "in/b.txt", "gone.txt", "large.txt"]) {
    await own.write(path, path === "large.txt" ? "x".repeat(MIB + 1) : `${path}\n`);
  }
  await own.writeBytes("in/c.png", new Uint8Array([137, 80, 78, 71]));
  await own.remove("gone.txt");
  const refusal = async (path: string, query: Record<string, string>, code: Code) =>
    assertRefused(await own.tryDiff(path, query), code, "diff_file");
  await refusal("a.txt", { toPath: "none.txt" }, "FILE_NOT_FOUND");
  await refusal("none.txt", { toPath: "a.txt" }, "FILE_NOT_FOUND");
  assertEquals(await refusal("a.txt", { toPath: "gone.txt" }, "FILE_NOT_FOUND"), { deletedVersion: 2 });
  assertEquals((await own.diff("a.txt", { toPath: "gone.txt", to: "1" })).to, 1);
  const missing = await refusal("a.txt", { toPath: "in/b.txt", to: "2" }, "VERSION_NOT_FOUND");
  assertEquals(missing, { latestVersion: 1 });
  await refusal("a.txt", { toPath: "in/c.png" }, "NOT_TEXT");
  await refusal("a.txt", { toPath: "large.txt" }, "DIFF_TOO_LARGE");
  for (const toPath of ["", "/a.txt", "../a.txt", "a//b"]) await refusal("a.txt", { toPath }, "INVALID_PATH");
  assertRefused(await own.request("GET", "/diff/a.txt?toPath=a.txt&toPath=b"), "VALIDATION_ERROR");

  const { apiKey, stored } = await newKey();
  const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);
  await administration.createKey(own.project.id, "narrow", stored, { pathPrefix: "in" });
  const narrow = new Files(service, apiKey);
  for (const [path, toPath] of [["a.txt", "in/b.txt"], ["in/b.txt", "a.txt"]] as const) {
    assertRefused(await narrow.tryDiff(path, { toPath }), "FILE_NOT_FOUND");
  }
  assertEquals((await narrow.diff("in/b.txt", { toPath: "in/b.txt" })).diff, "");
});
