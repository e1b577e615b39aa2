/**
 * Undo against a model, and against `git revert`: random interleavings of runs, undone and redone, over the API. The model
 * is written from the contract: whole histories in memory, contents compared as text.
 */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { encodePath, type Files } from "../support/client/files.ts";
import { type Random, randomFrom } from "../support/random.ts";
import { inParallel } from "../support/in_parallel.ts";
import { figures, rounds } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";

const { files } = await suite();

const ROUNDS = rounds(80, 5000);
/** Interleavings at the same time, each in a project of its own. */
const AT_ONCE = 4;
const GIT_ROUNDS = rounds(16, 400);
const PATHS = ["a", "b", "d/a", "d/b"] as const;
const RUNS = ["r1", "r2", null] as const;

interface Version {
  /** Null: a tombstone. */
  readonly content: string | null;
  readonly mimeType: string;
  readonly runId: string | null;
  readonly undoneRunId?: string | undefined;
  /** Of a move: the path of its other half. */
  readonly partner?: string | undefined;
}

type Conflict = {
  path: string;
  version: number;
  runId: string | null;
  actor: null;
  own: true;
  reason?: string;
};
interface Plan {
  readonly actions: { path: string; action: "restore" | "delete"; from: number; to: number | null }[];
  readonly unchanged: string[];
  readonly conflicts: Conflict[];
}

class Model {
  readonly histories = new Map<string, Version[]>();
  /** Undone run → the runs that have undone it. */
  readonly undos = new Map<string, Set<string>>();

  latest(path: string): Version | undefined {
    return this.histories.get(path)?.at(-1);
  }

  isLive(path: string): boolean {
    return (this.latest(path)?.content ?? null) !== null;
  }

  add(path: string, version: Version): void {
    this.histories.set(path, [...this.histories.get(path) ?? [], version]);
  }

  tree(): Record<string, string> {
    const live = [...this.histories].flatMap(([path, versions]) => {
      const last = versions.at(-1);
      return last && last.content !== null
        ? [[path, `${last.mimeType} ${last.content.replaceAll("|", "")}`] as const]
        : [];
    });
    return Object.fromEntries(live.sort(([a], [b]) => a < b ? -1 : 1));
  }

  isKnown(run: string): boolean {
    return [...this.histories.values()].some((versions) => versions.some(({ runId }) => runId === run));
  }

  /** The run, those that have undone it, those that have undone these, and so on. */
  own(run: string): Set<string> {
    const own = new Set([run]);
    for (const one of own) for (const undoing of this.undos.get(one) ?? []) own.add(undoing);
    return own;
  }

  plan(run: string, onConflict: string, only?: readonly string[]): Plan {
    const own = this.own(run);
    const plan: Plan = { actions: [], unchanged: [], conflicts: [] };
    const meant = [...this.histories.keys()].sort()
      .filter((path) => this.histories.get(path)?.some(({ runId }) => runId === run))
      .filter((path) => only?.includes(path) ?? true);
    for (const path of meant) {
      const versions = this.histories.get(path) ?? [];
      const first = versions.findIndex(({ runId }) => runId === run);
      const base = versions[first - 1];
      const last = versions.at(-1);
      const isSame = last?.content === (base?.content ?? null) &&
        (last?.content === null || last?.mimeType === base?.mimeType);
      if (isSame) {
        plan.unchanged.push(path);
        continue;
      }
      const foreign = versions.findLastIndex((version, index) =>
        index > first && version.runId !== run &&
        !(version.undoneRunId !== undefined && own.has(version.undoneRunId))
      );
      const moved = versions.findIndex(({ runId, partner }) =>
        runId === run && partner !== undefined && !meant.includes(partner)
      );
      if (foreign >= 0) {
        plan.conflicts.push({
          path,
          version: foreign + 1,
          runId: versions[foreign]?.runId ?? null,
          actor: null,
          own: true,
        });
      } else if (moved >= 0) {
        // The first move of the run on this file.
        const version = versions.findIndex(({ runId, partner }) => runId === run && partner !== undefined);
        plan.conflicts.push({
          path,
          version: version + 1,
          runId: run,
          actor: null,
          own: true,
          reason: "moved",
        });
      }
      if ((foreign >= 0 || moved >= 0) && onConflict !== "overwrite") continue;
      const isBack = (base?.content ?? null) !== null;
      plan.actions.push({
        path,
        action: isBack ? "restore" : "delete",
        from: versions.length,
        to: isBack ? first : null,
      });
    }
    return plan;
  }

