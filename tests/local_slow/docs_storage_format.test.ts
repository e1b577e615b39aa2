/** The query and the commands of `storage_format.md` read all data without the function. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { type CodeBlock, readDocument, section } from "../support/content/documents.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { patternBytes } from "../support/content/streams.ts";
import { suite, test } from "../support/stack/suite.ts";

const MARKER = "run by: tests/local_slow/docs_storage_format.test.ts";
const { service } = await suite();

interface Row {
  readonly project_id: string;
  readonly path: string;
  readonly version: number;
  readonly sha256: string;
  readonly object: string;
}

async function blocks(): Promise<{ sql: CodeBlock; sh: CodeBlock }> {
  const marked = (await readDocument("supabase/docs/storage_format.md")).blocks
    .filter(({ marker }) => marker === MARKER);
  const [sql, sh] = ["sql", "sh"].map((language) => marked.find((block) => block.language === language));
  if (!sql || !sh || marked.length !== 2) {
    throw new Error("storage_format.md has lost its query or its commands");
  }
  return { sql, sh };
}

test("storage_format.md: its query and commands restore every version, byte for byte", async () => {
  const { sql, sh } = await blocks();
  const { id, key } = await service.project();
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await service.request(key, method, path, { body });
    assertEquals(status, 200, text);
  };
  const large = patternBytes(0, 2_500_000);
  const text = new TextEncoder();
  await call("POST", "/files?path=a/large%20file.bin", large);
  await call("PUT", "/files/append/a/large%20file.bin", { content: "end" });
  await call("POST", "/files", { path: "a", content: "a file beside a folder\n" });
  await call("POST", "/files", { path: "gone.md", content: "before\n" });
  await call("DELETE", "/files/gone.md");
  await call("PUT", "/files/restore/gone.md", { version: 1 });
  const expected: [string, Uint8Array][] = [
    ["a/large file.bin/1", large],
    ["a/large file.bin/2", new Uint8Array([...large, ...text.encode("end")])],
    ["a/1", text.encode("a file beside a folder\n")],
    ["gone.md/1", text.encode("before\n")],
    ["gone.md/3", text.encode("before\n")],
  ];
  const rows = await service.sql<Row>(sql.text);
  await withScratchDirectory(async (directory) => {
    await Deno.writeTextFile(
      join(directory, "segments.tsv"),
      rows.map(({ project_id, path, version, sha256, object }) =>
        `${[project_id, path, version, sha256, object].join("\t")}\n`
      ).join(""),
    );
    const { success, stderr } = await new Deno.Command("bash", {
      args: ["-c", sh.text],
      cwd: directory,
      env: { SUPABASE_URL: service.stack.supabaseUrl, SUPABASE_SECRET_KEY: service.stack.secretKey },
      stdin: "null",
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    for (const [file, bytes] of expected) {
      const restored = await Deno.readFile(join(directory, "restored", id, file));
      assertEquals(restored.length, bytes.length, file);
      assert(restored.every((byte, index) => byte === bytes[index]), file);
    }
    const tombstone = join(directory, "restored", id, "gone.md/2");
    assertEquals(await Deno.stat(tombstone).then(() => true, () => false), false);
  });
});

test("storage_format.md: every table and column that it names exists", async () => {
  const rows = section(await readDocument("supabase/docs/storage_format.md"), "## Rows")
    .filter((line) => line.startsWith("| `filestore."));
  assertEquals(rows.length, 4);
  const columns = await service.sql<{ name: string }>(
    "select format('%s.%s.%s', table_schema, table_name, column_name) as name from information_schema.columns",
  );
  const existing = new Set(columns.map(({ name }) => name));
  const named = rows.flatMap((row) => {
    const [table = "", ...rest] = [...row.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name);
    return rest.map((column) => `${table}.${column}`);
  });
  assertEquals(named.filter((name) => !existing.has(name)), []);
});
