/** The process `filestore sync`, killed in the midst of its requests: the next one goes on, and nothing is lost or doubled. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { Filestore } from "../../supabase/client/mod.ts";
import { CommandLine, FROM_SOURCES } from "../support/kit/command_line.ts";
import { IS_BRIEF } from "../support/runner/long.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { suite } from "../support/stack/suite.ts";

const { service, test } = await suite();

/** The calls of the function to Supabase during which the process is killed; the function itself completes them. */
const MOMENTS: readonly (readonly [what: string, method: string, path: string, number: number])[] = [
  ["its files are committed", "POST", "/rpc/filestore_commit_many", 1],
  ["it lists the files", "POST", "/rpc/filestore_list", 1],
  ["it fetches the second file", "POST", "/rpc/filestore_content", 2],
  ["its files are stored", "POST", "/storage/v1/object/", 1],
];

/** Starts a sync that is killed at the moment. Returns whether it came so far. */
async function killedSync(root: string, key: string, moment: (typeof MOMENTS)[number]): Promise<boolean> {
  const [, method, path, number] = moment;
  const [program = "", ...words] = FROM_SOURCES;
  const child = new Deno.Command(program, {
    args: [...words, "sync", root],
    env: { FILESTORE_URL: service.baseUrl, FILESTORE_KEY: key },
    ...{ stdin: "null", stdout: "null", stderr: "null" },
  }).spawn();
  let calls = 0;
  service.proxy.hook = async (call, forward) => {
    if (call.method === method && call.path.includes(path) && ++calls === number) {
      child.kill("SIGKILL");
      await child.status;
    }
    return forward();
  };
  try {
    const { signal } = await child.status;
    return signal === "SIGKILL";
  } finally {
    service.proxy.hook = null;
  }
}

test("a sync that is killed at any moment loses nothing, and the next one doubles nothing", (own) =>
  withScratchDirectory(async (root) => {
    const store = new Filestore({ url: service.baseUrl, key: own.key });
    const written = new Set<string>();
    const both = async (name: string, theirs: boolean, mine: boolean) => {
      if (theirs) await own.write(name, `theirs ${name}`);
      if (mine) await Deno.writeTextFile(join(root, name), `mine ${name}`);
      if (theirs) written.add(`theirs ${name}`);
      if (mine) written.add(`mine ${name}`);
    };
    for (const moment of IS_BRIEF ? MOMENTS.slice(0, 2) : MOMENTS) {
      const [what] = moment;
      await both(`new there as ${what}`, true, false);
      await both(`new here as ${what}`, false, true);
      await both(`other as ${what}`, true, true);
      assert(await killedSync(root, own.key, moment), `it was to be killed as ${what}`);
    }
    const line = new CommandLine(FROM_SOURCES, {
      cwd: root,
      env: { FILESTORE_URL: service.baseUrl, FILESTORE_KEY: own.key },
    });
    await line.run("sync", root);
    assertEquals(await line.run("sync", root), { code: 0, stdout: "", stderr: "" });

    const stored: Record<string, string> = {};
    for await (const { path, version } of store.list("", { recursive: true })) {
      assertEquals(version, 1, `${path} was written twice`);
      stored[path] = (await store.read(path)).content;
    }
    assertEquals(Object.values(stored).sort(), [...written].sort());
    for (const [path, content] of Object.entries(stored)) {
      assertEquals(await Deno.readTextFile(join(root, path)), content);
    }
    const names = [...Deno.readDirSync(root)].map(({ name }) => name).filter((name) => name !== ".filestore");
    assertEquals(names.sort(), Object.keys(stored).sort());
  }));
