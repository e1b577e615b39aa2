/** The references of the documents are valid: links, the reading path of an append, the form of decisions. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { TOPICS } from "../../supabase/docs/generator/decisions.ts";
import { REPOSITORY } from "../support/stack/command.ts";
import {
  linkedFile,
  parseDocument,
  readDocument,
  readDocuments,
  section,
} from "../support/content/documents.ts";

const README_LINES_MAX = 150;
const PROSE_LENGTH_MAX = 125;
const DECISION_WORDS_MAX = 600;
const FOLLOWED_TYPESCRIPT_MAX = 18;
const FOLLOWED_SQL_MAX = 3;

const documents = await readDocuments();

async function exists(file: string): Promise<boolean> {
  return await Deno.stat(join(REPOSITORY, file)).then(() => true, () => false);
}

Deno.test("every relative link of every document leads to a file that exists, and to a heading in it", async () => {
  const anchors = new Map(documents.map((document) => [document.path, document.anchors]));
  const broken: string[] = [];
  for (const document of documents) {
    for (const { target, line } of document.links) {
      const linked = linkedFile(document, target);
      if (linked === null) continue;
      const isThere = await exists(linked.file) &&
        (linked.anchor === "" || (anchors.get(linked.file)?.has(linked.anchor) ?? false));
      if (!isThere) broken.push(`${document.path}:${line}: ${target}`);
    }
  }
  assertEquals(broken, []);
});

Deno.test("every file and folder that a document names by its path in the repository exists", async () => {
  const broken: string[] = [];
  for (const { path, lines } of documents) {
    // The data folder exists only after the stack has run.
    const made = ["supabase/.temp", ...lines.flatMap((line) => line.match(/(?<=^mkdir )\S+/)?.[0] ?? [])];
    for (const [index, line] of lines.entries()) {
      for (const [name] of line.matchAll(/(?<=[` ])(?:tests|supabase|\.github)\/[\w./-]*\w/g)) {
        if (!made.some((folder) => name.startsWith(folder)) && !await exists(name)) {
          broken.push(`${path}:${index + 1}: ${name}`);
        }
      }
    }
  }
  assertEquals(broken, []);
});

Deno.test("every table, function and role of the database that a document names is in supabase/schemas", async () => {
  const folder = join(REPOSITORY, "supabase/schemas");
  const schemas = (await Promise.all(
    [...Deno.readDirSync(folder)].filter(({ name }) => name.endsWith(".sql"))
      .map(({ name }) => Deno.readTextFile(join(folder, name))),
  )).join("\n");
  const unknown: string[] = [];
  for (const { path, lines } of documents) {
    for (const [index, line] of lines.entries()) {
      for (const [, name = ""] of line.matchAll(/`((?:filestore\.|filestore_)[a-z_]+)/g)) {
        const isThere = new RegExp(`\\b${name.replace(/_$/, "")}`).test(schemas);
        // The secret is in the vault of a hosted project; the others are files of the client.
        const others = ["filestore_secret_key", "filestore.py", "filestore_deepagents", "filestore.mjs"];
        if (!isThere && !others.includes(name)) unknown.push(`${path}:${index + 1}: ${name}`);
      }
    }
  }
  assertEquals(unknown, []);
});

Deno.test(".env.example names every variable that the function reads", async () => {
  const names = (await Promise.all(
    ["index.ts", "adapters/embedding_settings.ts"]
      .map((file) => Deno.readTextFile(join(REPOSITORY, "supabase/functions/api", file))),
  )).flatMap((source) => [...source.matchAll(/"([A-Z]+_[A-Z_]+)"/g)].map(([, name = ""]) => name));
  assert(names.length > 10);
  const example = await Deno.readTextFile(join(REPOSITORY, ".env.example"));
  assertEquals(names.filter((name) => !new RegExp(`^# {3}${name} `, "m").test(example)), []);
});

Deno.test("every document is reached from the README", () => {
  const byPath = new Map(documents.map((document) => [document.path, document]));
  const reached = new Set(["README.md"]);
  for (const path of reached) {
    const document = byPath.get(path);
    for (const { target } of document?.links ?? []) {
      const file = document && linkedFile(document, target)?.file;
      if (file && byPath.has(file)) reached.add(file);
    }
  }
  assertEquals(documents.map(({ path }) => path).filter((path) => !reached.has(path)), []);
});

Deno.test(`the README has at most ${README_LINES_MAX} lines`, async () => {
  const { lines } = await readDocument("README.md");
  assert(lines.length - 1 <= README_LINES_MAX, `${lines.length - 1} lines`);
});

Deno.test(`prose has at most ${PROSE_LENGTH_MAX} characters a line`, () => {
  const long: string[] = [];
  for (const { path, lines, blocks } of documents) {
    const code = new Set(
      blocks.flatMap(({ line, text }) => text.split("\n").map((_, index) => line + index)),
    );
    for (const [index, line] of lines.entries()) {
      const isProse = !line.startsWith("|") && !/^<!--|^!?\[/.test(line) && !code.has(index + 1);
      if (isProse && line.length > PROSE_LENGTH_MAX) long.push(`${path}:${index + 1}: ${line.length}`);
    }
  }
  assertEquals(long, []);
});

Deno.test(
  `"Follow one append" names at most ${FOLLOWED_TYPESCRIPT_MAX} TypeScript and ${FOLLOWED_SQL_MAX} SQL files, ` +
    "and each has what it is said to have",
  async () => {
    const architecture = await readDocument("supabase/docs/architecture.md");
    const steps = section(architecture, "## Follow one append");
    const files = new Set<string>();
    const missing: string[] = [];
    for (const step of steps.filter((line) => /^\d+\. |^ {3}/.test(line))) {
      // `[file](link)`, followed by names in code, up to the next link.
      for (const [, target = "", rest = ""] of step.matchAll(/\]\(([^)]+)\)([^[]*)/g)) {
        const file = linkedFile(architecture, target)?.file ?? "";
        files.add(file);
        const source = await Deno.readTextFile(join(REPOSITORY, file));
        for (const [, name = ""] of rest.matchAll(/`([\w.]+)\(\)`/g)) {
          const last = name.split(".").at(-1) ?? "";
          if (!new RegExp(`\\b${last}\\b`).test(source)) missing.push(`${file}: ${name}()`);
        }
      }
    }
    assertEquals(missing, []);
    const count = (extension: string) => [...files].filter((file) => file.endsWith(extension)).length;
    assert(count(".ts") >= 8 && count(".sql") >= 1, "the path has lost its steps");
    assert(count(".ts") <= FOLLOWED_TYPESCRIPT_MAX, `${count(".ts")} TypeScript files`);
    assert(count(".sql") <= FOLLOWED_SQL_MAX, `${count(".sql")} SQL files`);
  },
);

for (const { path, lines } of documents.filter(({ path }) => path.startsWith("supabase/docs/decisions/0"))) {
  Deno.test(`${path}: a page with a title, a status with its date, a topic, why, and the alternatives`, () => {
    assertMatch(lines[0] ?? "", /^# [A-Z].+[^.]$/);
    assertMatch(lines[2] ?? "", /^Status: accepted, \d{4}-\d{2}-\d{2}$/);
    assertMatch(lines[4] ?? "", new RegExp(`^Topic: (${Object.keys(TOPICS).join("|")})$`));
    const text = lines.join("\n");
    const words = text.split(/\s+/).length;
    assert(words <= DECISION_WORDS_MAX, `${words} words`);
    assert(/^\*\*Why\.\*\*|^## Why/m.test(text), "no reason");
    assert(/^\*\*Alternatives\.\*\*|^## Alternatives/m.test(text), "no alternatives");
  });
}

Deno.test("parseDocument() finds blocks with their markers, anchors and links outside code", () => {
  const { blocks, anchors, links } = parseDocument(
    "a.md",
    "# Top, *one*\n\n<!-- not run: Docker -->\n\n```sh\nls\n```\n\n## Top one\n\n[x](b.md#c) `[y](z)`\n",
  );
  assertEquals(blocks, [{ language: "sh", text: "ls\n", line: 5, marker: "not run: Docker" }]);
  assertEquals([...anchors], ["top-one", "top-one-1"]);
  assertEquals(links, [{ target: "b.md#c", line: 11 }]);
});
