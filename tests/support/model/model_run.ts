/** Runs one sequence of operations against the service and the model. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { inParallel } from "../in_parallel.ts";
import { Model, type Write } from "./model.ts";
import type { NearChoice, Operation, TagChoice, VersionChoice } from "./model_operations.ts";
import { diff, list, metadata, read, versions } from "./model_reads.ts";
import { check, type Expected, type Request, send } from "./model_wire.ts";

export class ModelRun {
  readonly #model = new Model();
  #lastWithKey: Write | undefined;
  /** Operations by kind, and how many of them were refused. */
  readonly counts = new Map<string, number>();

  constructor(private readonly baseUrl: string, private readonly key: string) {}

  async run(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      const request = this.#resolve(operation);
      if (request) await this.#step(request);
    }
    await this.#checkEverything();
  }

  async #step(request: Request): Promise<void> {
    const expected = this.#expect(request);
    const answer = await send(this.baseUrl, this.key, request);
    check(request, expected, answer);
    const outcome = "refused" in expected ? ` ${expected.refused}` : "";
    this.counts.set(request.kind + outcome, (this.counts.get(request.kind + outcome) ?? 0) + 1);
    if (request.kind === "move") await this.#learnTombstone(request.path);
  }

  #expect(request: Request): Expected {
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
      default:
        if (request.key !== undefined) this.#lastWithKey = request;
        return this.#model.write(request);
    }
  }

  /** A move answers the destination; when its source was deleted is in the version list. */
  async #learnTombstone(path: string): Promise<void> {
    const last = this.#model.files.get(path)?.versions.at(-1);
    if (!last || last.at !== "") return;
    const answer = await send(this.baseUrl, this.key, { kind: "versions", path, limit: 1 });
    const shape = z.object({ data: z.object({ versions: z.array(z.object({ createdAt: z.string() })) }) });
    last.at = shape.parse(answer.body).data.versions[0]?.createdAt ?? "";
    assert(last.at >= (this.#model.files.get(path)?.versions.at(-2)?.at ?? ""));
  }

  /** Every file, live or deleted, and the bytes of every version. */
  async #checkEverything(): Promise<void> {
    for (const deleted of [false, true]) {
      await this.#step({ kind: "list", recursive: true, deleted, limit: 100 });
    }
    for (const { path, versions } of this.#model.files.values()) {
      if (versions.length > 1) await this.#step({ kind: "versions", path, limit: 100 });
      await inParallel(versions, 4, ({ version }) => this.#step({ kind: "read", path, version, as: "raw" }));
    }
    assertEquals([...this.#model.files.values()].filter(({ id }) => id === ""), []);
  }

  #resolve(operation: Operation): Request | undefined {
    if (operation.kind === "repeat") return this.#lastWithKey;
    switch (operation.kind) {
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

  #resolveWrite(operation: Extract<Operation, { readonly ifMatch?: unknown }>): Write {
    const ifMatch = this.#tag(operation.path, operation.ifMatch, "j");
    if (operation.kind === "restore") {
      const { kind, path, key, back } = operation;
      return { kind, path, key, ifMatch, version: this.#version(path, back) ?? 1 };
    }
    if (operation.kind === "write") {
      return { ...operation, ifMatch, ifNoneMatch: this.#tag(operation.path, operation.ifNoneMatch, "j") };
    }
    return { ...operation, ifMatch, ifNoneMatch: undefined };
  }

  #version(path: string, back: VersionChoice | undefined): number | undefined {
    const latest = this.#model.files.get(path)?.versions.length ?? 0;
    return back === undefined ? undefined : Math.max(1, latest - back);
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
