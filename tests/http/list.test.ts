/** Lists: directories, order, filters, pages. */
import { assertEquals } from "@std/assert";
import { LIST_DIRECTORIES_MAX, LIST_TOTAL_MAX } from "../../supabase/functions/api/limits.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import cases, { type Query } from "../acceptance/list.ts";
import { acceptance, suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

await acceptance(cases);

/**
 * Adds files as rows only, without objects, and queues none of them for the index, so that no test waits for that. `path`
 * is an SQL expression in n, which counts from 0.
 */
async function addFiles(own: ProjectFiles, count: number, path: string, isDeleted = false): Promise<void> {
  await service.sql(
    `insert into filestore.files
       (project_id, path, version, mime_type, size, is_deleted, segment_ids, created_at, updated_at)
     select $1, ${path}, 1, 'text/plain', 0, $3, '{}', now(), now() from generate_series(0, $2::integer - 1) n`,
    [own.project.id, count, isDeleted],
  );
  await service.sql("delete from filestore.search_queue where project_id = $1", [own.project.id]);
}

async function filled(paths: readonly string[]): Promise<ProjectFiles> {
  const own = await files();
  for (const path of paths) await own.write(path, path);
  return own;
}

test("200: sorting by size and times, ties by path", async () => {
  const own = await filled(["d", "c", "bb", "aa", "eee"]);
  for (
    const [path, created, updated] of [["d", 1, 9], ["c", 1, 8], ["bb", 2, 8], ["aa", 3, 8], ["eee", 4, 1]]
  ) {
    await service.sql(
      `update filestore.files set created_at = to_timestamp($3::integer), updated_at = to_timestamp($4::integer)
       where project_id = $1 and path = $2`,
      [own.project.id, path, created, updated],
    );
  }
  const orders: readonly (readonly [string, string, string])[] = [
    ["size", "asc", "c d aa bb eee"],
    ["size", "desc", "eee aa bb c d"],
    ["created_at", "asc", "c d bb aa eee"],
    ["created_at", "desc", "eee aa bb c d"],
    ["updated_at", "asc", "eee aa bb c d"],
    ["updated_at", "desc", "d aa bb c eee"],
    ["path", "desc", "eee d c bb aa"],
  ];
  for (const [sortBy, sortOrder, expected] of orders) {
    for (const recursive of [false, true]) {
      const paths = await own.paths({ sortBy, sortOrder, recursive });
      assertEquals(paths.join(" "), expected, `${sortBy} ${sortOrder}`);
    }
  }
});

test("200: date filters are exclusive at the millisecond, and take dates, zones and fractions", async () => {
  const own = await filled(["f"]);
  await service.sql(
    `update filestore.files set created_at = '2024-03-01T12:00:00.123Z', updated_at = '2024-03-02T00:00:00.000Z'
     where project_id = $1`,
    [own.project.id],
  );
  const cases: readonly (readonly [Query, boolean])[] = [
    [{ createdAfter: "2024-03-01T12:00:00.122Z" }, true],
    [{ createdAfter: "2024-03-01T12:00:00.123Z" }, false],
    [{ createdBefore: "2024-03-01T12:00:00.123Z" }, false],
    [{ createdBefore: "2024-03-01T12:00:00.124Z" }, true],
    [{ createdAfter: "2024-03-01T12:00:00Z", createdBefore: "2024-03-01T12:00:01Z" }, true],
    [{ createdAfter: "2024-03-01" }, true],
    [{ createdAfter: "2024-03-02" }, false],
    [{ createdBefore: "2024-03-01" }, false],
    [{ createdBefore: "2024-03-02" }, true],
    [{ updatedAfter: "2024-03-02" }, false],
    [{ updatedBefore: "2024-03-02" }, false],
    [{ updatedAfter: "2024-03-01T23:59:59.999Z" }, true],
    [{ updatedBefore: "2024-03-02T00:00:00.001Z" }, true],
    [{ createdAfter: "2024-03-01T14:00:00+02:00" }, true],
    [{ createdAfter: "2024-03-01T14:00:01+02:00" }, false],
    [{ createdBefore: "2024-03-01T07:00:01-05:00" }, true],
    [{ createdAfter: "2024-03-01T12:00Z" }, true],
    [{ createdAfter: "2024-03-01t12:00:00.122z" }, true],
    [{ createdAfter: "2024-03-01T12:00:00.122999Z" }, true],
    [{ createdAfter: "0001-01-01", updatedBefore: "9999-12-31" }, true],
    [{ createdAfter: "2024-02-29" }, true],
    [{ createdAfter: "0001-01-01T00:00:00+00:00", createdBefore: "9999-12-31T23:59:59Z" }, true],
    [{ createdAfter: "2025-01-01", createdBefore: "2023-01-01" }, false],
  ];
  for (const [query, isListed] of cases) {
    const list = await own.list(query);
    assertEquals([list.total, list.files.length], isListed ? [1, 1] : [0, 0], JSON.stringify(query));
  }
});

test(`200: at most ${LIST_DIRECTORIES_MAX} sub-folders, the first by name`, async () => {
  assertEquals(LIST_DIRECTORIES_MAX, 1000);
  const own = await filled(["d0500/f"]);
  await addFiles(own, 1002, "'d' || lpad(n::text, 4, '0') || '/g'");
  const { directories = [] } = await own.list();
  assertEquals([directories.length, directories[0], directories.at(-1)], [1000, "d0000", "d0999"]);
});

test("200: a folder is met once, whatever sorts between its own files and those deeper in it", async () => {
  const own = await filled(["a/f", "a-b/f", "a/c/f", "a!/c/f", "a/c!/f", "a/c/d/f", "a0/f", "b", "c/d/e/f"]);
  await own.remove("c/d/e/f");
  const names = async (query: Query) => (await own.list(query)).directories;
  assertEquals(await names({}), ["a", "a!", "a-b", "a0"]);
  assertEquals(await names({ directory: "a" }), ["c", "c!"]);
  assertEquals(await names({ directory: "a/c" }), ["d"]);
  assertEquals(await names({ deleted: true }), ["c"]);
  assertEquals(await names({ directory: "c", deleted: true }), ["d"]);
});

test(`200: total is exact up to ${LIST_TOTAL_MAX}, and beyond that says that it is not`, async (own) => {
  const totals = async (query: Query) => {
    const { total, totalIsExact, hasMore } = await own.list({ limit: 1, ...query });
    return [total, totalIsExact, hasMore];
  };
  await addFiles(own, LIST_TOTAL_MAX - 1, "'d/' || n");
  await addFiles(own, 10, "'d/gone-' || n", true);
  await own.write("d/e/one", "text");
  const whole: readonly Query[] = [
    { recursive: true },
    { recursive: true, directory: "d" },
    { recursive: true, sortBy: "size" },
    { recursive: true, contentType: "text/plain" },
  ];
  for (const query of whole) {
    assertEquals(await totals(query), [LIST_TOTAL_MAX, undefined, true], JSON.stringify(query));
  }
  assertEquals(await totals({ directory: "d" }), [LIST_TOTAL_MAX - 1, undefined, true]);
  assertEquals(await totals({ directory: "d", deleted: true }), [10, undefined, true]);
  await own.write("d/f/two", "text");
  for (const query of whole) {
    assertEquals(await totals(query), [LIST_TOTAL_MAX, false, true], JSON.stringify(query));
  }
  assertEquals(await totals({ recursive: true, after: "d/1" }), [null, undefined, true]);
});