  carryOut(run: string, undoing: string, { actions }: Plan): void {
    for (const { path, to } of actions) {
      const versions = this.histories.get(path) ?? [];
      const base = to === null ? undefined : versions[to - 1];
      this.add(path, {
        content: base?.content ?? null,
        mimeType: base?.mimeType ?? versions.at(-1)?.mimeType ?? "",
        runId: undoing,
        undoneRunId: run,
      });
    }
    if (actions.length > 0) this.undos.set(run, (this.undos.get(run) ?? new Set()).add(undoing));
  }
}

const answer = z.object({
  actions: z.array(
    z.object({
      path: z.string(),
      action: z.enum(["restore", "delete"]),
      from: z.int(),
      to: z.int().nullable(),
    }),
  ),
  unchanged: z.array(z.string()),
  conflicts: z.array(z.unknown()),
});
const success = z.object({ data: answer });
const conflict = z.object({
  error: z.object({ code: z.literal("RUN_CONFLICT") }),
  details: z.object({
    conflicts: z.array(z.unknown()),
  }),
});

/** One change of a file, in the service and in the model. */
async function change(own: Files, model: Model, random: Random): Promise<void> {
  const path = random.pick(PATHS);
  const runId = random.pick(RUNS);
  const headers = runId === null ? {} : { "x-run-id": runId };
  const content = random.pick(["x", "y", "xy", "z"]);
  const mimeType = random.pick(["text/plain", "text/plain", "text/csv"]);
  const isLive = model.isLive(path);
  const there = model.latest(path);
  const send = async (method: string, route: string, body?: unknown) => {
    const response = await own.request(method, route, { body, headers });
    assertEquals(response.status, 200, response.text);
  };
  const kind = random.below(isLive ? 6 : 1);
  if (kind === 0 || kind === 1) {
    await send("POST", "/files", { path, content, contentType: mimeType });
    model.add(path, { content, mimeType, runId });
  } else if (kind === 2) {
    await send("PUT", `/files/append/${encodePath(path)}`, { content });
    // Each piece is stored by itself, and equal is what is stored alike.
    model.add(path, { content: `${there?.content}|${content}`, mimeType: there?.mimeType ?? "", runId });
  } else if (kind === 3) {
    await send("DELETE", `/files/${encodePath(path)}`);
    model.add(path, { content: null, mimeType: there?.mimeType ?? "", runId });
  } else {
    const destination = random.pick(PATHS.filter((other) => other !== path));
    const isMove = kind === 4;
    await send("PUT", `/files/${isMove ? "move" : "copy"}/${encodePath(path)}`, {
      destination,
      overwrite: true,
    });
    const version = { content: there?.content ?? null, mimeType: there?.mimeType ?? "", runId };
    if (isMove) model.add(path, { ...version, content: null, partner: destination });
    model.add(destination, isMove ? { ...version, partner: path } : version);
  }
}

