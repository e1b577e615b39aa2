import { assertEquals } from "@std/assert";
import { CompiledQuery, type Kysely } from "kysely";
import { asOneRequest } from "../../supabase/local/database/pglite_session.ts";
import { openPglite } from "../../supabase/local/database/pglite_database.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

Deno.test("PgliteSession keeps the requests on PGlite's one session apart", (t) =>
  withScratchDirectory(async (path) => {
    const database = await openPglite(path);
    const db: Kysely<unknown> = database.connection.kysely;
    const query = (on: Kysely<unknown>, sql: string) =>
      on.executeQuery<{ value: string }>(CompiledQuery.raw(sql));
    const role = async (on: Kysely<unknown>) =>
      (await query(on, "select current_user as value")).rows[0]?.value;
    await database.script("create role anon; create table numbers (n int)");

    await t.step("a query beside an open transaction does not run under its role", async () => {
      const seen = await Promise.all([
        db.transaction().execute(async (transaction) => {
          await query(transaction, "set local role anon");
          await pause();
          return await role(transaction);
        }),
        pause().then(() => role(db)),
      ]);
      assertEquals(seen, ["anon", "postgres"]);
    });

    await t.step("a transaction that fails takes nothing of another along", async () => {
      await Promise.allSettled(
        Array.from({ length: 20 }, (_, n) =>
          db.transaction().execute(async (transaction) => {
            await query(transaction, `insert into numbers values (${n})`);
            await pause();
            if (n % 2 === 0) throw new Error("rolled back");
          })),
      );
      const { rows } = await query(db, "select string_agg(n::text, ',' order by n) as value from numbers");
      assertEquals(rows[0]?.value, "1,3,5,7,9,11,13,15,17,19");
    });

    await t.step("a request that queries beside its own transaction does not wait for itself", async () => {
      const seen = await asOneRequest(() =>
        db.transaction().execute(async (transaction) => [await role(transaction), await role(db)])
      );
      assertEquals(seen, ["postgres", "postgres"]);
    });

    await database.close();
  }));
