/** Sessions are checked as far as the database's Auth records them; an older Auth lacks some columns and tables. */
import { assertEquals } from "@std/assert";
import { startPostgres } from "../support/postgres/postgres.ts";
import { createMigrated, withConnection } from "../support/postgres/postgres_hosted.ts";

const ACCOUNT = "0a000000-0000-4000-8300-000000000000";
const SESSION = "0a000000-0000-4000-8400-000000000000";

/** Successive changes of Auth's schema, and the claims below that are accepted after each. */
const CHANGES: readonly (readonly [string, string, readonly boolean[]])[] = [
  ["as it is", "select 1", [true, false, false]],
  ["without sessions.not_after", "alter table auth.sessions drop column not_after", [true, false, false]],
  ["without second factors", "drop table auth.mfa_factors", [true, false, false]],
  ["without sessions", "drop table auth.sessions", [true, true, true]],
];

const CLAIMS = [{ session_id: SESSION }, { session_id: ACCOUNT }, {}];

Deno.test("where Auth keeps sessions a token must be of one; where it keeps none its claims alone decide", async (t) => {
  const server = await startPostgres();
  try {
    const { superuserUrl } = await createMigrated(server, "sessions");
    await withConnection(superuserUrl, async (sql) => {
      await sql`insert into auth.users (id) values (${ACCOUNT})`;
      await sql`insert into auth.sessions (id, user_id) values (${SESSION}, ${ACCOUNT})`;
      for (const [name, change, expected] of CHANGES) {
        await t.step(name, async () => {
          await sql.unsafe(change);
          const accepted: boolean[] = [];
          for (const more of CLAIMS) {
            const claims = JSON.stringify({ sub: ACCOUNT, role: "authenticated", aal: "aal1", ...more });
            await sql`select set_config('request.jwt.claims', ${claims}, false)`;
            const [row] = await sql<{ id: string | null }[]>`select filestore.current_account_id() as id`;
            accepted.push(row?.id === ACCOUNT);
          }
          assertEquals(accepted, expected);
        });
      }
    });
  } finally {
    await server.stop();
  }
});
