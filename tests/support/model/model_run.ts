/** Runs one sequence of operations against the service and the model. */
import { assert, assertEquals } from "@std/assert";
import { inParallel } from "../in_parallel.ts";
import { type Batch, type File, kept, type Many, Model, type Write } from "./model.ts";
import { type BranchRequest, isInBranch } from "./model_branches.ts";
import type {
  BranchOperation,
  MomentChoice,
  NearChoice,
  NumberChoice,
  Operation,
  TagChoice,
  WriteOperation,
} from "./model_operations.ts";
import { type Moment, versionAt } from "./model_plans.ts";
import { diff, list, metadata, read, versions } from "./model_reads.ts";
import type { Api } from "../client/api.ts";
import {
  type ChangePage,
  changePage,
  dataOf,
  fileList,
  fileRecord,
  runPage,
  versionList,
} from "../client/contract.ts";
import { encodePath } from "../client/files.ts";
import { check, type Expected, type Request, send } from "./model_wire.ts";

export class ModelRun {
  readonly #model = new Model();
  #lastWithKey: Write | Batch | Many | undefined;
  #undos = 0;
  #erasures = 0;
  /** The number of operations of each kind, and of those that were refused. */
  readonly counts = new Map<string, number>();

  /** Erasure needs `adminKey`; `sweep` runs until nothing is left to sweep. */
  constructor(
    private readonly api: Api,
    private readonly key: string,
    private readonly adminKey: string,
    private readonly sweep: () => Promise<void>,
  ) {}

  async run(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      if (operation.kind === "trim") {
        await this.#trim(operation.keep);
        continue;
      }
      const request = await this.#resolve(operation);
      if (request) await this.#step(request);
    }
    if (this.#erasures > 0) await this.sweep();
    await this.#checkEverything();
  }