/** One undo of a random run, in the service and in the model; returns whether it was carried out. */
async function undo(own: Files, model: Model, random: Random, runs: string[]): Promise<boolean> {
  const run = random.pick(runs);
  const onConflict = random.pick(["refuse", "skip", "overwrite"]);
  const paths = random.below(4) === 0 ? PATHS.filter(() => random.below(2) === 0) : undefined;
  const only = paths && paths.length > 0 ? paths : undefined;
  const ask = (dryRun: boolean, headers = {}) =>
    own.request("POST", `/runs/${run}/undo`, { body: { dryRun, onConflict, paths: only }, headers });
  const planned = await ask(true);
  if (!model.isKnown(run)) {
    assertEquals(planned.status, 404);
    return false;
  }
  const expected = model.plan(run, onConflict, only);
  const stripped = (body: unknown) => {
    const { actions, unchanged, conflicts } = success.parse(body).data;
    return { actions, unchanged, conflicts };
  };
  assertEquals(stripped(planned.body), expected, `the plan for ${run}, ${onConflict}, ${only}`);
  const undoing = `u${runs.length}`;
  const done = await ask(false, { "x-run-id": undoing });
  if (onConflict === "refuse" && expected.conflicts.length > 0) {
    assertEquals(done.status, 409, done.text);
    assertEquals(conflict.parse(done.body).details.conflicts, expected.conflicts);
    return false;
  }
  assertEquals(stripped(done.body), expected);
  model.carryOut(run, undoing, expected);
  runs.push(undoing);
  return true;
}

async function tree(own: Files): Promise<Record<string, string>> {
  const paths = await own.paths({ recursive: true, limit: 100 });
  const entries = await Promise.all(paths.map(async (path) => {
    const { content, mimeType } = await own.read(path);
    return [path, `${mimeType} ${content}`] as const;
  }));
  return Object.fromEntries(entries);
}

/** One interleaving, in a project of its own; returns how many undos were carried out. */
async function interleaving(seed: number): Promise<number> {
  const own = await files();
  const random = randomFrom(seed);
  const model = new Model();
  const runs: string[] = ["r1", "r2"];
  let undone = 0;
  for (let step = 0; step < 12; step++) {
    if (step > 3 && random.below(3) === 0) {
      if (await undo(own, model, random, runs)) undone++;
    } else {
      await change(own, model, random);
    }
  }
  assertEquals(await tree(own), model.tree());
  // Undone and redone at once: nothing has come between.
  const run = random.pick(runs);
  if (!model.isKnown(run)) return undone;
  const expected = model.plan(run, "skip");
  const back = await own.request("POST", `/runs/${run}/undo`, {
    body: { dryRun: false, onConflict: "skip" },
    headers: { "x-run-id": "back" },
  });
  assertEquals(back.status, 200);
  if (expected.actions.length === 0) return undone;
  const again = await own.request("POST", "/runs/back/undo", { body: { dryRun: false } });
  assertEquals(again.status, 200, again.text);
  assertEquals(await tree(own), model.tree(), "undo twice is the state before");
  return undone;
}

test("undo does what a model does, after any interleaving of runs, undos and redos", async () => {
  const seeds = Array.from({ length: ROUNDS }, (_, index) => index + 1);
  const undone = await inParallel(seeds, AT_ONCE, async (seed) => {
    try {
      return await interleaving(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  });
  figures(`${ROUNDS} interleavings, ${undone.reduce((sum, one) => sum + one, 0)} undos carried out`);
});

// git revert ----------------------------------------------------------------------------------------------------------

async function git(directory: string, ...args: string[]): Promise<{ code: number; out: string }> {
  const { code, stdout } = await new Deno.Command("git", {
    args: [
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@t",
      "-c",
      "merge.renames=false",
      "-c",
      "commit.gpgsign=false",
      ...args,
    ],
    cwd: directory,
    env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
    stdout: "piped",
    stderr: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout) };
}

/** One run: each of its changes in the service, and all of them as one commit of git. */
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

/** Path → content at a commit. */
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
  for (let seed = 1; seed <= GIT_ROUNDS; seed++) {
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
      const conflicts = success.parse(body).data.conflicts.map((one) =>
        z.object({ path: z.string() }).parse(one).path
      );
      // Git compares trees alone: a file that others changed and changed back, or of which the run left nothing, is no
      // conflict to it.
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
