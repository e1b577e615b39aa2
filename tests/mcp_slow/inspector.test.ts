/** The Inspector's command line, with which people try a server. */
import { assertEquals, assertMatch } from "@std/assert";
import { z } from "zod";
import type { Files } from "../support/client/files.ts";
import { type Ended, runPackage } from "../support/node_package.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { eventually } from "../support/eventually.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

function inspect(own: Files, ...args: string[]): Promise<Ended> {
  const target = [`${service.baseUrl}/mcp`, "--transport", "http", "--header", `x-api-key: ${own.key}`];
  return withScratchDirectory((directory) =>
    runPackage("@modelcontextprotocol/inspector", "mcp-inspector", ["--cli", ...target, ...args], directory)
  );
}

const result = z.looseObject({
  content: z.tuple([z.looseObject({ text: z.string() })]),
  isError: z.boolean().optional(),
});

async function call(own: Files, tool: string, args: Record<string, string>): Promise<z.infer<typeof result>> {
  const pairs = Object.entries(args).flatMap(([name, value]) => ["--tool-arg", `${name}=${value}`]);
  const { stdout, stderr } = await inspect(own, "--method", "tools/call", "--tool-name", tool, ...pairs);
  try {
    return result.parse(JSON.parse(stdout));
  } catch (error) {
    throw new Error(`${stdout}\n${stderr}`, { cause: error });
  }
}

test("the Inspector lists the tools, whose schemas any client can take", async () => {
  const { code, stdout, stderr } = await inspect(await files(), "--method", "tools/list", "--strict");
  assertEquals(code, 0, stdout + stderr);
  const { tools } = z.object({ tools: z.array(z.object({ name: z.string() })) }).parse(JSON.parse(stdout));
  assertEquals(tools.length, 17);
});

test("the Inspector reads, writes, is refused, edits with a near miss, and searches", async () => {
  const own = await files();
  const path = "notes/plan.md";
  assertMatch(
    (await call(own, "write_file", { path, content: "survey the harbour" })).content[0].text,
    /^Created/,
  );
  assertMatch((await call(own, "read_file", { path })).content[0].text, /\tsurvey the harbour$/);
  const refused = await call(own, "write_file", { path, content: "other" });
  assertEquals(refused.isError, true);
  assertMatch(refused.content[0].text, /^FILE_ALREADY_EXISTS: .*expected_version=1\.$/);
  const missed = await call(own, "edit_file", { path, old_string: "survey teh", new_string: "sail" });
  assertMatch(missed.content[0].text, /^STRING_NOT_FOUND: [^]*\tsurvey the harbour$/);
  const edited = await call(own, "edit_file", { path, old_string: "survey the", new_string: "sail the" });
  assertMatch(edited.content[0].text, /^Edited notes\/plan.md: version 2/);
  await eventually("it is indexed", async () => {
    const { results } = Object(Object((await own.request("GET", "/search?q=sail")).body).data);
    return results.length === 1;
  });
  assertMatch(
    (await call(own, "search_files", { query: "sail" })).content[0].text,
    /^notes\/plan.md — version 2\n/,
  );
});
