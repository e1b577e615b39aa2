/** Cases of faults: an operation whose calls to the back end are broken, and what must then be true. */
import { assert, assertEquals } from "@std/assert";
import { BACKEND_TRIES_MAX } from "../../../supabase/functions/api/limits.ts";
import { actsBefore, type Fault, type Watch } from "./faults.ts";
import { isRecorded, recordedFor } from "./recorded_answers.ts";
import { codeOf, type Laboratory, type Outcome, type ProjectState, type Tenant, text } from "./laboratory.ts";
import { IS_LONG } from "../runner/long.ts";
import { type Operation, prepareFor } from "./operations.ts";

/** What an operation does when nothing fails. */
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

  /** The last of the preparations so far. */
  #prepared: Promise<void> = Promise.resolve();

  constructor(private readonly lab: Laboratory) {}

  /** One after another, so that large bodies do not wait for each other's share of memory. */
  #prepare(tenant: Tenant, operation: Operation): Promise<void> {
    const prepared = this.#prepared.then(() => prepareFor(this.lab, tenant, operation));
    this.#prepared = prepared.catch(() => {/* whoever asked for it is told */});
    return prepared;
  }

  /** What the operation does when nothing fails; found out once. */
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

  /** With a recorded answer that lasts, calls of the other target get one that fits. */
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

/** An answer without what differs from one run to the next. */
export function shown(outcome: Outcome): string {
  if (outcome.headers.get("content-type") === "application/zip") return withoutTimes(outcome.bytes);
  return text(outcome)
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/\/l\/[\w-]{43}/g, "/l/TOKEN")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    // As a field, and in a tool's text.
    .replaceAll(/(?<="cursor":"|since=)[0-9a-f]{32}/g, "CURSOR");
}

/** An archive whose entries have no times: they are 10 bytes after the mark of a header, 12 of one in the directory. */
function withoutTimes(archive: Uint8Array): string {
  return new TextDecoder("latin1").decode(archive)
    // deno-lint-ignore no-control-regex
    .replaceAll(/(?<=PK\x03\x04[^]{6}|PK\x01\x02[^]{8})[^]{4}/g, "TIME");
}

/** A read that had begun to answer can only break off. */
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

/** What the state must be, by what the client was told and what the broken call had done. */
export function assertWhole(
  { outcome, state }: Ran,
  { operation, fault, lasts }: Case,
  whole: Expected,
): void {
  if (outcome.status < 300) return assertState(state, whole.after, "after");
  const isAfter = JSON.stringify(state.files) === JSON.stringify(whole.after.files);
  // The back end acted and could not say so: the whole of it, or nothing.
  if (lasts && actsBefore(fault) && operation.writes && isAfter) {
    return assertState(state, whole.after, "after");
  }
  assertState(state, whole.before, "before");
}

/** Says which parts differ: a whole state is too long to be read. */
export function assertState(state: ProjectState, wanted: ProjectState, name: string): void {
  const parts = ["files", "versions", "dead", "idempotencyKeys"] as const;
  const other = parts.filter((part) => JSON.stringify(state[part]) !== JSON.stringify(wanted[part]));
  const shown = other.map((part) =>
    `${part} ${JSON.stringify(state[part])} not ${JSON.stringify(wanted[part])}`
  );
  assert(other.length === 0, `the state is not as ${name}: ${shown.join(" ").slice(-300)}`);
}

/**
 * No call was tried more often than BACKEND_TRIES_MAX. Those to Storage, which may be repeated at will, the
 * platform's `fetch` sends once more by itself when a kept connection breaks.
 */
export function assertBounded({ watch }: Ran, whole: Expected): void {
  for (const { name, url } of watch.calls) {
    const tries = watch.calls.filter((call) => call.name === name && call.url === url).length;
    const isStorage = !name.startsWith("filestore_");
    // An object of storage may be asked for that the function still had in memory when nothing was broken.
    const calls = isStorage ? 1 : Math.max(1, whole.calls.filter((call) => call === name).length);
    assert(tries <= calls * BACKEND_TRIES_MAX * (isStorage ? 2 : 1), `${name} was tried ${tries} times`);
  }
}

/** The calls that a fault meets: all of them; in the short form the first and the last of each kind. */
export function interesting(calls: readonly string[]): number[] {
  return calls.flatMap((name, index) =>
    IS_LONG || calls.indexOf(name) === index || calls.lastIndexOf(name) === index ? [index + 1] : []
  );
}

/** The same cases, those of one operation far from each other. */
export function spread(cases: readonly Case[]): Case[] {
  const stride = 13;
  return Array.from({ length: stride }).flatMap((_, offset) =>
    cases.filter((_, index) => index % stride === offset)
  );
}
