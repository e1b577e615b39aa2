/** The version of the release: every part that shows one shows the same, and the changelog begins with it. */
import { assert, assertEquals } from "@std/assert";
import { join, relative } from "node:path";
import { VERSION as OF_LIBRARY } from "../../supabase/client/mod.ts";
import { VERSION } from "../../supabase/functions/api/version.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { readDocuments } from "../support/content/documents.ts";
import { filesBelow } from "../support/files_below.ts";
import { LEGACY_VERSION, messageOf } from "../support/client/mcp.ts";
import { CommandLine, FROM_SOURCES } from "../support/kit/command_line.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { REPOSITORY, runCommand } from "../support/stack/command.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

const CHANGELOG = ".github/CHANGELOG.md";
/** The version itself; the client that is one file for Python; the first release, which left no version in a folder. */
const SPELLED = [
  "supabase/client/filestore.py",
  "supabase/functions/api/version.ts",
  "supabase/local/stack/recorded_migrations.ts",
];

interface Release {
  readonly version: string;
  readonly date: string;
  readonly text: string;
}

/** The releases of the changelog, as it has them: newest first. */
const releases: readonly Release[] = (await Deno.readTextFile(join(REPOSITORY, CHANGELOG))).split(/^## /m)
  .slice(1).map((text) => {
    const [, version = "", date = ""] = /^\[?(\d+\.\d+\.\d+)\]? - (\d{4}-\d\d-\d\d)\n/.exec(text) ?? [];
    return { version, date, text };
  });

test("the service says its version at /health, in /openapi.json and to agents", async () => {
  const health = await service.request(null, "GET", "/health");
  assertEquals(Object(health.body).version, VERSION);
  const document = await service.request(null, "GET", "/openapi.json");
  assertEquals(Object(document.body).info.version, VERSION);
  const params = {
    protocolVersion: LEGACY_VERSION,
    capabilities: {},
    clientInfo: { name: "test", version: "0" },
  };
  const { body, headers } = messageOf("legacy", "initialize", params);
  const agent = await service.request((await files()).key, "POST", "/mcp", { body, headers });
  assertEquals(Object(agent.body).result.serverInfo.version, VERSION);
});

test("the library, the client for Python and every command with --version say the same version", async () => {
  assertEquals(OF_LIBRARY, VERSION);
  const python = await Deno.readTextFile(join(REPOSITORY, "supabase/client/filestore.py"));
  assertEquals(/^__version__ = "(.*)"$/m.exec(python)?.[1], VERSION);
  const printed = { code: 0, stdout: `${VERSION}\n`, stderr: "" };
  await withScratchDirectory(async (cwd) => {
    assertEquals(await new CommandLine(FROM_SOURCES, { cwd }).run("--version"), printed);
  });
  for (const script of "console files keys projects start sweep verify".split(" ")) {
    assertEquals(await runCommand(`${script}.ts`, "--version"), printed, script);
  }
});

test("no other file spells the version of a release, and an answer in a document has the present one", async () => {
  const version = new RegExp(
    `(?<![\\w.@-])(?:${releases.map((release) => RegExp.escape(release.version)).join("|")})(?![\\w.-])`,
  );
  const code = filesBelow(join(REPOSITORY, "supabase"), /^(?!deno\.lock).*\.(?:tsx?|py|sql|json|html|txt)$/, [
    ".temp",
    "node_modules",
  ]);
  assert(code.length > 300);
  const found = code.filter((file) => version.test(withoutComments(Deno.readTextFileSync(file))));
  assertEquals(found.map((file) => relative(REPOSITORY, file)), SPELLED);
  const shown = (await readDocuments()).flatMap(({ blocks }) => blocks)
    .flatMap(({ text }) => text.match(/"version": ?"[^"]*"/g) ?? []);
  assertEquals(shown.filter((one) => !one.endsWith(`"${VERSION}"`)), []);
});

test("the changelog begins with this version, and names each migration at the one release that brought it", async () => {
  assertEquals(releases[0]?.version, VERSION);
  const ordered = releases.toSorted((a, b) =>
    b.version.localeCompare(a.version, "en", { numeric: true }) || b.date.localeCompare(a.date)
  );
  assertEquals(releases, ordered);
  for (const { version, date, text } of releases) assert(version && date, text);
  for await (const { name } of Deno.readDir(MIGRATIONS_DIRECTORY)) {
    const [number = ""] = name.split("_");
    assertEquals(releases.filter(({ text }) => text.includes(number)).length, 1, name);
  }
});

/** Sections of standards, such as 5.1.1, are in comments. */
function withoutComments(source: string): string {
  return source.replaceAll(/^\s*(?:\/?\*|\/\/|--|#).*$/gm, "");
}
