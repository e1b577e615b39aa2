/**
 * `deno task docs`: rewrites the parts of the documents that repeat the code. `--check` changes nothing and fails if one of
 * them is stale.
 *
 * Files in `FILES` are generated completely. A generated part stands between `<!-- generated: NAME -->` and `<!-- end of
 * generated -->`; `BLOCKS` returns its text.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseCommand, printLine, run as runCommand } from "../local/cli/command_line.ts";
import { API_PAGES } from "./generator/api_pages.ts";
import { contentTypesList } from "./generator/content_types.ts";
import { decisionsIndex } from "./generator/decisions.ts";
import { errorsList } from "./generator/errors.ts";
import { countedTable, limitsTable } from "./generator/limits.ts";
import {
  batchOperations,
  routesIndex,
  routesOfPage,
  scopesList,
  scopesOfConsole,
  scopesOfHelp,
} from "./generator/routes.ts";
import { schemasList } from "./generator/schemas.ts";
import { tasksTable } from "./generator/tasks.ts";
import { testsIndex } from "./generator/tests.ts";

const USAGE = "deno task docs [--check]";
const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

/** Name of a generated part → its Markdown. */
export const BLOCKS: Readonly<Record<string, () => string>> = {
  "errors": errorsList,
  "limits": limitsTable,
  "what counts": countedTable,
  "content types": contentTypesList,
  "scopes": scopesList,
  "first routes": () => routesIndex(true),
  "other routes": () => routesIndex(false),
  ...Object.fromEntries(API_PAGES.map((page) => [`routes of ${page.file}`, () => routesOfPage(page)])),
  "operations of a batch": batchOperations,
  "schemas": schemasList,
  "tasks": tasksTable,
  "tests": testsIndex,
  "decisions": decisionsIndex,
};

/** Files of code that are generated completely. */
const FILES: Readonly<Record<string, () => string>> = {
  "supabase/console/src/views/keys/scope_meanings.ts": scopesOfConsole,
  "supabase/local/cli/scopes_help.ts": scopesOfHelp,
};

const GENERATED = /(<!-- generated: (.+?) -->\n\n)(.*?)(\n\n<!-- end of generated -->)/gs;
const MARKER = /<!-- generated: /g;

export interface Generated {
  /** The document with every generated part brought up to date with the code. */
  readonly text: string;
  /** Names of all generated parts. */
  readonly names: readonly string[];
  /** Names of the parts that differed. */
  readonly stale: readonly string[];
}

/** Throws `Error` if a part has no end, or a name that is not in `blocks`. */
export function regenerate(document: string, blocks = BLOCKS): Generated {
  const names: string[] = [];
  const stale: string[] = [];
  const text = document.replace(GENERATED, (_, start: string, name: string, old: string, end: string) => {
    const block = blocks[name];
    if (block === undefined) throw new Error(`nothing generates '${name}'`);
    const current = block();
    names.push(name);
    if (current !== old) stale.push(name);
    return start + current + end;
  });
  if (names.length !== (document.match(MARKER) ?? []).length) {
    throw new Error("a generated part has no '<!-- end of generated -->'");
  }
  return { text, names, stale };
}

/** The README and every other document, as paths relative to the repository; sorted. */
export async function documents(): Promise<string[]> {
  const found = ["README.md"];
  const folders = [".github", "supabase", "tests"];
  for (const folder of folders) {
    for await (const { name, isDirectory } of Deno.readDir(join(REPOSITORY, folder))) {
      // `.temp` contains data, not documents.
      if (isDirectory && !name.startsWith(".") && name !== "node_modules") folders.push(`${folder}/${name}`);
      else if (name.endsWith(".md")) found.push(`${folder}/${name}`);
    }
  }
  return found.sort();
}

/**
 * Rewrites the stale parts, or with `isCheck` only reports them. Returns lines such as `supabase/docs/api/errors.md:
 * errors`.
 */
export async function run(isCheck: boolean): Promise<string[]> {
  const lines: string[] = [];
  for (const path of await documents()) {
    const file = join(REPOSITORY, path);
    const { text, stale } = regenerate(await Deno.readTextFile(file));
    if (stale.length > 0 && !isCheck) await Deno.writeTextFile(file, text);
    lines.push(...stale.map((name) => `${path}: ${name}`));
  }
  for (const [path, textOf] of Object.entries(FILES)) {
    const file = join(REPOSITORY, path);
    const text = textOf();
    if (await Deno.readTextFile(file).catch(() => "") === text) continue;
    if (!isCheck) await Deno.writeTextFile(file, text);
    lines.push(path);
  }
  return lines;
}

if (import.meta.main) {
  await runCommand(USAGE, async () => {
    const { values } = parseCommand(Deno.args, { check: { type: "boolean" } }, USAGE);
    const stale = await run(values.check ?? false);
    for (const line of stale) {
      printLine(values.check ? `Stale: ${line}. Run deno task docs.` : `Rewrote ${line}.`);
    }
    if (values.check && stale.length > 0) Deno.exit(1);
  });
}
