/** What the command does, as tests that run for each runtime and form of the client. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { administrator } from "../client/erasure.ts";
import type { ProjectFiles } from "../client/files.ts";
import { withScratchDirectory } from "../scratch_directory.ts";
import type { Suite } from "../stack/suite.ts";
import { CommandLine, FROM_SOURCES, type Started, wordsOf } from "./command_line.ts";

interface Case {
  readonly own: ProjectFiles;
  readonly cwd: string;
  readonly line: CommandLine;
  readonly suite: Suite;
  /** Whether to run the examples of the help, or only to read them: whatever runs them, they are the same. */
  readonly runsExamples: boolean;
  /** Runs the command, which must succeed. Returns standard output. */
  ok(...args: string[]): Promise<string>;
  /** Runs the command, which must end with this status and one line that begins so. */
  fails(status: number, begins: string, ...args: string[]): Promise<void>;
}

export function commandCases(name: string, started: Started, suite: Suite): void {
  for (const [what, run] of CASES) {
    suite.test(`${name}: ${what}`, (own) =>
      withScratchDirectory((cwd) => {
        const env = { FILESTORE_URL: suite.service.baseUrl, FILESTORE_KEY: own.key };
        const runsExamples = started !== FROM_SOURCES;
        return run({ ...caseOf(own, cwd, new CommandLine(started, { cwd, env }), suite), runsExamples });
      }));
  }
}

