/** The file record: every answer that shows a file contains all of its fields, for text and for other files. */
import { assertEquals } from "@std/assert";
import { batchResults, dataOf, fileRecord } from "../support/client/contract.ts";
import type { Files } from "../support/client/files.ts";
import { indexed, search } from "../support/client/search.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

const FIELDS = Object.keys(fileRecord.shape);
const CONTENTS = {
  text: new TextEncoder().encode("one needle\ntwo\n"),
  bytes: Uint8Array.of(0, 255, 0, 254),
};

type Shown = Readonly<Record<string, unknown>>;

/** The ways to request a page of files: the present, sorted by path or otherwise, and a moment. */
const LISTS: readonly Readonly<Record<string, string | boolean>>[] = [
  {},
  { directory: "dir" },
  { recursive: true },
  { directory: "dir", recursive: true },
  { recursive: true, sortBy: "size" },
  { recursive: true, minSize: "1" },
  { directory: "dir", sortBy: "updated_at", sortOrder: "desc" },
];

/** The records that every kind of write returns, ending with a file `dir/f` that was deleted and restored. */
async function written(own: Files, content: Uint8Array): Promise<readonly Shown[]> {
  const batched = await own.request("POST", "/batch", {
    body: { operations: [{ op: "write", path: "dir/b", content: content.toBase64(), isBase64: true }] },
  });
  return [
    await own.writeBytes("dir/f", content),
    await own.append("dir/f", content.toBase64(), { isBase64: true }),
    await own.overwrite("dir/f", content.toBase64(), { isBase64: true }),
    await own.copy("dir/f", "dir/g"),
    await own.move("dir/g", "top"),
    await own.writeRaw("dir/raw", content),
    await own.remove("dir/f"),
    await own.restore("dir/f", 1),
    ...dataOf(batched, "batch", batchResults).results,
  ];
}

for (const [name, content] of Object.entries(CONTENTS)) {
  test(`every answer that shows a file of ${name} has every field of its record`, async (own) => {
    const writes = await written(own, content);
    const { cursor } = (await own.versions("dir/f", { limit: 1 })).versions[0] ?? {};
    const at = String(cursor);
    const pages = [...LISTS, ...LISTS.slice(0, 4).map((query) => ({ ...query, at }))];
    const lists = await Promise.all(pages.map((query) => own.list(query)));
    assertEquals(lists.map((page) => page.files.length), [1, 3, 4, 3, 4, 4, 3, 1, 3, 4, 3]);
    await own.remove("dir/raw");
    const deleted = await own.list({ deleted: true, recursive: true });
    assertEquals(deleted.files.length, 2);
    await own.overwrite("dir/f", "three", {});
    const shown: Shown[] = [
      ...writes,
      ...[...lists, deleted].flatMap((page) => page.files),
      await own.record("dir/f"),
      await own.record("dir/f", { version: 1 }),
      await own.record("dir/f", { at }),
      await own.read("dir/f"),
      await own.read("dir/f", { version: 1 }),
      await own.read("dir/f", { at }),
    ];
    const lacking = shown.flatMap((one) => FIELDS.filter((field) => !(field in one)));
    assertEquals(lacking, []);
  });
}

test("a search shows every field of the file record, of a text, of what is found by its name, and before it is indexed", async () => {
  const own = await files();
  await own.writeBytes("needle.txt", CONTENTS.text);
  await own.writeBytes("needle.png", CONTENTS.bytes);
  const unindexed = await search(own, "needle", { mode: "text" });
  await indexed(service, own.project.id);
  const found = [unindexed, await search(own, "needle", { mode: "text" }), await search(own, "needle")];
  assertEquals(found.map(({ results }) => results.length > 0), [true, true, true]);
  const lacking = found.flatMap(({ results }) => results)
    .flatMap((one) => FIELDS.filter((field) => !(field in one)));
  assertEquals(lacking, []);
});

test("a version stores what its file stores, and a file at an earlier version takes all of it from there", async () => {
  const own = await files();
  await own.writeBytes("f", CONTENTS.text);
  await own.writeBytes("f", CONTENTS.bytes);
  await own.remove("f");
  const rows = await service.sql<Readonly<Record<"file" | "version" | "then", Shown>>>(
    `select to_jsonb(f) as file, to_jsonb(v) as version, to_jsonb(filestore.at_version(f, v)) as "then"
     from filestore.files f join filestore.file_versions v on v.project_id = f.project_id and v.file_id = f.id
     where f.project_id = $1 order by v.version`,
    [own.project.id],
  );
  assertEquals(rows.length, 3);
  const [first] = rows;
  if (!first) throw new Error("no version");
  const { file, version } = first;
  // The creation of a version is the last change of its file.
  const shared = Object.keys(file).filter((column) => column in version && column !== "created_at");
  const stored = (row: Shown) => shared.map((column) => [column, row[column]]);
  assertEquals(rows.map(({ then }) => stored(then)), rows.map(({ version }) => stored(version)));
  assertEquals(stored(file), stored(rows.at(-1)?.version ?? {}));
  assertEquals(shared.filter((column) => version[column] === null), [], "a text has a value in every column");
});
