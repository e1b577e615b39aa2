/** Undo over the API compared with `git revert`, for random runs. `model.test.ts` covers undos of undos. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { type Files } from "../support/client/files.ts";
import { type Random, randomFrom } from "../support/random.ts";
import { figures, rounds } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

const ROUNDS = rounds(8, 400);
const undone = z.looseObject({
  data: z.looseObject({ conflicts: z.array(z.looseObject({ path: z.string() })) }),
});

async function tree(own: Files): Promise<Record<string, string>> {
  const paths = await own.paths({ recursive: true, limit: 100 });
  const entries = await Promise.all(paths.map(async (path) => {
    const { content, mimeType } = await own.read(path);
    return [path, `${mimeType} ${content}`] as const;
  }));
  return Object.fromEntries(entries);
}

const SETTINGS = ["user.name=t", "user.email=t@t", "merge.renames=false", "commit.gpgsign=false"];

async function git(directory: string, ...args: string[]): Promise<{ code: number; out: string }> {
  const { code, stdout } = await new Deno.Command("git", {
    args: [...SETTINGS.flatMap((setting) => ["-c", setting]), ...args],
    cwd: directory,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    stdout: "piped",
    stderr: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout) };
}

/** One run: each of its changes is made in the service, and all of them form one commit in git. */
async function gitRun(
  own: Files,
  directory: string,
  run: string,
  random: Random,
  text: () => string,
): Promise<void> {
  const headers = { "x-run-id": run };
  const names = [..."abcdefghijkl"];
  for (let count = 1 + random.below(3); count > 0; count--) {
    const path = random.pick(names);
    const isThere = await Deno.stat(`${directory}/${path}`).then(() => true, () => false);
    const kind = isThere ? random.below(4) : 0;
    if (kind <= 1) {
      const content = text();
      await own.request("POST", "/files", { body: { path, content }, headers });
      await Deno.writeTextFile(`${directory}/${path}`, content);
    } else if (kind === 2) {
      await own.request("DELETE", `/files/${path}`, { headers });
      await Deno.remove(`${directory}/${path}`);
    } else {
      const destination = random.pick(names.filter((name) => name !== path));
      await own.request("PUT", `/files/move/${path}`, { body: { destination, overwrite: true }, headers });
      await Deno.rename(`${directory}/${path}`, `${directory}/${destination}`);
    }
  }
  await git(directory, "add", "-A");
  await git(directory, "commit", "--allow-empty", "-qm", run);
}

/** Maps each path to its content at a commit. */
async function gitTree(directory: string, commit: string): Promise<Map<string, string>> {
  const { out } = await git(directory, "ls-tree", "-r", commit);
  return new Map(
    out.split("\n").filter((line) => line !== "").map((line) => {
      const [meta = "", path = ""] = line.split("\t");
      return [path, meta.split(" ")[2] ?? ""];
    }),
  );
}

test("undo gives the tree that git revert gives, and conflicts where git has one", async () => {
  let compared = 0;
  let conflicting = 0;
  let skipped = 0;
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const random = randomFrom(seed);
    const own = await files();
    const directory = await Deno.makeTempDir();
    try {
      await git(directory, "init", "-q");
      let number = 0;
      const text = () => `content ${++number} of ${seed}\n`;
      for (let index = 0; index < 6; index++) await gitRun(own, directory, `r${index}`, random, text);
      const index = 1 + random.below(5);
      const { out: log } = await git(directory, "log", "--format=%H", "--reverse");
      const commits = log.trim().split("\n");
      const [commit = "", before = "", head = ""] = [commits[index], commits[index - 1], commits.at(-1)];
      const [base, now, was] = [
        await gitTree(directory, commit),
        await gitTree(directory, head),
        await gitTree(directory, before),
      ];
      await git(directory, "revert", "--no-edit", "--strategy=resolve", commit);
      const unmerged = (await git(directory, "diff", "--name-only", "--diff-filter=U")).out.trim();
      const body = (await own.request("POST", `/runs/r${index}/undo`, { body: {} })).body;
      const conflicts = undone.parse(body).data.conflicts.map(({ path }) => path);
      // Git compares only trees. It sees no conflict in a file that others changed and changed back, or whose content
      // the run left unchanged in the end.
      const [shown, hidden] = [new Array<string>(), new Array<string>()];
      for (const path of conflicts) {
        const isHidden = base.get(path) === now.get(path) || base.get(path) === was.get(path);
        (isHidden ? hidden : shown).push(path);
      }
      assertEquals(shown.join("\n"), unmerged, `seed ${seed}: the same conflicts`);
      if (hidden.length > 0) {
        skipped++;
      } else if (unmerged !== "") {
        conflicting++;
      } else {
        compared++;
        await own.request("POST", `/runs/r${index}/undo`, { body: { dryRun: false } });
        const expected: Record<string, string> = {};
        for (const path of (await gitTree(directory, "HEAD")).keys()) {
          expected[path] = `text/plain ${await Deno.readTextFile(`${directory}/${path}`)}`;
        }
        assertEquals(await tree(own), expected, `seed ${seed}`);
      }
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  }
  figures(`${compared} clean, ${conflicting} with a conflict, ${skipped} changed back`);
});
