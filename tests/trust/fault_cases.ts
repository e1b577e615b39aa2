/** Fault cases: an operation with broken calls to the back end, and what must hold afterwards. */
import { assert, assertEquals } from "@std/assert";
import { BACKEND_TRIES_MAX } from "../../supabase/functions/api/limits.ts";
import { actsBefore, type Fault, type Watch } from "../support/faults/faults.ts";
import { isRecorded, recordedFor } from "../support/faults/recorded_answers.ts";
import type { Isolates } from "../support/faults/isolates.ts";
import { codeOf, type Outcome, type ProjectState, type Tenant, text } from "../support/faults/laboratory.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { type Operation, prepareFor } from "../support/faults/operations.ts";

/** The result of an operation when nothing fails. */
export interface Expected {
  readonly calls: readonly string[];
  readonly before: ProjectState;
  readonly after: ProjectState;
  readonly answer: string;
}

export interface Case {
  readonly operation: Operation;
  readonly n: number;
  readonly fault: Fault;
  /** Whether all later calls fail as well. */
  readonly lasts: boolean;
}

export interface Ran {
  readonly tenant: Tenant;
  readonly outcome: Outcome;
  readonly watch: Watch;
  readonly milliseconds: number;
  readonly state: ProjectState;
}

export class FaultCases {
  readonly #expected = new Map<string, Expected>();

  /** Ends with the last preparation so far. */
  #prepared: Promise<void> = Promise.resolve();

  constructor(private readonly lab: Isolates) {}

  /** Prepares one operation after another, so that large bodies do not wait for the memory that others have reserved. */
  #prepare(tenant: Tenant, operation: Operation): Promise<void> {
    const prepared = this.#prepared.then(() => prepareFor(this.lab, tenant, operation));
    this.#prepared = prepared.catch(() => {/* the caller gets the failure */});
    return prepared;
  }

  /** The operation's result when nothing fails; computed once. */
  async expectedOf(operation: Operation): Promise<Expected> {
    const known = this.#expected.get(operation.name);
    if (known) return known;
    const tenant = await this.lab.tenant();
    await this.#prepare(tenant, operation);
    const before = await this.lab.state(tenant);
    const watch = this.lab.watch(tenant, () => null);
    const outcome = await this.lab.send(tenant, operation);
    this.lab.unwatch(watch);
    assert(outcome.status < 300, `${operation.name}: ${text(outcome)}`);
    const after = await this.lab.state(tenant);
    const found = { calls: watch.calls.map(({ name }) => name), before, after, answer: shown(outcome) };
    this.#expected.set(operation.name, found);
    return found;
  }

  /** If a recorded answer is given to all later calls, calls of the other target get an answer that suits them. */
  async run({ operation, n, fault, lasts }: Case): Promise<Ran> {
    return await this.runWith(operation, (number, name) => {
      if (lasts ? number < n : number !== n) return null;
      const fits = !isRecorded(fault) || recordedFor(name).includes(fault);
      return fits ? fault : "gatewayPage502";
    });
  }

  async runWith(
    operation: Operation,
    decide: Watch["decide"],
    headers: Record<string, string> = {},
  ): Promise<Ran> {
    const tenant = await this.lab.tenant();
    await this.#prepare(tenant, operation);
    const watch = this.lab.watch(tenant, decide);
    const started = this.lab.now(tenant);
    const outcome = await this.lab.send(tenant, {
      ...operation,
      headers: { ...operation.headers, ...headers },
    });
    const milliseconds = this.lab.now(tenant) - started;
    this.lab.unwatch(watch);
    return { tenant, outcome, watch, milliseconds, state: await this.lab.state(tenant) };
  }
}

/** The answer, without the parts that differ between runs. */
export function shown(outcome: Outcome): string {
  if (outcome.headers.get("content-type") === "application/zip") return withoutTimes(outcome.bytes);
  return text(outcome)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\/l\/[\w-]{43}/g, "/l/TOKEN")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    // In a field, and in a tool's text.
    .replaceAll(/(?<="cursor":"|"base":"|since=)[0-9a-f]{32}/g, "CURSOR");
}

