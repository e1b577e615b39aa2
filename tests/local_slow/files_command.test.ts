/**
 * `deno task files`: an export that is imported again gives the same files, even after interruptions, and never
 * replaces a file silently.
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { dirname, join } from "node:path";
import { exportFiles, type ExportOptions } from "../../supabase/client/transfer/export.ts";
import { Api, type Call } from "../../supabase/client/library/api.ts";
import { importFiles } from "../../supabase/client/transfer/import.ts";
import type { ManifestLine } from "../../supabase/client/transfer/manifest.ts";
import { sha256Hex } from "../../supabase/functions/api/runtime/bytes.ts";
import { Failure } from "../../supabase/client/failure.ts";
import type { Files, ProjectFiles } from "../support/client/files.ts";
import { patternBytes } from "../support/content/streams.ts";
import { eventually } from "../support/eventually.ts";
import { report, rounds } from "../support/runner/long.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { runCommand, startCommand } from "../support/stack/command.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const ALL: ExportOptions = { directory: "", at: undefined, hasHistory: true };
const CURRENT: ExportOptions = { ...ALL, hasHistory: false };

const apiOf = (own: Files) => new Api({ url: service.baseUrl, key: own.key });

/** An API whose process ends after a number of requests. */
class Interrupted extends Api {
  constructor(own: Files, private left: number) {
    super({ url: service.baseUrl, key: own.key });
  }

  override send<T>(path: string, call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    if (this.left-- <= 0) return Promise.reject(new Failure("interrupted"));
    return super.send(path, call, read);
  }
}

/** Paths that a disk may not allow, contents of all kinds, histories, and files deleted and written again. */
async function fill(own: Files): Promise<void> {
  const said = {
    headers: { "x-run-id": "night-1", "x-actor": "planner/2", "x-change-note": "gr%C3%B6%C3%9Fer" },
  };
  for (
    const path of ["README.md", "readme.md", "a", "a/b", "a/B", "con.txt", "x:y?.txt", "\u{1f600}/\uff5e.md"]
  ) {
    const answer = await own.request("POST", "/files", { body: { path, content: `of ${path}` }, ...said });
    assertEquals(answer.status, 200);
  }
  await own.write(`${"l".repeat(300)}/f.txt`, "in a folder with a long name");
  await own.writeRaw("empty.bin", new Uint8Array(0));
  await own.writeRaw("large.bin", patternBytes(0, 2_500_000));
  await own.write("typed", "{}", { contentType: "application/json" });
  for (let version = 0; version < 3; version++) await own.append("a", `${version}\n`);
  await own.remove("a/b");
  await own.write("a/b", "again");
  await own.write("gone.txt", "was there");
  await own.remove("gone.txt");
}

/** Every version of every file: its bytes, type and provenance. */
async function versionsOf(own: Files): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const deleted of [false, true]) {
    for (const path of await own.paths({ recursive: true, limit: 100, deleted })) {
      const { versions } = await own.versions(path, { limit: 100 });
      found[path] = await Promise.all(versions.map(async ({ version, actor, note, ...entry }) => {
        if (entry.deleted) return "deleted";
        const { bytes, headers } = await own.readRaw(path, {}, { version });
        return { actor, note, type: headers.get("content-type"), sha256: await sha256Hex(bytes) };
      }));
    }
  }
  return found;
}

async function manifestOf(folder: string): Promise<ManifestLine[]> {
  return (await Deno.readTextFile(join(folder, "manifest.jsonl"))).trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  );
}

const writeManifest = (folder: string, lines: readonly unknown[]) =>
  Deno.writeTextFile(
    join(folder, "manifest.jsonl"),
    lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""),
  );

test("every version goes out and in: bytes, types, deletions, actors and notes, with new numbers and times", async () => {
  const [own, other] = [await files(), await files()];
  await fill(own);
  await withScratchDirectory(async (folder) => {
    const out = join(folder, "out");
    const exported = await exportFiles(apiOf(own), out, ALL);
    assertEquals([exported.files, exported.gone], [13, []]);
    const lines = await manifestOf(out);
    for (const { stored, sha256, size } of lines) {
      if (stored === undefined) continue;
      const bytes = await Deno.readFile(join(out, stored));
      assertEquals([await sha256Hex(bytes), bytes.length], [sha256, size], stored);
    }
    const [first] = lines.filter(({ path }) => path === "a");
    assertEquals(
      [first?.operation, first?.runId, first?.actor, first?.note, first?.type],
      ["write", "night-1", "planner/2", "größer", "text/plain"],
    );
    const imported = await importFiles(apiOf(other), out, { overwrites: false });
    assertEquals(imported.versions, lines.length);
    assertEquals(await versionsOf(other), await versionsOf(own));
    const before = await service.tables();
    const again = await importFiles(apiOf(other), out, { overwrites: false });
    assertEquals([again.versions, again.bytes], [0, 0], "run again, it writes nothing");
    assertEquals(await service.tables(), before);
  });
});

