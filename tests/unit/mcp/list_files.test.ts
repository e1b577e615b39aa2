/** One call with a glob over a large project has a bounded cost, and further calls reach every match. */
import { assert, assertEquals } from "@std/assert";
import type { Context } from "../../../supabase/functions/api/context.ts";
import { MCP_LIST_CALLS_MAX, PAGE_LIMIT_MAX } from "../../../supabase/functions/api/limits.ts";
import { listFiles } from "../../../supabase/functions/api/mcp/tools/list_files.ts";

const PATHS = Array.from({ length: 5_000 }, (_, index) => `f${`${index}`.padStart(5, "0")}.txt`);

/** The pages of a project with these paths, and the number of requested pages. */
function project(paths: readonly string[]) {
  const asked = { calls: 0 };
  const list = (_: unknown, { after, limit }: { after?: string; limit: number }) => {
    asked.calls++;
    const from = after === undefined ? 0 : paths.findIndex((path) => path > after);
    const page = from < 0 ? [] : paths.slice(from, from + limit);
    const files = page.map((path) => ({ path, version: 1, size: 0, updatedAt: "2026-11-20T10:15:30.250Z" }));
    const hasMore = from >= 0 && from + limit < paths.length;
    return Promise.resolve({ ok: true, value: { files, total: paths.length, hasMore, directories: [] } });
  };
  const gate = { caller: null, unwrap: (answer: { value: unknown }) => answer.value };
  // deno-lint-ignore no-explicit-any -- a list asks nothing else of its context
  const context = { gate, metadata: { list } } as any as Context;
  return { context, asked };
}

/** Follows the cursor in the last line until a page has none. */
async function listAll(context: Context, given: Record<string, unknown>): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined, pages = 0; pages < 100; pages++) {
    const { text } = await listFiles.call(context, { ...given, after });
    found.push(...[...text.matchAll(/^(\S+) — version/gm)].map(([, path = ""]) => path));
    const [, next] = /\nmore files: after "(.*)"$/.exec(text) ?? [];
    if (next === undefined) return found;
    after = next;
  }
  throw new Error("it never ends");
}

Deno.test("list_files: a glob that matches nothing looks at 2,000 files a call, and goes on where it ended", async () => {
  const { context, asked } = project(PATHS);
  const { text } = await listFiles.call(context, { glob: "*.md", recursive: true });
  assertEquals(asked.calls, MCP_LIST_CALLS_MAX);
  assert(
    text.endsWith(`more files: after ${JSON.stringify(PATHS[MCP_LIST_CALLS_MAX * PAGE_LIMIT_MAX - 1])}`),
    text,
  );
  assertEquals(await listAll(context, { glob: "*.md", recursive: true }), []);
});

Deno.test("list_files: page after page, every match once", async () => {
  const { context } = project(PATHS);
  assertEquals(
    await listAll(context, { glob: "*9.txt", limit: 7, recursive: true }).then(({ length }) => length),
    500,
  );
  assertEquals(await listAll(context, { recursive: true }), PATHS);
});

Deno.test("list_files: matching is linear in the path, whatever the glob", async () => {
  const { context } = project(Array.from({ length: 100 }, (_, index) => `${"a".repeat(900)}${index}`));
  const { text } = await listFiles.call(context, { glob: `${"*a".repeat(120)}*b`, recursive: true });
  assert(text.startsWith("No file in the project matches"), text);
});
