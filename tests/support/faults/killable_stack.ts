/** A stack on its own data, whose parts tests kill and restart as a supervisor would. */
import { Administration } from "../../../supabase/local/admin/administration.ts";
import { newKey } from "../../../supabase/local/admin/new_key.ts";
import type { PostgresServer } from "../postgres/postgres.ts";
import type { Random } from "../random.ts";
import { freshDataDirectory } from "../stack/fresh_data_directory.ts";
import { kill } from "../stack/processes.ts";
import { StackChild } from "../stack/stack_child.ts";

/** "backends" are the server processes of Postgres that are running a statement. */
export type Victim =
  | "function"
  | "all functions"
  | "stack"
  | "database"
  | "stack and database"
  | "backends";

/** Longest time that a part of the stack is down. */
const DOWN_MILLISECONDS = 500;
const RESUME_TIMEOUT_MILLISECONDS = 60_000;
const PAUSE_MILLISECONDS = 50;

export class KillableStack {
  /** Defects that the function has logged. */
  readonly defects: string[] = [];
  #child: StackChild | undefined;

  constructor(
    protected readonly dataDir: string,
    /** Undefined: the stack uses PGlite. */
    protected readonly server: PostgresServer | undefined,
    protected readonly random: Random,
  ) {}

  static async open<T extends KillableStack>(
    this: new (dataDir: string, server: PostgresServer | undefined, random: Random) => T,
    server: PostgresServer | undefined,
    random: Random,
  ): Promise<T> {
    const stack = new this(await freshDataDirectory(), server, random);
    await stack.start(0);
    return stack;
  }

  async close(): Promise<void> {
    await this.child.stop();
    await Deno.remove(this.dataDir, { recursive: true });
  }

  protected get child(): StackChild {
    if (this.#child === undefined) throw new Error("the stack is not started");
    return this.#child;
  }

  protected get administration(): Administration {
    const { supabaseUrl, secretKey } = this.child.addresses;
    return new Administration(supabaseUrl, secretKey);
  }

  protected async start(port: number): Promise<void> {
    const options = { dataDir: this.dataDir, port, databaseUrl: this.server?.url, functionProcesses: 2 };
    this.#child = await StackChild.start(options, (line) => {
      if (line.includes('"defect"')) this.defects.push(line);
    });
  }

  /** Creates a project with a key that has every right, even if a killed part is still restarting. */
  protected async project(): Promise<{ id: string; name: string; key: string }> {
    const name = `killed ${crypto.randomUUID()}`;
    const { id } = await this.patiently(() => this.administration.createProject(name, "enterprise"));
    const { apiKey, stored } = await newKey();
    await this.administration.createKey(id, "all", stored);
    await this.child.sql(
      "update filestore.api_keys set scopes = '{read,write,admin}' where project_id = $1",
      [id],
    );
    return { id, name, key: apiKey };
  }

  /** The stack restarts the function, and Postgres its own processes. */
  protected async kill(victim: Victim): Promise<void> {
    if (victim === "function" || victim === "all functions") {
      const pids = await this.child.functionPids();
      for (const pid of victim === "function" ? [this.random.pick(pids)] : pids) kill(pid);
      return;
    }
    if (victim === "backends") {
      const backends = await this.child.sql<{ pid: number }>(
        `select pid from pg_catalog.pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid() order by state <> 'active', pid limit 2`,
      );
      for (const { pid } of backends) {
        // Postgres ends all of its server processes when one has died.
        kill(pid);
      }
      return;
    }
    const port = Number(new URL(this.child.addresses.baseUrl).port);
    if (victim.includes("stack")) await this.child.kill();
    if (victim.includes("database")) await this.server?.crash();
    await wait(this.random.below(DOWN_MILLISECONDS));
    if (victim.includes("database")) await this.server?.recover();
    if (victim.includes("stack")) await this.start(port);
  }

  /** Repeats the work until it succeeds. */
  protected async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (const end = performance.now() + RESUME_TIMEOUT_MILLISECONDS;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > end) throw error;
        await wait(PAUSE_MILLISECONDS);
      }
    }
  }
}

export function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