test("without history, files/ is the tree of the moment; --at and --directory choose which", async () => {
  const own = await files();
  await own.write("d/a.txt", "one");
  await own.write("d/deep/b.txt", "b");
  await own.write("other.txt", "x");
  const { versions: [version] } = await own.versions("other.txt");
  await own.write("d/a.txt", "two");
  await own.remove("d/deep/b.txt");
  await withScratchDirectory(async (folder) => {
    const read = (name: string, path: string) => Deno.readTextFile(join(folder, name, "files", path));
    await exportFiles(apiOf(own), join(folder, "now"), CURRENT);
    assertEquals([await read("now", "d/a.txt"), await read("now", "other.txt")], ["two", "x"]);
    const then = { ...CURRENT, directory: "d", at: version?.cursor };
    assertEquals((await exportFiles(apiOf(own), join(folder, "then"), then)).files, 2);
    assertEquals([await read("then", "d/a.txt"), await read("then", "d/deep/b.txt")], ["one", "b"]);
    assertEquals((await manifestOf(join(folder, "then"))).map(({ path }) => path), [
      "d/a.txt",
      "d/deep/b.txt",
    ]);
  });
});

/** Writes files with five versions each, in batches. */
async function populate(own: ProjectFiles, count: number): Promise<void> {
  for (let version = 0; version < 5; version++) {
    for (let from = 0; from < count; from += 100) {
      const operations = Array.from({ length: Math.min(100, count - from) }, (_, index) => ({
        op: "write",
        path: `dir-${(from + index) % 7}/${from + index}.txt`,
        content: `${from + index} ${version}`,
      }));
      assertEquals((await own.request("POST", "/batch", { body: { operations } })).status, 200);
    }
  }
}

test("an export and an import that are interrupted twice go on, lose nothing and write nothing twice", async () => {
  const [own, other] = [await files(), await files()];
  const count = rounds(20, 10_000);
  await populate(own, count);
  await withScratchDirectory(async (folder) => {
    const out = join(folder, "out");
    for (const part of [3, 2]) {
      const requests = Math.floor(6 * count / part);
      await assertRejects(
        () => exportFiles(new Interrupted(own, requests / 2), out, ALL),
        Failure,
        "interrupted",
      );
    }
    const started = performance.now();
    assertEquals((await exportFiles(apiOf(own), out, ALL)).files, count);
    const lines = await manifestOf(out);
    assertEquals(lines.length, 5 * count);
    for (const part of [3, 2]) {
      const requests = Math.floor(6 * count / part);
      await assertRejects(
        () => importFiles(new Interrupted(other, requests / 2), out, { overwrites: false }),
        Failure,
        "interrupted",
      );
    }
    await importFiles(apiOf(other), out, { overwrites: false });
    const again = join(folder, "again");
    await exportFiles(apiOf(other), again, ALL);
    const shown = ({ path, version, sha256 }: ManifestLine) => [path, version, sha256];
    assertEquals((await manifestOf(again)).map(shown), lines.map(shown), "the same versions, by digest");
    report("export and import", {
      files: count,
      versions: lines.length,
      seconds: Math.round((performance.now() - started) / 1000),
    });
  });
});

test("what was begun for something else, or is complete, is not gone on with", async () => {
  const own = await files();
  await own.write("a/b.txt", "x");
  await withScratchDirectory(async (folder) => {
    const out = join(folder, "out");
    await assertRejects(() => exportFiles(new Interrupted(own, 3), out, ALL), Failure, "interrupted");
    await assertRejects(() => exportFiles(apiOf(own), out, CURRENT), Failure, "other options");
    await assertRejects(
      () => importFiles(apiOf(own), out, { overwrites: false }),
      Failure,
      "not complete",
    );
    await exportFiles(apiOf(own), out, ALL);
    await assertRejects(() => exportFiles(apiOf(own), out, ALL), Failure, "complete");
    await assertRejects(() => exportFiles(apiOf(own), folder, ALL), Failure, "not empty");
  });
});

