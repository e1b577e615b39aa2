/**
 * Edits of one file at the same time: edits of one isolate queue, and an edit that another write has overtaken is
 * retried. No change is lost.
 */
import { assert, assertEquals } from "@std/assert";
import { COMPACTION_CHECK_EVERY_SEGMENTS } from "../../supabase/functions/api/limits.ts";
import { assertRefused } from "../support/client/contract.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { unreferencedObjects } from "../support/client/stored.ts";
import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";
import type { Hook } from "../support/stack/proxy.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const PATH = "shared.txt";
const TEXT = "one\ntwo\nthree\n";

async function withFile(text = TEXT): Promise<ProjectFiles> {
  const own = await files();
  await own.write(PATH, text);
  return own;
}

async function withHook(hook: Hook, work: () => Promise<unknown>): Promise<void> {
  service.proxy.hook = hook;
  try {
    await work();
  } finally {
    service.proxy.hook = null;
  }
}

/** Runs `change` when the first upload of `request` is about to be stored: after the edit has read, before it commits. */
async function duringEdit(change: () => Promise<unknown>, request: () => Promise<unknown>): Promise<void> {
  let isFirst = true;
  await withHook(async ({ target, method }, forward) => {
    if (target === "storage" && method === "POST" && isFirst) {
      isFirst = false;
      await change();
    }
    return await forward();
  }, request);
  assert(!isFirst, "nothing was uploaded");
}

test("16 clients edit 4 lines each of one file at the same time: all succeed, each with 1 upload and 2 calls", async () => {
  const [clients, edits] = [16, 4];
  const line = (client: number, index: number) => `client ${client}: ${index};`;
  const all = Array.from({ length: clients }, (_, client) => client);
  const own = await withFile(all.map((client) => `${line(client, 0)}\n`).join(""));
  const cost = await trafficOf(service, () =>
    Promise.all(all.map(async (client) => {
      for (let index = 0; index < edits; index++) {
        await own.edit(PATH, line(client, index), line(client, index + 1));
      }
    })));
  const count = clients * edits;
  const expected = { ...NO_OBJECTS, puts: count, database: 2 * count };
  assertEquals({ ...cost, database: cost.database.length }, expected);
  const { content, version } = await own.read(PATH);
  assertEquals([content, version], [all.map((client) => `${line(client, edits)}\n`).join(""), count + 1]);
});

test("edits of different files do not wait for each other: one that hangs holds up its own file's only", async () => {
  const own = await withFile();
  await own.write("other.txt", TEXT);
  const hang = Promise.withResolvers<void>();
  const hangs = Promise.withResolvers<void>();
  let isFirst = true;
  await withHook(async ({ target, method }, forward) => {
    if (target === "storage" && method === "POST" && isFirst) {
      isFirst = false;
      hangs.resolve();
      await hang.promise;
    }
    return await forward();
  }, async () => {
    const edited: string[] = [];
    const note = (what: string) => () => edited.push(what);
    const first = own.edit(PATH, "one", "1").then(note("first"));
    await hangs.promise;
    const second = own.edit(PATH, "two", "2").then(note("second"));
    await own.edit("other.txt", "one", "1").then(note("other file"));
    assertEquals(edited, ["other file"]);
    hang.resolve();
    await Promise.all([first, second]);
    assertEquals(edited, ["other file", "first", "second"]);
  });
  assertEquals((await own.read(PATH)).content, "1\n2\nthree\n");
});

