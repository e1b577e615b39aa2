/**
 * Every command in the documents works unchanged. The blocks of code of a document run against a local stack, in their
 * order in one shell, except those with an HTML comment above:
 *
 * - `<!-- run by: FILE -->`: that test runs the block.
 * - `<!-- not run: REASON -->`: the block cannot run here. Its syntax and the tasks that it names are checked.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { REPOSITORY } from "../support/stack/command.ts";
import {
  type CodeBlock,
  type Document,
  readDocument,
  readDocuments,
  section,
} from "../support/content/documents.ts";
import { newPerson } from "../support/browser/person.ts";
import { SUPABASE_CLI } from "../support/program.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite, test } from "../support/stack/suite.ts";

/** Needs of a block that the tests cannot meet. */
const REASONS = ["a hosted project", "asks the npm registry", "Docker", "takes minutes", "your own values"];
/** Languages that run here. A block in another language needs a marker, unless it is not a program. */
const RUN = ["sh", "ts"];
const NO_PROGRAMS = ["", "text", "json", "mermaid"];
/** The command for the version of Deno that the documents name and the tests use. */
const DENO_COMMAND = "npx --prefer-offline -y deno@2.9.6";

const documents = await readDocuments();
const { tasks }: { tasks: Record<string, unknown> } = JSON.parse(
  await Deno.readTextFile(join(REPOSITORY, "deno.json")),
);

const blocks = documents.flatMap((document) => document.blocks.map((block) => ({ document, block })));
const runs = (block: CodeBlock): boolean =>
  RUN.includes(block.language) && !/^(not run|run by): /.test(block.marker ?? "");

Deno.test("every block of code runs, or a comment says which test runs it or what it would need", async () => {
  const unclear: string[] = [];
  for (const { document, block } of blocks) {
    const [, kind, rest = ""] = /^(not run|run by): (.+)$/.exec(block.marker ?? "") ?? [];
    const isClear = kind === "run by"
      ? (await Deno.readTextFile(join(REPOSITORY, rest))).includes("Deno.test(") || rest.endsWith(".test.ts")
      : kind === "not run"
      ? REASONS.includes(rest)
      : runs(block) || NO_PROGRAMS.includes(block.language);
    if (!isClear) unclear.push(`${document.path}:${block.line}`);
  }
  assertEquals(unclear, []);
});

Deno.test("commands that are marked as needing a hosted project or Docker name one", () => {
  const named: Record<string, RegExp> = {
    "not run: a hosted project": /supabase@3|SUPABASE_PROJECT_REF|supabase\.co|cron\.|psql/,
    "not run: Docker": /supabase@3/,
  };
  for (const { document, block } of blocks) {
    const expected = named[block.marker ?? ""];
    assert(!expected || expected.test(block.text), `${document.path}:${block.line}`);
  }
});

Deno.test("the Supabase CLI that the documents run is the one version that a deployment is tested with", () => {
  const named = documents.flatMap(({ lines }) =>
    lines.flatMap((line) => line.match(/supabase@[\w.]+/g) ?? [])
  );
  assert(named.length > 5);
  assertEquals([...new Set(named)], [SUPABASE_CLI]);
});