test("an import with traversal, wrong sums, missing files or links is refused before it changes anything", async () => {
  const [own, other] = [await files(), await files()];
  await own.write("a.txt", "first");
  await own.write("dir/b.txt", "second");
  await withScratchDirectory(async (folder) => {
    const out = join(folder, "out");
    await exportFiles(apiOf(own), out, CURRENT);
    await Deno.writeTextFile(join(folder, "secret"), "first");
    const [a, b] = await manifestOf(out);
    const place = join(out, "files/dir/b.txt");
    const before = await service.tables();
    const refused = async (what: string, expected: string, arrange: () => Promise<unknown>) => {
      await arrange();
      const error = await assertRejects(
        () => importFiles(apiOf(other), out, { overwrites: true }),
        Failure,
        undefined,
        what,
      );
      assertStringIncludes(error.message, expected, what);
      assertEquals(await service.tables(), before, what);
      await writeManifest(out, [a, b]);
      await Deno.remove(place).catch(() => {});
      await Deno.mkdir(dirname(place), { recursive: true });
      await Deno.writeTextFile(place, "second");
    };
    for (
      const stored of [
        ..."files/../../secret ../secret /etc/passwd files files/./a.txt files//a.txt files\\a.txt".split(
          " ",
        ),
      ]
    ) {
      await refused(stored, "line 2: stored leads out", () => writeManifest(out, [a, { ...b, stored }]));
    }
    for (const path of ["../x", "/x", "x//y", "x\\y", ""]) {
      await refused(path, "line 2: path", () => writeManifest(out, [a, { ...b, path }]));
    }
    await refused(
      "wrong bytes",
      "has a different SHA-256 than recorded",
      () => Deno.writeTextFile(place, "secone"),
    );
    await refused("wrong size", "bytes instead of 6", () => Deno.writeTextFile(place, "sec"));
    await refused("missing", "is missing", () => Deno.remove(place));
    await refused("a link", "symbolic link", async () => {
      await Deno.remove(place);
      await Deno.symlink(join(folder, "secret"), place);
    });
    await refused("a linked folder", "symbolic link", async () => {
      await Deno.rename(join(out, "files/dir"), join(folder, "moved"));
      await Deno.symlink(join(folder, "moved"), join(out, "files/dir"));
    });
    await Deno.remove(join(out, "files/dir"));
    await Deno.rename(join(folder, "moved"), join(out, "files/dir"));
    await refused("order", "not in the order", () => writeManifest(out, [b, a]));
    await refused("twice", "not in the order", () => writeManifest(out, [a, a]));
    await refused("no JSON", "line 2: not JSON", () => writeManifest(out, [a, "{"]));
    await refused("no sum", "line 2", () => writeManifest(out, [a, { ...b, sha256: undefined }]));
    assertEquals(
      (await importFiles(apiOf(other), out, { overwrites: false })).versions,
      2,
      "whole, it goes in",
    );
  });
});

test("a file that exists is never replaced silently; --overwrite makes its next versions", async () => {
  const [own, other] = [await files(), await files()];
  await own.write("a.txt", "one");
  await own.write("b.txt", "one");
  await own.write("b.txt", "two");
  await other.write("b.txt", "theirs");
  await withScratchDirectory(async (folder) => {
    const out = join(folder, "out");
    await exportFiles(apiOf(own), out, ALL);
    const before = await service.tables();
    const error = await assertRejects(
      () => importFiles(apiOf(other), out, { overwrites: false }),
      Failure,
    );
    assertStringIncludes(error.message, "exist; give --overwrite to add versions to them: b.txt");
    assertEquals(await service.tables(), before);
    assertEquals((await importFiles(apiOf(other), out, { overwrites: true })).versions, 3);
    assertEquals((await importFiles(apiOf(other), out, { overwrites: true })).versions, 0, "again: nothing");
    assertEquals((await other.versions("b.txt")).total, 3);
    assertEquals((await other.read("b.txt")).content, "two");
    await other.remove("a.txt");
    assertEquals(
      (await importFiles(apiOf(other), out, { overwrites: false })).versions,
      1,
      "deleted since: written",
    );
    assertEquals((await other.read("a.txt")).content, "one");
  });
});

test("the command: killed in the middle it goes on; refusals are one line, and status 1 or 2", async () => {
  const [own, other] = [await files(), await files()];
  await populate(own, 40);
  await withScratchDirectory(async (folder) => {
    const out = join(folder, "out");
    const to = (project: Files) => ["--url", service.baseUrl, "--key", project.key, "--json"];
    // Halfway, the back end answers no more, so that the command cannot end before it is killed.
    const killed = Promise.withResolvers<void>();
    let calls = 0;
    service.proxy.hook = async (_, forward) => {
      if (++calls > 200) await killed.promise;
      return await forward();
    };
    try {
      const running = startCommand("files.ts", "export", out, "--history", ...to(own));
      const partial = join(out, "manifest.jsonl.part");
      await eventually(
        "some is exported",
        () => Deno.stat(partial).then(({ size }) => size > 5_000, () => false),
      );
      assert((await running.end("SIGKILL")).code !== 0);
    } finally {
      killed.resolve();
      service.proxy.hook = null;
    }
    const succeed = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCommand("files.ts", ...args);
      assertEquals([code, stderr], [0, ""]);
      return JSON.parse(stdout);
    };
    const exported = await succeed("export", out, "--history", ...to(own));
    assertEquals(exported.files, 40);
    assert(exported.versions < 200, "it went on");
    assertEquals((await succeed("import", out, ...to(other))).versions, 200);
    const refuse = async (status: number, expected: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runCommand("files.ts", ...args);
      assertEquals([code, stdout, stderr.trimEnd().split("\n").length], [status, "", 1], stderr);
      assertStringIncludes(stderr, expected);
    };
    await refuse(2, "missing required argument 'dir'", "export", ...to(own));
    await refuse(2, "unknown option '--history'", "import", out, "--history", ...to(own));
    await refuse(2, "requires both", "import", out, "--url", service.baseUrl);
    await refuse(
      1,
      "INVALID_API_KEY",
      "export",
      join(folder, "x"),
      "--url",
      service.baseUrl,
      "--key",
      "oa_wrong",
    );
    await refuse(1, "a complete export", "export", out, "--history", ...to(own));
    await refuse(1, "VALIDATION_ERROR", "export", join(folder, "y"), "--at", "soon", ...to(own));
  });
});
