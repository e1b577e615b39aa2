/** Clients that write, append, edit, delete, restore, copy and move without pause, and keep a ledger. */
import { type Outcome, perform, type Target } from "../client/files_client.ts";
import { type Entry, type Operation, targetOf } from "./ledger.ts";
import type { Random } from "../random.ts";

const PATHS = ["log.txt", "notes/a.md", "notes/b.md", "notes/deep/c.txt", "d"];
/** Appends to one path make segment lists long enough to be compacted. */
const WEIGHTS: readonly (readonly [Operation["kind"], number])[] = [
  ["append", 14],
  ["edit", 6],
  ["write", 3],
  ["overwrite", 1],
  ["delete", 1],
  ["restore", 1],
  ["copy", 1],
  ["move", 1],
];
const KINDS = WEIGHTS.flatMap(([kind, weight]) => Array.from({ length: weight }, () => kind));
/** A client's pause after a request without an answer. */
const PAUSE_MILLISECONDS = 100;
const PROGRESS_TIMEOUT_MILLISECONDS = 60_000;

export interface LoadFigures {
  made: number;
  refused: number;
  /** Requests without an answer, or with one that leaves the outcome open. */
  unknown: number;
  /** Requests that were repeated with their Idempotency-Key until they were answered. */
  resolved: number;
}

export class Load {
  readonly entries: Entry[] = [];
  readonly figures: LoadFigures = { made: 0, refused: 0, unknown: 0, resolved: 0 };
  /** Answers that the contract forbids. */
  readonly failures: unknown[] = [];
  /** For each path, a text that an acknowledged request wrote there, to be edited. */
  readonly #texts = new Map<string, string>();
  readonly #versions = new Map<string, number>();
  readonly #clients: Promise<void>[] = [];
  #isStopped = false;
  #number = 0;

  private constructor(readonly target: Target, readonly random: Random) {}

  /**
   * Writes the files, then starts the clients. Every second client repeats unanswered requests with the same
   * Idempotency-Key.
   */
  static async start(target: Target, random: Random, clients: number): Promise<Load> {
    const load = new Load(target, random);
    for (const path of PATHS) {
      const operation = { kind: "write", path, text: `${path}\n` } as const;
      load.#note(operation, await perform(target, operation));
    }
    for (let client = 0; client < clients; client++) load.#clients.push(load.#run(client % 2 === 1));
    return load;
  }

  /** Waits until `count` more operations are acknowledged. */
  async progress(count: number): Promise<void> {
    const deadline = performance.now() + PROGRESS_TIMEOUT_MILLISECONDS;
    for (const enough = this.figures.made + count; this.figures.made < enough; await pause(5)) {
      if (this.failures.length > 0) return;
      if (performance.now() > deadline) throw new Error("nothing goes on");
    }
  }

  /** Stops the load; each client finishes its request first. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
    if (this.failures.length > 0) throw new AggregateError(this.failures, String(this.failures[0]));
  }

  async #run(isPersistent: boolean): Promise<void> {
    while (!this.#isStopped) {
      const operation = this.#nextOperation();
      try {
        const outcome = isPersistent ? await this.#insist(operation) : await perform(this.target, operation);
        this.#note(operation, outcome);
        if (outcome.kind === "unknown") await pause();
      } catch (error) {
        this.failures.push(error);
        return;
      }
    }
  }

  /** Repeats the operation until it is answered, or the load ends. */
  async #insist(operation: Operation): Promise<Outcome> {
    const headers = { "idempotency-key": crypto.randomUUID() };
    let isOpen = false;
    for (;;) {
      const outcome = await perform(this.target, operation, headers);
      const isAnswer = outcome.kind === "made" ||
        (outcome.kind === "refused" && outcome.code !== "IDEMPOTENCY_KEY_IN_USE");
      if (isOpen && outcome.kind === "made") this.figures.resolved++;
      // A refusal is not stored: an earlier try that is still under way may yet succeed.
      if (isAnswer) {
        return outcome.kind === "refused" && isOpen ? { kind: "unknown", reason: "open" } : outcome;
      }
      if (this.#isStopped) return { kind: "unknown", reason: "stopped" };
      isOpen = true;
      await pause();
    }
  }

  #note(operation: Operation, outcome: Outcome): void {
    this.figures[outcome.kind]++;
    if (outcome.kind === "refused") return;
    const version = outcome.kind === "made" ? outcome.version : undefined;
    this.entries.push({ operation, version });
    const target = targetOf(operation);
    if (version !== undefined) this.#versions.set(target, version);
    if (version !== undefined && "text" in operation) this.#texts.set(target, operation.text);
    if (version !== undefined && "newString" in operation) this.#texts.set(target, operation.newString);
  }

  #nextOperation(): Operation {
    const { random } = this;
    const kind = random.pick(KINDS);
    // Half of all operations are on one file.
    const path = random.below(2) === 0 ? "log.txt" : random.pick(PATHS);
    const text = `${++this.#number} ${"content ".repeat(random.below(60))}\n`;
    switch (kind) {
      case "write":
      case "append":
      case "overwrite":
        return { kind, path, text };
      case "edit":
        return { kind, path, oldString: this.#texts.get(path) ?? "nothing", newString: text };
      case "restore":
        return { kind, path, version: 1 + random.below(this.#versions.get(path) ?? 1) };
      case "copy":
      case "move":
        return { kind, path, destination: random.pick(PATHS.filter((other) => other !== path)) };
      case "delete":
        return { kind, path };
    }
  }
}

function pause(milliseconds = PAUSE_MILLISECONDS): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