const CASES: readonly (readonly [what: string, run: (one: Case) => Promise<void>])[] = [
  [
    "files are put, appended, edited and read, and each step says its version",
    async ({ own, cwd, line, ok }) => {
      await Deno.writeTextFile(join(cwd, "plan.md"), "# Plan\n- ship it\n");
      assertEquals(
        await ok("put", "plan.md", "notes/ä b.md", "--type", "text/plain"),
        "notes/ä b.md: version 1\n",
      );
      const piped = await line.with({ input: "- sleep\n" }).run(
        "append",
        "-",
        "notes/ä b.md",
        "--if-version",
        "1",
      );
      assertEquals(piped, { code: 0, stdout: "notes/ä b.md: version 2\n", stderr: "" });
      assertEquals(
        await ok("edit", "notes/ä b.md", "ship it", "ship", "--note", "größer"),
        "notes/ä b.md: version 3, 1 replaced\n",
      );
      assertEquals(
        await ok("edit", "notes/ä b.md", "--all", "--", "- ", "* "),
        "notes/ä b.md: version 4, 2 replaced\n",
      );
      assertEquals(await ok("cat", "notes/ä b.md"), "# Plan\n* ship\n* sleep\n");
      assertEquals(await ok("cat", "notes/ä b.md", "--version", "1"), "# Plan\n- ship it\n");
      const [last] = (await own.versions("notes/ä b.md")).versions.slice(1);
      assertEquals(last?.note, "größer");
      assertEquals(JSON.parse(await ok("cat", "notes/ä b.md", "--json")).version, 4);
    },
  ],

  ["lists, logs and diffs print a line for each", async ({ ok }) => {
    for (const path of ["a.md", "d/b.md", "d/e/c.md"]) {
      await ok("put", "-", path, "--run", "night-1", "--actor", "me");
    }
    assertEquals(await ok("ls"), "d/\na.md\n");
    assertEquals(await ok("ls", "d"), "d/e/\nd/b.md\n");
    assertEquals(await ok("ls", "--recursive", "d"), "d/b.md\nd/e/c.md\n");
    assertEquals(await ok("ls", "nothing"), "");
    assertEquals((await ok("ls", "--json")).split("\n").slice(0, 1), ['{"directory":"d/"}']);
    assertStringIncludes(await ok("ls", "--long"), "a.md  version 1  0 bytes  20");
    assertStringIncludes(await ok("log", "a.md"), "write  0 bytes  by me  run night-1\n");
    assertStringIncludes(await ok("diff", "d/b.md", "--json"), '"to":1');
    assertStringIncludes(await ok("runs"), "night-1  3 files  3 versions  ");
    assertStringIncludes(await ok("runs", "night-1"), "d/b.md  versions 1 to 1  write\n");
  }],

  ["grep and search print path, line and text; finding nothing is status 0", async ({ own, ok }) => {
    await own.write("d/a.md", "one\nTwo fish\n");
    await own.write("b.txt", "two fish\n");
    assertEquals(await ok("grep", "fish"), "b.txt:1: two fish\nd/a.md:2: Two fish\n");
    assertEquals(await ok("grep", "--regex", "-i", "^two", "--glob", "*.md"), "d/a.md:2: Two fish\n");
    assertEquals(await ok("grep", "fish", "d"), "d/a.md:2: Two fish\n");
    assertEquals(await ok("grep", "bird"), "");
    assertEquals(await ok("search", "fish", "--mode", "text", "--limit", "1"), "b.txt:1: two fish\n");
    assertEquals(JSON.parse(await ok("search", "Two", "--mode", "text", "--json")).path, "d/a.md");
  }],

  ["files and folders are copied, moved, deleted and restored", async ({ own, ok, fails }) => {
    await own.write("d/a", "1");
    await own.write("d/b", "2");
    assertEquals(await ok("cp", "d/a", "a"), "a: version 1\n");
    await fails(1, "FILE_ALREADY_EXISTS: ", "cp", "d/b", "a");
    assertEquals(await ok("cp", "d/b", "a", "--overwrite"), "a: version 2\n");
    assertEquals(await ok("cp", "d", "e/f"), "e/f: copied 2 files\n");
    assertEquals(await ok("mv", "e/", "g"), "g: moved 2 files\n");
    await fails(1, "FILE_NOT_FOUND: ", "rm", "g");
    assertEquals(await ok("rm", "-r", "g", "a"), "g: deleted 2 files\na: version 3, deleted\n");
    assertEquals(await ok("restore", "a", "1"), "a: version 4\n");
    assertEquals(await own.paths({ recursive: true }), ["a", "d/a", "d/b"]);
  }],

  ["an undo prints its plan, and does it with --apply", async ({ own, ok, fails }) => {
    await ok("put", "-", "a", "--run", "night-1");
    assertEquals(await ok("undo", "night-1"), "delete a\n");
    assertEquals((await own.read("a")).content, "");
    assertEquals(await ok("undo", "night-1", "--apply", "--run", "back"), "delete a\n");
    await own.write("a", "other");
    await fails(3, "RUN_CONFLICT: ", "undo", "back", "--apply");
    assertStringIncludes(await ok("undo", "back"), "conflict a: version 3\n");
  }],

  [
    "a branch is created, shown, merged and closed; a conflict that is left is status 3",
    async ({ own, ok, fails }) => {
      await own.write("notes/plan.md", "# Plan\n- ship it\n");
      assertEquals(
        await ok("branch", "create", "shorter", "--directory", "notes", "--title", "A shorter plan"),
        "shorter  open  of notes  1 file  A shorter plan\n",
      );
      await ok("branch", "create", "other", "--directory", "notes");
      await ok("edit", ".branches/shorter/plan.md", "ship it", "ship");
      await ok("put", "-", ".branches/shorter/new.md");
      const shown = "added new.md\nmodified plan.md";
      assertEquals((await ok("branch", "show", "shorter")).split("\n").slice(1).join("\n"), `${shown}\n`);
      assertEquals(await ok("branch", "merge", "shorter", "--dry-run"), "write new.md\nwrite plan.md\n");
      assertEquals(await own.paths({ recursive: true }), ["notes/plan.md"]);
      assertEquals(await ok("branch", "merge", "shorter", "--run", "m"), "write new.md\nwrite plan.md\n");
      assertEquals((await own.read("notes/plan.md")).content, "# Plan\n- ship\n");

      await ok("edit", ".branches/other/plan.md", "ship it", "wait");
      await fails(3, "MERGE_CONFLICT: ", "branch", "merge", "other");
      assertStringIncludes(await ok("branch", "show", "other"), "modified plan.md  conflict\n");
      assertEquals(await ok("branch", "merge", "other", "--dry-run"), "conflict plan.md: content\n");
      assertEquals(
        await ok("branch", "merge", "other", "--on-conflict", "branch", "--dry-run"),
        "write plan.md\n",
      );
      assertEquals(await ok("branch", "close", "other"), "other  closed  of notes  1 file\n");
      await fails(1, "BRANCH_CLOSED: ", "branch", "merge", "other");
      assertEquals((await ok("branch", "list")).split("\n").map((line) => line.split("  ", 2).join(" ")), [
        "other closed",
        "shorter merged",
        "",
      ]);
      assertEquals(JSON.parse(await ok("branch", "list", "--state", "merged", "--json")).name, "shorter");
      await fails(2, "Error: missing required argument 'name'", "branch", "create");
      await fails(2, "Error: unknown command 'mege' (Did you mean merge?)", "branch", "mege", "other");
    },
  ],

  ["a link is an address that works without a key", async ({ own, ok }) => {
    await own.write("a.txt", "hello");
    const url = (await ok("link", "a.txt")).trim();
    assertEquals(await (await fetch(url)).text(), "hello");
    const upload = (await ok("link", "b.txt", "--write", "--expires-in", "60")).trim();
    assert((await fetch(upload, { method: "PUT", body: "there" })).ok);
    assertEquals((await own.read("b.txt")).content, "there");
  }],

  [
    "statuses: 1 refused, 2 usage, 3 conflict; and a refusal is one line",
    async ({ own, line, fails }) => {
      await own.write("a", "1");
      await fails(1, "FILE_NOT_FOUND: ", "cat", "none");
      await fails(1, "INVALID_PATH: ", "cat", "../keys");
      await fails(1, "INVALID_API_KEY: ", "ls", "--key", "oa_wrong");
      await fails(1, "Error: nothing.txt cannot be read", "put", "nothing.txt", "a");
      await fails(3, "PRECONDITION_FAILED: ", "put", "-", "a", "--if-version", "7");
      await fails(3, "FILE_ALREADY_EXISTS: ", "put", "-", "a", "--if-version", "0");
      await fails(2, "Error: unknown command 'exprot' (Did you mean export?)", "exprot");
      await fails(
        2,
        "Error: unknown option '--overwite' (Did you mean --overwrite?)",
        "cp",
        "a",
        "b",
        "--overwite",
      );
      await fails(2, "Error: missing required argument 'path'", "cat");
      await fails(
        2,
        "Error: option '--if-version <n>' argument 'x' is invalid.",
        "rm",
        "a",
        "--if-version",
        "x",
      );
      await fails(2, "Error: option '--mode <mode>' argument 'x' is invalid.", "search", "q", "--mode", "x");
      const nowhere = line.with({ env: {} });
      assertEquals((await nowhere.run("ls")).code, 2);
      assertStringIncludes(
        (await nowhere.run("ls")).stderr,
        "set FILESTORE_URL and FILESTORE_KEY, or use login",
      );
      assertEquals((await own.versions("a")).total, 1);
    },
  ],

  [
    "login checks the key, keeps it for its owner alone, and the environment beats it",
    async ({ own, cwd, line, suite: { service, files } }) => {
      const other = await files();
      await other.write("theirs", "x");
      const bare = line.with({ env: {} });
      const login = (input: string) => bare.with({ input }).run("login", "--url", service.baseUrl);
      assertEquals((await login("oa_wrong\n")).code, 1);
      assertEquals((await login("\n")).code, 2);
      assertEquals((await bare.run("ls")).code, 2, "nothing was kept");
      const done = await login(`${own.key}\n`);
      assertEquals([done.code, done.stderr], [0, ""]);
      const { mode } = await Deno.stat(join(cwd, "filestore"));
      assertEquals((mode ?? 0) & 0o777, 0o600);
      assertEquals(await bare.run("ls"), { code: 0, stdout: "", stderr: "" });
      const env = { FILESTORE_URL: service.baseUrl, FILESTORE_KEY: other.key };
      assertEquals((await line.with({ env }).run("ls")).stdout, "theirs\n");
      assertEquals(
        (await bare.run("ls", "--url", "http://127.0.0.1:1")).code,
        2,
        "its key goes to no other address",
      );
      for (const text of [done.stdout, (await bare.run("ls", "--key", own.key, "--json")).stderr]) {
        assert(!text.includes(own.key), "no key is printed");
      }
    },
  ],

  ["git writes the history as a repository, and goes on with it", async ({ own, cwd, line, ok, fails }) => {
    await own.write("notes/plan.md", "1\n");
    await own.write("plan.md", "1\n");
    assertEquals(await ok("git", "history", "--directory", "notes"), "history: 1 new commit.\n");
    assertEquals(await Deno.readTextFile(join(cwd, "history/plan.md")), "1\n");
    await own.write("notes/.git/x", "1\n");
    const { code, stdout, stderr } = await line.run("git", "history", "--directory", "/notes/", "--json");
    assertEquals([code, JSON.parse(stdout).commits], [0, 1]);
    assertEquals(stderr, "Left out, since git refuses their names: notes/.git/x.\n");
    await fails(1, "Error: history has the history of notes, not of the whole project.", "git", "history");
    await fails(1, "Error: . is not empty, and no folder that filestore git created", "git", ".");
    await fails(2, "Error: --directory: ", "git", "other", "--directory", "../x");
  }],

  [
    "sync makes a folder and the files equal; a conflict is status 3 once",
    async ({ own, cwd, ok, line, fails }) => {
      await own.write("notes/a.md", "1");
      await Deno.mkdir(join(cwd, "notes"));
      await Deno.writeTextFile(join(cwd, "notes/b.md"), "2");
      const command = ["sync", "notes", "--directory", "notes"];
      assertEquals(await ok(...command, "--dry-run"), "download a.md\nupload b.md\n");
      assertEquals(await ok(...command, "--once-ready"), "download a.md\nupload b.md\nready\n");
      await own.write("notes/a.md", "theirs");
      await Deno.writeTextFile(join(cwd, "notes/a.md"), "mine");
      const { code, stderr, stdout } = await line.run(...command, "--json");
      assertEquals([code, stderr], [3, "Error: 1 conflict left; see notes/.filestore/conflicts.jsonl.\n"]);
      const actions = stdout.trim().split("\n").map((text) => JSON.parse(text).action);
      assertEquals(actions, ["conflict", "download", "upload"]);
      assertEquals(await ok(...command), "");
      await own.write("notes/a.md", "theirs again");
      const pushed = await line.run(...command, "--push");
      assertEquals(pushed, {
        code: 3,
        stdout: "conflict a.md: changed in the service\n",
        stderr: "Error: 1 conflict left; the lines above name them.\n",
      });
      await fails(1, "Error: ENOTDIR: ", "sync", "notes/a.md/x");
      await fails(1, "Error: This folder is in sync with notes of ", "sync", "notes");
      await fails(2, "Error: --pull and --push exclude each other.", ...command, "--pull", "--push");
    },
  ],

  [
    "the help of each command has an example, and each example works",
    async ({ own, cwd, line, ok, suite: { service }, runsExamples }) => {
      const admin = await administrator(service, own.project.id);
      const namesOf = (help: string) =>
        [...help.matchAll(/^ {2}(\w+) (?:\[|<| {2})/gm)].map(([, one = ""]) => one);
      const expected =
        "ls cat log diff grep search put append edit rm mv cp restore runs undo link branch export import purge redact git sync login";
      assertEquals(namesOf(await ok("--help")), expected.split(" "));
      await Deno.writeTextFile(join(cwd, "plan.md"), "# Plan\n- ship it\n- sleep\n");
      const paths = "notes/plan.md notes/plan.md notes/list.md drafts/a.md notes/old.md notes/secret.md";
      assertEquals(namesOf(await ok("branch", "--help")), "create list show merge close".split(" "));
      const order = [
        ..."put append edit ls cat log diff grep search restore cp link export import mv rm runs undo".split(
          " ",
        ),
        ..."create list show merge close".split(" ").map((name) => `branch ${name}`),
        ..."purge redact git sync login".split(" "),
      ];
      for (const path of paths.split(" ")) await ok("put", "plan.md", path);
      for (const of of order) {
        const lines = (await ok(...of.split(" "), "--help")).split(/^Examples?:\n/m)[1]?.trim().split("\n") ??
          [];
        assert(lines.length > 0, of);
        if (of === "branch close") await ok("branch", "create", "longer");
        if (of === "runs") await ok("put", "plan.md", "done/plan.md", "--run", "night-1");
        for (const example of runsExamples ? lines : []) {
          if (example.includes("put - notes/list.md")) await ok("rm", "notes/list.md");
          if (example.includes('edit notes/plan.md "')) {
            await ok("put", "plan.md", "notes/plan.md");
          }
          if (example.includes("rm notes/list.md")) await ok("put", "plan.md", "notes/list.md");
          const words = wordsOf(example).map((word) => word.startsWith("http://") ? service.baseUrl : word);
          assertEquals(words[0], "filestore");
          const env = { FILESTORE_URL: service.baseUrl, FILESTORE_KEY: admin.key };
          const { code, stderr } = await line.with({ env, input: of === "login" ? own.key : "- more\n" })
            .run(...words.slice(1));
          assertEquals(code, 0, `${example}: ${stderr}`);
        }
      }
    },
  ],
];

function caseOf(
  own: ProjectFiles,
  cwd: string,
  line: CommandLine,
  suite: Suite,
): Omit<Case, "runsExamples"> {
  return {
    own,
    cwd,
    line,
    suite,
    async ok(...args) {
      const { code, stdout, stderr } = await line.run(...args);
      assertEquals([code, stderr], [0, ""], args.join(" "));
      return stdout;
    },
    async fails(status, begins, ...args) {
      const { code, stdout, stderr } = await line.run(...args);
      assertEquals([code, stdout, stderr.trimEnd().split("\n").length], [status, "", 1], stderr);
      assertEquals(stderr.slice(0, begins.length), begins);
    },
  };
}