/**
 * The archive with its times replaced: they are 10 bytes after the signature of a local header, 12 after that of a
 * directory entry.
 */
function withoutTimes(archive: Uint8Array): string {
  return new TextDecoder("latin1").decode(archive)
    // deno-lint-ignore no-control-regex
    .replaceAll(/(?<=PK\x03\x04[^]{6}|PK\x01\x02[^]{8})[^]{4}/g, "TIME");
}

/** A read that fails after it has begun to answer can only break off. */
export function isBrokenRead({ outcome }: Ran, operation: Operation): boolean {
  return outcome.broken && !operation.writes;
}

export function assertClean(ran: Ran, operation: Operation): void {
  if (isBrokenRead(ran, operation)) return;
  const { outcome } = ran;
  assert(!outcome.broken, "the answer broke off");
  assert(outcome.headers.has("x-request-id"));
  if (outcome.status < 300) return;
  assertEquals([outcome.status, codeOf(outcome)], [503, "SERVICE_UNAVAILABLE"], text(outcome));
  assert(Number(outcome.headers.get("retry-after")) >= 1, "a 503 says when to come back");
  assertEquals(outcome.headers.get("cache-control"), "no-store");
  for (const internal of ["an internal matter", "Gateway", "filestore_", "127.0.0.1"]) {
    assert(!text(outcome).includes(internal), `the answer tells of internals: ${internal}`);
  }
}

/** Asserts the state that must hold, given the client's answer and the effect of the broken call. */
export function assertWhole(
  { outcome, state }: Ran,
  { operation, fault, lasts }: Case,
  whole: Expected,
): void {
  if (outcome.status < 300) return assertState(state, whole.after, "after");
  const changed = ({ files, branches }: ProjectState) => JSON.stringify([files, branches]);
  const isAfter = changed(state) === changed(whole.after);
  // The back end acted but could not report it: all changes are there, or none.
  if (lasts && actsBefore(fault) && operation.writes && isAfter) {
    return assertState(state, whole.after, "after");
  }
  assertState(state, whole.before, "before");
}

/** The message names the parts that differ, since a whole state is too long to read. */
export function assertState(state: ProjectState, wanted: ProjectState, name: string): void {
  const parts = ["files", "versions", "dead", "idempotencyKeys", "branches"] as const;
  const other = parts.filter((part) => JSON.stringify(state[part]) !== JSON.stringify(wanted[part]));
  const shown = other.map((part) =>
    `${part} ${JSON.stringify(state[part])} not ${JSON.stringify(wanted[part])}`
  );
  assert(other.length === 0, `the state is not as ${name}: ${shown.join(" ").slice(-300)}`);
}

/**
 * Asserts that no call was tried more than BACKEND_TRIES_MAX times. A call to Storage may be repeated freely: the
 * platform's `fetch` sends it once more when a kept connection breaks.
 */
export function assertBounded({ watch }: Ran, whole: Expected): void {
  for (const { name, url } of watch.calls) {
    const tries = watch.calls.filter((call) => call.name === name && call.url === url).length;
    const isStorage = !name.startsWith("filestore_");
    // The function may fetch an object that it still had in memory in the run without faults.
    const calls = isStorage ? 1 : Math.max(1, whole.calls.filter((call) => call === name).length);
    assert(tries <= calls * BACKEND_TRIES_MAX * (isStorage ? 2 : 1), `${name} was tried ${tries} times`);
  }
}

/** The numbers of the calls to break: all of them; in the short form the first and last of each kind. */
export function interesting(calls: readonly string[]): number[] {
  return calls.flatMap((name, index) =>
    IS_LONG || calls.indexOf(name) === index || calls.lastIndexOf(name) === index ? [index + 1] : []
  );
}

/** The same cases, reordered so that those of one operation are far apart. */
export function spread(cases: readonly Case[]): Case[] {
  const stride = 13;
  return Array.from({ length: stride }).flatMap((_, offset) =>
    cases.filter((_, index) => index % stride === offset)
  );
}