Deno.test("every task that a document names exists, and is called with the pinned Deno in blocks", () => {
  const wrong: string[] = [];
  for (const { path, lines } of documents) {
    for (const [index, line] of lines.entries()) {
      for (const [, name = ""] of line.matchAll(/(?:deno|deno@[\d.]+) task ([a-z][\w:]*)/g)) {
        if (!(name in tasks)) wrong.push(`${path}:${index + 1}: ${name}`);
      }
    }
  }
  for (const { document, block } of blocks.filter(({ block }) => block.language === "sh")) {
    const named = block.text.match(/deno[@\d.]* task/g)?.length ?? 0;
    if (named !== block.text.split(`${DENO_COMMAND} task`).length - 1) {
      wrong.push(`${document.path}:${block.line}: not ${DENO_COMMAND}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("every curl of the documents fails loudly, and every shell block is well-formed", async () => {
  const wrong: string[] = [];
  for (const { document, block } of blocks.filter(({ block }) => block.language === "sh")) {
    const where = `${document.path}:${block.line}`;
    for (const [command] of block.text.matchAll(/^.*\bcurl .*$/gm)) {
      if (!/^\s*#/.test(command) && !/curl (-[a-zA-Z]*f|-sS --fail-with-body )/.test(command)) {
        wrong.push(`${where}: ${command}`);
      }
    }
    const { success, stderr } = await bash(["-n"], block.text);
    if (!success) wrong.push(`${where}: ${stderr}`);
  }
  assertEquals(wrong, []);
});

Deno.test("no example writes something else than it says where a variable or a file is missing", () => {
  const wrong: string[] = [];
  for (const { document, block } of blocks.filter(({ block }) => block.language === "sh")) {
    for (
      const line of block.text.split("\n").filter((line) => line.includes("curl ") && !line.startsWith("#"))
    ) {
      // curl leaves out a header whose variable is unset, and sends nothing for @FILE if the file is missing.
      if (/\$(?!\{\w+:\?\}|\()/.test(line)) wrong.push(`${document.path}:${block.line}: ${line}`);
      if (/(?:--data-binary|--data|-d) @/.test(line)) wrong.push(`${document.path}:${block.line}: ${line}`);
    }
  }
  assertEquals(wrong, []);
});

const { service, files } = await suite();

test("each curl of the documents fails, and nothing is written, without one of its variables or its file", async () => {
  const own = await files();
  const variables = {
    BASE_URL: service.baseUrl,
    API_KEY: own.project.key,
    ETAG: '"x"',
    directory: "/nowhere",
    AT: "2026-01-01",
  };
  const lines = documents.flatMap((document) =>
    document.blocks.filter(runs).flatMap(({ language, text }) => language === "sh" ? text.split("\n") : [])
  ).filter((line) => /^curl .*BASE_URL/.test(line));
  assert(lines.some((line) => line.includes("If-Match")) && lines.some((line) => line.includes("-T ")));
  for (const line of lines) {
    const used = Object.keys(variables).filter((name) => line.includes(`\${${name}:?}`));
    for (const missing of used) {
      const { success, stderr } = await bash(["-uo", "pipefail"], line, { ...variables, [missing]: "" });
      assert(!success && stderr.includes(missing), `${missing}: ${line}\n${stderr}`);
    }
    if (!line.includes("-T ")) continue;
    const { success, stderr } = await bash(["-uo", "pipefail"], line, variables);
    assert(!success && stderr.includes("/nowhere"), `${line}\n${stderr}`);
  }
  assertEquals((await own.list({ recursive: true })).total, 0);
});

for (const document of documents.filter(({ blocks }) => blocks.some(runs))) {
  test(`${document.path}: its ${document.blocks.filter(runs).length} blocks of commands succeed, in order`, async () => {
    const { project } = await files();
    // The example transfers the project to this person.
    if (document.path === "supabase/docs/operating/keys.md") {
      await newPerson(service, "enterprise", "you@example.com");
    }
    if (document.path === "supabase/docs/api/webhooks.md") {
      await service.sql("update filestore.api_keys set scopes = '{admin}' where id = $1", [project.keyId]);
    }
    await withScratchDirectory(async (directory) => {
      await installNpx(directory);
      const { success, stdout, stderr } = await bash(
        ["-euo", "pipefail"],
        await script(document, directory),
        {
          PATH: `${directory}:${Deno.env.get("PATH")}`,
          BASE_URL: service.baseUrl,
          API_KEY: project.key,
          SUPABASE_URL: service.stack.supabaseUrl,
          SUPABASE_SECRET_KEY: service.stack.secretKey,
          SUPABASE_PUBLISHABLE_KEY: service.stack.publishableKey,
          NO_COLOR: "1",
        },
      );
      const last = stdout.lastIndexOf("@@ ");
      assert(success, `${document.path}, block at line ${stdout.slice(last + 3)}\n${stderr}`);
      assert(!stdout.includes('"success":false'), stdout);
    });
  });
}

test("api/limits.md: its table of tiers is what the database has", async () => {
  const limits = section(await readDocument("supabase/docs/api/limits.md"), "## Tiers");
  const [head = [], , ...rows] = limits.filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  const tiers = await service.sql<
    { name: string; requests_per_minute: number | null; max_file_bytes: string | null }
  >(
    "select name, requests_per_minute, max_file_bytes::text from filestore.tiers",
  );
  assertEquals(head.slice(1).sort(), tiers.map(({ name }) => name).sort());
  for (const { name, requests_per_minute, max_file_bytes } of tiers) {
    const column = head.indexOf(name);
    const [requests = "", bytes = ""] = rows.map((row) => row[column] ?? "");
    assertEquals(/^\d+/.exec(requests)?.[0] ?? null, requests_per_minute?.toString() ?? null, name);
    assertEquals(/\((\d+) bytes\)/.exec(bytes)?.[1] ?? null, max_file_bytes, name);
  }
});

/** The document's blocks as one script, which prints the line of each block before it runs. */
async function script(document: Document, directory: string): Promise<string> {
  const parts: string[] = [];
  for (const { line, language, text } of document.blocks.filter(runs)) {
    parts.push(`printf '\\n@@ %s\\n' ${line}`);
    if (language === "ts") {
      const file = join(directory, `block_${line}.ts`);
      await Deno.writeTextFile(file, text);
      parts.push(`"${Deno.execPath()}" run -A --no-config --check "${file}"`);
    } else parts.push(text);
  }
  return parts.join("\n");
}

/** Makes `npx -y deno@…` run the Deno of the tests, so that nothing is downloaded again. */
async function installNpx(directory: string): Promise<void> {
  const file = join(directory, "npx");
  const [, ...prefix] = DENO_COMMAND.split(" ");
  await Deno.writeTextFile(
    file,
    `#!/bin/sh\n[ "$1 $2 $3" = "${prefix.join(" ")}" ] || exit 1\nshift 3\nexec "${Deno.execPath()}" "$@"\n`,
  );
  await Deno.chmod(file, 0o755);
}

async function bash(options: readonly string[], text: string, env: Record<string, string> = {}) {
  const { success, stdout, stderr } = await new Deno.Command("bash", {
    args: [...options, "-c", text],
    cwd: REPOSITORY,
    env,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