  async #trim(keepVersions: number): Promise<void> {
    const patch = async (retention: unknown) => {
      const { status } = await this.api.request(this.adminKey, "PATCH", "/project", { body: { retention } });
      assertEquals(status, 200);
    };
    await patch({ keepVersions });
    await this.sweep();
    await patch(null);
    const count = this.#model.trim(keepVersions);
    this.#forgetKeys();
    this.counts.set("trim", (this.counts.get("trim") ?? 0) + 1);
    this.counts.set("trimmed", (this.counts.get("trimmed") ?? 0) + count);
  }

  /** After an erasure, a key's stored answer may be forgotten or refused, so keys are not used again. */
  #forgetKeys(): void {
    this.#lastWithKey = undefined;
    this.#erasures++;
  }

  async #step(request: Request): Promise<void> {
    const expected = await this.#expect(request);
    const isErasure = request.kind === "purge" || request.kind === "redact";
    const answer = await send(this.api, isErasure ? this.adminKey : this.key, request);
    check(request, expected, answer);
    const outcome = "refused" in expected ? ` ${expected.refused}` : "";
    this.counts.set(request.kind + outcome, (this.counts.get(request.kind + outcome) ?? 0) + 1);
    if (request.kind === "move") await this.#learn(request.path);
    if (request.kind === "batch") {
      for (const { kind, path } of request.operations) if (kind === "move") await this.#learn(path);
    }
    const isOfBranch = request.kind.endsWith("_branch");
    if ("folder" in expected || ("back" in expected && expected.run !== null) || isOfBranch) {
      for (const path of this.#model.files.keys()) await this.#learn(path);
    }
  }

  #expect(request: Request): Expected | Promise<Expected> {
    switch (request.kind) {
      case "read":
        return read(this.#model, request);
      case "metadata":
        return metadata(this.#model, request);
      case "versions":
        return versions(this.#model, request);
      case "diff":
        return diff(this.#model, request);
      case "list":
        return list(this.#model, request);
      case "purge":
        this.#forgetKeys();
        return this.#model.purge(request);
      case "redact":
        this.#forgetKeys();
        return this.#model.redact(request);
      case "batch":
        if (request.key !== undefined) this.#lastWithKey = request;
        return this.#model.batch(request);
      case "copy_folder":
      case "move_folder":
      case "delete_folder":
      case "undo_run":
      case "restore_folder":
        if (request.key !== undefined) this.#lastWithKey = request;
        return this.#model.many(request);
      case "create_branch":
      case "get_branch":
      case "close_branch":
      case "merge_branch":
      case "update_branch":
        return this.#model.branches.perform(request);
      default:
        if (request.key !== undefined) this.#lastWithKey = request;
        return this.#model.write(request);
    }
  }

  /** Reads what the answer leaves out: times of versions from the version list, ids from the metadata. */
  async #learn(path: string): Promise<void> {
    const file = this.#model.files.get(path);
    if (!file) return;
    if (file.id === "") {
      const answer = await this.#get(`/files/${encodePath(path)}?metadata`);
      const { id, createdAt } = dataOf(answer, "get_file_metadata", fileRecord);
      Object.assign(file, { id, createdAt });
    }
    if (file.versions.every(({ at }) => at !== "")) return;
    for (const { version, createdAt } of await this.#versions(path)) {
      const known = file.versions[version - 1];
      if (known?.at !== "") continue;
      known.at = createdAt;
      assert(createdAt >= (file.versions[version - 2]?.at ?? file.createdAt));
    }
  }

  async #versions(path: string) {
    const answer = await send(this.api, this.key, { kind: "versions", path, limit: 100 });
    return dataOf(answer, "get_file_versions", versionList).versions.toReversed();
  }

  async #moment({ path, back, by }: MomentChoice): Promise<Moment | undefined> {
    const file: File | undefined = this.#model.files.get(path);
    const made = file ? kept(file) : [];
    const version = made[Math.max(0, made.length - 1 - back)];
    if (!version) return undefined;
    if (by === "time") return { at: version.at, time: version.at };
    const listed = (await this.#versions(path)).find((one) => one.version === version.version);
    return { at: listed?.cursor ?? "", commit: version.commit };
  }

  /** Every file, live or deleted, and the bytes of every version. */
  async #checkEverything(): Promise<void> {
    for (const deleted of [false, true]) {
      await this.#step({ kind: "list", recursive: true, deleted, limit: 100 });
      for (const name of this.#model.branches.names) {
        await this.#step({
          kind: "list",
          directory: `.branches/${name}`,
          recursive: true,
          deleted,
          limit: 100,
        });
      }
    }
    for (const { path, versions } of this.#model.files.values()) {
      if (versions.length > 1) await this.#step({ kind: "versions", path, limit: 100 });
      // Erased and trimmed versions, too: reading them must be refused.
      await inParallel(versions, 4, ({ version }) => this.#step({ kind: "read", path, version, as: "raw" }));
    }
    assertEquals([...this.#model.files.values()].filter(({ id }) => id === ""), []);
    await this.#checkFeed();
  }

  /** The feed must name each version once. The project's state at the feed's middle must be listed correctly, too. */
  async #checkFeed(): Promise<void> {
    const all = await this.#changes();
    const receipts = all.filter(({ operation }) => operation === "purge");
    assertEquals(receipts.map(({ version }) => version), this.#model.receipts);
    assertEquals(receipts.filter(({ path }) => path !== undefined), []);
    const changes = all.flatMap(({ path, ...change }) => path === undefined ? [] : [{ path, ...change }]);
    const told = changes.map(({ path, version, operation, runId = "" }) =>
      [path, version, operation, runId].join(" ")
    );
    const shown = ({ path, version }: { path: string; version: number }) => `${path} ${version}`;
    const files = this.#filesAbove();
    const made = files.flatMap((file) =>
      kept(file).filter(({ redacted }) => !redacted)
        .map(({ version, operation, run = "" }) => [file.path, version, operation, run].join(" "))
    );
    assertEquals(told.toSorted(), made.toSorted());
    await this.#checkRuns();
    const latest = new Map<string, number>();
    for (const { path, version } of changes) {
      assert(version > (latest.get(path) ?? 0), `the feed tells of ${path} in order`);
      latest.set(path, version);
    }
    const change = changes[Math.floor(changes.length / 2)];
    if (!change) return;
    const { cursor } = change;
    // A cursor within a commit stands for the commit's end.
    const { commit = 0 } = this.#model.files.get(change.path)?.versions[change.version - 1] ?? {};
    const live = files.flatMap((file) => {
      const then = versionAt(file, { at: cursor, commit });
      return then && then !== "trimmed" && !then.deleted
        ? [shown({ path: file.path, version: then.version })]
        : [];
    });
    const answer = await this.#get(`/files?recursive=true&limit=100&at=${cursor}`);
    const listed = dataOf(answer, "list_files", fileList).files;
    assertEquals(listed.map(shown).toSorted(), live.toSorted());
  }

  /** Each run must be listed with its versions. */
  async #checkRuns(): Promise<void> {
    const expected = new Map<string, { fileCount: number; versionCount: number }>();
    for (const file of this.#filesAbove()) {
      const seen = new Set<string>();
      for (const { run } of kept(file)) {
        if (run === undefined) continue;
        const counts = expected.get(run) ?? { fileCount: 0, versionCount: 0 };
        counts.versionCount++;
        if (!seen.has(run)) counts.fileCount++;
        seen.add(run);
        expected.set(run, counts);
      }
    }
    const answer = await this.#get("/runs?limit=100");
    const listed = dataOf(answer, "list_runs", runPage).runs.map(({ runId, fileCount, versionCount }) =>
      [runId, { fileCount, versionCount }] as const
    );
    assertEquals(Object.fromEntries(listed), Object.fromEntries(expected));
  }

  /** The files that are in no branch. */
  #filesAbove(): File[] {
    return [...this.#model.files.values()].filter((file) => !isInBranch(file));
  }

  #get(path: string) {
    return this.api.request(this.key, "GET", path);
  }

  async #changes() {
    const changes: ChangePage["changes"] = [];
    for (let after = "";;) {
      const path = `/changes?limit=50${after === "" ? "" : `&after=${after}`}`;
      const page = dataOf(await this.#get(path), "list_changes", changePage);
      changes.push(...page.changes);
      if (!page.hasMore) return changes;
      after = page.cursor;
    }
  }

  async #resolve(operation: Exclude<Operation, { kind: "trim" }>): Promise<Request | undefined> {
    if (operation.kind === "repeat") return this.#lastWithKey;
    if (operation.kind === "batch") {
      const { operations, ...rest } = operation;
      return {
        ...rest,
        key: this.#key(rest.key),
        operations: operations.map((one) => this.#resolveInBatch(one)),
      };
    }
    switch (operation.kind) {
      case "branch":
        return this.#resolveBranch(operation.act);
      case "purge":
        return operation;
      case "redact": {
        const { kind, path, back } = operation;
        return { kind, path, versions: back.map((one) => this.#version(path, one) ?? 1) };
      }
      case "copy_folder":
        return {
          ...operation,
          key: this.#key(operation.key),
          moment: operation.moment && await this.#moment(operation.moment),
        };
      case "move_folder":
      case "delete_folder":
        return { ...operation, key: this.#key(operation.key), moment: undefined };
      case "restore_folder": {
        const moment = await this.#moment(operation.moment);
        return moment && { ...operation, key: this.#key(operation.key), moment, run: this.#nextUndo() };
      }
      case "undo_run": {
        const { undoes } = operation;
        const run = this.#nextUndo();
        return {
          ...operation,
          key: this.#key(operation.key),
          undoes: typeof undoes === "string" ? undoes : `undo-${this.#undos - undoes}`,
          run,
        };
      }
      case "list": {
        const { sort, minSize, maxSize, createdAfter, createdBefore, updatedAfter, updatedBefore, ...rest } =
          operation;
        return {
          ...rest,
          minSize: this.#size(minSize),
          maxSize: this.#size(maxSize),
          sortBy: sort?.by,
          after: sort && "after" in sort ? sort.after : undefined,
          createdAfter: this.#date(createdAfter, "created"),
          createdBefore: this.#date(createdBefore, "created"),
          updatedAfter: this.#date(updatedAfter, "updated"),
          updatedBefore: this.#date(updatedBefore, "updated"),
        };
      }
      case "versions":
        return operation;
      case "diff": {
        const { kind, path, fromBack, toBack } = operation;
        return { kind, path, from: this.#version(path, fromBack), to: this.#version(path, toBack) };
      }
      case "metadata":
      case "read": {
        const { back, ifNoneMatch, ...rest } = operation;
        const { path } = rest;
        const version = this.#version(path, back);
        if (rest.kind === "metadata") {
          return { ...rest, version, ifNoneMatch: this.#tag(path, ifNoneMatch, "m", version) };
        }
        const representation = rest.as === "raw" && !rest.lines ? "r" : "j";
        return {
          ...rest,
          version,
          ifRange: this.#tag(path, rest.ifRange, "r", version),
          ifNoneMatch: this.#tag(path, ifNoneMatch, representation, version),
        };
      }
      default:
        return this.#resolveWrite(operation);
    }
  }

  /** Undefined while there is no branch. */
  #resolveBranch(act: BranchOperation): BranchRequest | Write | undefined {
    const { names } = this.#model.branches;
    if (act.kind === "create_branch") return { ...act, name: `b${names.length + 1}` };
    const name = names.at(-1 - act.branch);
    if (name === undefined) return undefined;
    switch (act.kind) {
      case "get_branch":
      case "close_branch":
        return { kind: act.kind, name };
      case "merge_branch":
      case "update_branch": {
        const { branch: _, ...rest } = act;
        return { ...rest, name, run: this.#nextUndo() };
      }
      default: {
        const { kind, bytes, branch: _, path, ...rest } = act;
        const all = { ...rest, path: `.branches/${name}/${path}` };
        if (kind === "delete") return this.#resolveWrite({ kind, ...all });
        if (kind !== "write") return this.#resolveWrite({ kind, bytes, form: "text", ...all });
        const fields = { type: undefined, ifNoneMatch: undefined };
        return this.#resolveWrite({ kind, bytes, form: "text", ...fields, ...all });
      }
    }
  }

  /** Renames keys after an erasure. */
  #key(key: string | undefined): string | undefined {
    return key && `${key} ${this.#erasures}`;
  }

  #nextUndo(): string {
    return `undo-${++this.#undos}`;
  }

  #resolveInBatch(operation: WriteOperation): Write {
    const { ifMatch: _, ifNoneMatch: __, run: ___, key: ____, ...write } = this.#resolveWrite(operation);
    return { ...write, ...write.kind === "edit" && { dryRun: false } };
  }

  #resolveWrite(given: WriteOperation): Write {
    const ifVersion = this.#number(given.path, given.ifVersion);
    const operation = { ...given, key: this.#key(given.key), ifVersion };
    const ifMatch = this.#tag(operation.path, operation.ifMatch, "j");
    if (operation.kind === "restore") {
      const { kind, path, run, key, back } = operation;
      return { kind, path, run, key, ifMatch, ifVersion, version: this.#version(path, back) ?? 1 };
    }
    if (operation.kind === "write") {
      return { ...operation, ifMatch, ifNoneMatch: this.#tag(operation.path, operation.ifNoneMatch, "j") };
    }
    return { ...operation, ifMatch, ifNoneMatch: undefined };
  }

  #version(path: string, back: number | undefined): number | undefined {
    const latest = this.#model.files.get(path)?.versions.length ?? 0;
    return back === undefined ? undefined : Math.max(1, latest - back);
  }

  #number(path: string, choice: NumberChoice | undefined): number | undefined {
    const latest = this.#model.files.get(path)?.versions.at(-1);
    switch (choice) {
      case undefined:
        return undefined;
      case "fresh":
        return latest?.deleted ? 0 : latest?.version ?? 0;
      case "stale":
        return Math.max(1, (latest?.version ?? 0) - 1);
      case "none":
        return 0;
    }
  }

  #tag(
    path: string,
    choice: TagChoice | undefined,
    representation: "j" | "r" | "m",
    version?: number,
  ): string | undefined {
    const file = this.#model.files.get(path);
    const number = version ?? file?.versions.length ?? 0;
    const tag = (number: number) => `"${file?.id ?? "none"}.${number}.${representation}"`;
    switch (choice) {
      case undefined:
        return undefined;
      case "fresh":
        return tag(number);
      case "stale":
        return tag(number - 1);
      case "weak":
        return `W/${tag(number)}`;
      case "one of two":
        return `"something-else", ${tag(number)}`;
      case "any":
        return "*";
      case "foreign":
        return '"something-else"';
    }
  }

  #size(choice: NearChoice | undefined): number | undefined {
    if (!choice) return undefined;
    const size = this.#model.files.get(choice.path)?.versions.at(-1)?.bytes.length ?? 0;
    return Math.max(0, size + choice.plus);
  }

  #date(choice: NearChoice | undefined, which: "created" | "updated"): string | undefined {
    if (!choice) return undefined;
    const file = this.#model.files.get(choice.path);
    const time = which === "created" ? file?.createdAt : file?.versions.at(-1)?.at;
    return new Date(Date.parse(time ?? "2026-01-01T00:00:00Z") + choice.plus).toISOString();
  }
}
