/** The settings of a request are set by one statement instead of a dozen, with the same effect. */
import { assertEquals } from "@std/assert";
import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";
import { JoinedSettings } from "../../supabase/local/database/joined_settings.ts";

class RecordingSession implements DatabaseConnection {
  readonly statements: (readonly [string, readonly unknown[]])[] = [];

  executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    this.statements.push([sql, parameters]);
    return Promise.resolve({ rows: [] });
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("not used");
  }
}

/** The statements that reach the session. */
async function statementsOf(...queries: readonly (readonly [string, ...unknown[]])[]) {
  const session = new RecordingSession();
  const joined = new JoinedSettings(session);
  for (const [sql, ...parameters] of queries) await joined.executeQuery(CompiledQuery.raw(sql, parameters));
  return session.statements;
}

const ROLE = ["SELECT set_config('role', $1, true)", "service_role"] as const;
const STATUS = ["SELECT set_config('response.status', '', true)"] as const;

Deno.test("JoinedSettings sends the settings in one statement, in order, before the one that follows", async () => {
  assertEquals(await statementsOf(["start transaction"], ROLE, STATUS, ["select $1", 1], ["commit"]), [
    ["start transaction", []],
    ["select set_config('role', $1, true), set_config('response.status', $2, true)", ["service_role", ""]],
    ["select $1", [1]],
    ["commit", []],
  ]);
});

Deno.test("JoinedSettings drops settings that their transaction ends without using", async () => {
  for (const end of ["commit", "rollback"]) {
    assertEquals(await statementsOf(["start transaction"], ROLE, [end], ["select 1"]), [
      ["start transaction", []],
      [end, []],
      ["select 1", []],
    ]);
  }
});

Deno.test("JoinedSettings leaves settings of the session, and those among other columns, as they are", async () => {
  const others = [
    ["select set_config('role', $1, false)", "anon"],
    ["select set_config('role', $1, true), 1", "anon"],
  ] as const;
  for (const other of others) {
    assertEquals(await statementsOf(other), [[other[0], other.slice(1)]]);
  }
});
