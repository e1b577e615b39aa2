/** Kills a stack in the middle of erasures and sweeps, then searches everything that is stored for what was erased. */
import { assert, assertEquals } from "@std/assert";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { encodePath } from "../client/files.ts";
import { assertConsistent } from "../postgres/consistency.ts";
import { KillableStack, type Victim, wait } from "./killable_stack.ts";

export const ERASURES = ["purge", "redact", "retention", "deletedDays", "project"] as const;
export type Erasure = (typeof ERASURES)[number];
export const VICTIMS: readonly Victim[] = ["function", "backends", "all functions", "database", "stack"];

const SWEEPERS = 2;
/** Pause before a client repeats a request that was not answered. */
const PAUSE_MILLISECONDS = 50;
/** Consecutive answers, from any process of the function, after which the stack counts as ready. */
const READY_ANSWERS = 6;

interface Kept {
  readonly key: string;
  readonly contents: ReadonlyMap<string, string>;
}

export class ErasureLab extends KillableStack {
  /** The texts to be erased, which occur in contents, paths and notes. */
  readonly canaries: string[] = [];
  readonly #kept: Kept[] = [];

  /** Erases a project's canary while sweeps run and the victim is killed. Returns once the erasure is acknowledged. */
  async round(erasure: Erasure, victim: Victim): Promise<void> {
    const canary = crypto.getRandomValues(new Uint8Array(32)).toHex();
    const project = await this.project();
    await this.#ready(project.key);
    const erase = await this.#write(project, canary, erasure);
    this.canaries.push(canary);
    const stop = new AbortController();
    const sweepers = Array.from({ length: SWEEPERS }, () => this.#sweepUntil(stop.signal));
    const erased = erase();
    await wait(this.random.below(60));
    await this.kill(victim);
    await erased;
    stop.abort();
    await Promise.all(sweepers);
  }

  /** Runs one complete sweep, once the part killed last runs again. */
  async sweep(): Promise<void> {
    const [kept] = this.#kept;
    if (kept === undefined) throw new Error("Nothing is kept: there was no round.");
    await this.#ready(kept.key);
    const begun = new Date();
    while (!(await this.administration.sweep(begun)).isDone);
  }

  /** Throws if something erased is still stored, or if something else is missing. */
  async verify(): Promise<void> {
    assertEquals(this.defects, []);
    await assertConsistent((statement) => this.child.sql(statement));
    for (const { key, contents } of this.#kept) {
      for (const [path, content] of contents) {
        const { status, text } = await this.#call(key, "GET", `/files/${encodePath(path)}`);
        assertEquals([status, JSON.parse(text).data?.content], [200, content], path);
      }
    }
    const { code, stdout, stderr } = await new Deno.Command("pg_dump", { args: [this.server?.url ?? ""] })
      .output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const dump = new TextDecoder().decode(stdout);
    assert(dump.includes("COPY filestore.file_versions"), "the dump has rows");
    this.#assertNone(dump, "pg_dump");
    let objects = 0;
    for (const entry of await readdir(this.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      this.#assertNone(path, path);
      this.#assertNone(new TextDecoder("latin1").decode(await Deno.readFile(path)), path);
      objects++;
    }
    assert(objects >= this.#kept.length, "there are objects");
  }

  #assertNone(text: string, where: string): void {
    for (const [round, canary] of this.canaries.entries()) {
      // Bytes are hexadecimal in a dump.
      const hex = new TextEncoder().encode(canary).toHex();
      for (const form of [canary, hex]) {
        const at = text.indexOf(form);
        assert(at < 0, `round ${round + 1}: ${where} has ${text.slice(Math.max(0, at - 200), at + 50)}`);
      }
    }
  }

  async #ready(key: string): Promise<void> {
    for (let answers = 0; answers < READY_ANSWERS;) {
      const { status } = await this.patiently(() => this.#call(key, "GET", "/files"));
      answers = status === 200 ? answers + 1 : 0;
    }
  }

  /** Writes files to be erased, and files that stay but use the same segments. Returns the function that erases. */
  async #write(
    { id, name, key }: { id: string; name: string; key: string },
    canary: string,
    erasure: Erasure,
  ): Promise<() => Promise<void>> {
    // A redacted or trimmed file keeps its path.
    const path = erasure === "redact" || erasure === "retention"
      ? "dir/f.md"
      : `dir-${canary}/f-${canary}.md`;
    const encoded = encodePath(path);
    const said = { "x-change-note": `because ${canary}`, "idempotency-key": `once ${canary.slice(0, 8)}` };
    const must = async (method: string, route: string, body?: unknown, headers = {}) => {
      const { status, text } = await this.#call(key, method, route, body, headers);
      assertEquals(status, 200, `${method} ${route}: ${text}`);
    };
    const common = `stays of ${id}\n`;
    await must("POST", "/files", { path, content: common });
    await must("PUT", `/files/copy/${encoded}`, { destination: "kept.md" });
    await must("PUT", `/files/append/${encoded}`, { content: `secret ${canary}\n` }, said);
    for (let count = 0; count < 12; count++) {
      await must("PUT", `/files/append/${encoded}`, { content: `${count} of ${canary}\n` });
    }
    await must("PUT", `/files/edit/${encoded}`, { oldString: "secret", newString: "known" });
    const kept = new Map([["kept.md", common]]);
    if (erasure !== "project") this.#kept.push({ key, contents: kept });
    const versions = 15;
    switch (erasure) {
      case "purge":
        return () => this.#insist(key, "DELETE", `/files/${encoded}?purge`, undefined, [200, 404]);
      case "project":
        return () =>
          this.#insist(key, "DELETE", `/project?confirm=${encodeURIComponent(name)}`, undefined, [200, 401]);
      case "redact": {
        await must("PUT", `/files/overwrite/${encoded}`, { content: "clean\n" });
        kept.set(path, "clean\n");
        const body = { versions: Array.from({ length: versions }, (_, index) => index + 1) };
        return () => this.#insist(key, "POST", `/files/redact/${encoded}`, body, [200]);
      }
      case "retention":
        await must("PUT", `/files/overwrite/${encoded}`, { content: "clean\n" });
        kept.set(path, "clean\n");
        return () => this.#insist(key, "PATCH", "/project", { retention: { keepVersions: 1 } }, [200]);
      case "deletedDays":
        await must("DELETE", `/files/${encoded}`);
        await this.child.sql(
          `with older as (
             update filestore.file_versions v set created_at = v.created_at - interval '5 days'
             from filestore.files f where f.id = v.file_id and f.project_id = $1 and f.is_deleted)
           update filestore.files set created_at = created_at - interval '5 days',
             updated_at = updated_at - interval '5 days' where project_id = $1 and is_deleted`,
          [id],
        );
        return () => this.#insist(key, "PATCH", "/project", { retention: { deletedDays: 1 } }, [200]);
    }
  }

  async #call(
    key: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const response = await fetch(this.child.ready.baseUrl + path, {
      method,
      headers: {
        ...headers,
        "x-api-key": key,
        ...body !== undefined && { "content-type": "application/json" },
      },
      ...body !== undefined && { body: JSON.stringify(body) },
    });
    return { status: response.status, text: await response.text() };
  }

  /** Repeats the request until it is answered, whatever is killed. */
  async #insist(
    key: string,
    method: string,
    path: string,
    body: unknown,
    done: readonly number[],
  ): Promise<void> {
    await this.patiently(async () => {
      const { status, text } = await this.#call(key, method, path, body);
      if (!done.includes(status)) throw new Error(`${method} ${path.slice(0, 40)}: ${status} ${text}`);
    });
  }

  async #sweepUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { baseUrl, secretKey } = this.child.ready;
      const headers = { authorization: `Bearer ${secretKey}` };
      await fetch(`${baseUrl}/sweep`, { method: "POST", headers }).then((answer) => answer.text())
        .catch(() => wait(PAUSE_MILLISECONDS));
    }
  }
}