test("what is appended while an edit uploads is kept, and compacted: the edit is made again, of that", async () => {
  const own = await withFile();
  const added = Array.from({ length: 3 * COMPACTION_CHECK_EVERY_SEGMENTS }, (_, index) => `added ${index}\n`);
  let edited = 0;
  const { database } = await trafficOf(service, () =>
    duringEdit(async () => {
      for (const line of added) await own.append(PATH, line);
    }, async () => {
      edited = (await own.edit(PATH, "two", "2")).version;
    }));
  // At least twice, since a compaction after the appends may cause one more read.
  assert(database.filter((name) => name === "filestore_content").length >= 2);
  const { content, version } = await own.read(PATH);
  assertEquals([content, version], [`one\n2\nthree\n${added.join("")}`, added.length + 2]);
  assertEquals(edited, version);
  assertEquals((await own.read(PATH, { version: version - 1 })).content, TEXT + added.join(""));
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

test("an edit and appends of lines of one large file: the pieces that the edit does not touch are neither read nor sent", async () => {
  const large = "0123456789abcde\n".repeat(3 * 65_536);
  const own = await withFile(`first line\n${large}`);
  await duringEdit(() => own.append(PATH, "last line\n"), () => own.edit(PATH, "first line", "line 1"));
  assert((await own.read(PATH)).content === `line 1\n${large}last line\n`);
});

const REWRITES: Readonly<Record<string, (own: ProjectFiles) => Promise<unknown>>> = {
  "an overwrite": (own) => own.overwrite(PATH, `new\n${TEXT}`),
  "a write": (own) => own.write(PATH, `new\n${TEXT}`),
  "a delete and a write": async (own) => {
    await own.remove(PATH);
    await own.write(PATH, `new\n${TEXT}`);
  },
  "an overwrite and an append": async (own) => {
    await own.overwrite(PATH, "new\n");
    await own.append(PATH, TEXT);
  },
};

for (const [name, change] of Object.entries(REWRITES)) {
  test(`${name} while an edit uploads: the edit is made once more, of that`, async () => {
    const own = await withFile();
    await duringEdit(() => change(own), () => own.edit(PATH, "two", "2"));
    assertEquals((await own.read(PATH)).content, "new\none\n2\nthree\n");
    assertEquals(await unreferencedObjects(service, own.project.id), 0);
  });
}

test("what really conflicts is refused: the string is gone, or the version is another one", async () => {
  const own = await withFile();
  await duringEdit(() => own.overwrite(PATH, "none of them\n"), async () => {
    assertRefused(await own.tryEdit(PATH, "two", "2"), "STRING_NOT_FOUND", "write_file");
  });
  await own.overwrite(PATH, TEXT);
  const tag = await own.tag(PATH);
  await duringEdit(() => own.append(PATH, "four\n"), async () => {
    const body = { oldString: "two", newString: "2" };
    const refused = await own.put("edit", PATH, body, { "if-match": tag });
    assertRefused(refused, "PRECONDITION_FAILED", "write_file");
  });
});

/** Overwrites the file each time an edit has read it, up to `times` times. Returns the number of overwrites. */
async function overtaking(
  own: ProjectFiles,
  times: number,
  request: () => Promise<unknown>,
): Promise<number> {
  let changes = 0;
  await withHook(async ({ path }, forward) => {
    const answer = await forward();
    if (path.endsWith("filestore_content") && changes < times) {
      await own.overwrite(PATH, `${++changes}\n${TEXT}`);
    }
    return answer;
  }, request);
  return changes;
}

test("an edit that is overtaken is tried again until it fits", async () => {
  const own = await withFile();
  await overtaking(own, 6, () => own.edit(PATH, "two", "2"));
  assertEquals((await own.read(PATH)).content, "6\none\n2\nthree\n");
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});

test("409 VERSION_CONFLICT: an overtaken edit that is too costly to be made twice changes nothing", async () => {
  const own = await withFile("a\n".repeat(512 * 1024));
  const flips = Array.from({ length: 12 }, (_, index) => ({
    oldString: index % 2 === 0 ? "a" : "b",
    newString: index % 2 === 0 ? "b" : "a",
    replaceAll: true,
  }));
  const changes = await overtaking(own, Infinity, async () => {
    assertRefused(await own.put("edit", PATH, { edits: flips }), "VERSION_CONFLICT", "write_file");
  });
  assertEquals(changes, 1);
  assertEquals((await own.read(PATH)).content, `1\n${TEXT}`);
  assertEquals(await unreferencedObjects(service, own.project.id), 0);
});
