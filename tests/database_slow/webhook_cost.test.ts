/** What webhooks cost a write: in its own transaction nothing, and for deliveries at most a twentieth of the log. */
import { assertEquals, assertLessOrEqual } from "@std/assert";
import type postgres from "postgres";
import { PROJECT_WEBHOOKS_MAX, WEBHOOK_CHANGES_MAX } from "../../supabase/functions/api/limits.ts";
import { commit, makeProject, type Project, valueOf } from "../support/postgres/postgres_filestore.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import { report } from "../support/runner/long.ts";

const WRITES = 200;

interface Cost {
  /** Bytes of write-ahead log. */
  readonly wal: number;
  /** Scans of tables and indexes: each statement inside of the functions makes at least one. */
  readonly scans: number;
  readonly rows: number;
}

async function countersOf(sql: postgres.Sql): Promise<Cost> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ wal: string; scans: string; rows: string }[]>`
    select pg_current_wal_insert_lsn() - '0/0' as wal, sum(seq_scan + coalesce(idx_scan, 0)) as scans,
           sum(n_tup_ins + n_tup_upd + n_tup_del) as rows
    from pg_stat_user_tables where schemaname = 'filestore'`;
  return { wal: Number(row?.wal), scans: Number(row?.scans), rows: Number(row?.rows) };
}

/** The cost of `work`, of all in it together. */
async function costOf(sql: postgres.Sql, work: () => Promise<void>): Promise<Cost> {
  // Without it, the first change of a page would be logged with all of the page.
  await sql`checkpoint`;
  const before = await countersOf(sql);
  await work();
  const after = await countersOf(sql);
  return { wal: after.wal - before.wal, scans: after.scans - before.scans, rows: after.rows - before.rows };
}

async function write(sql: postgres.Sql, project: Project): Promise<void> {
  for (let n = 0; n < WRITES; n++) {
    valueOf(await commit(sql, project, "write", { path: `folder/${n % 50}.txt`, segments: [] }));
  }
}

/** One delivery after the other, as isolates do it, until none is due; returns the number. */
async function deliver(sql: postgres.Sql, project: Project): Promise<number> {
  let deliveries = 0;
  const [found] = await sql<{ due: { due: { id: string }[] } }[]>`
    select public.filestore_sweep_webhooks(${project.id}::uuid, 100) as due`;
  for (const { id } of found?.due.due ?? []) {
    for (let tried: postgres.JSONValue = null;; deliveries++) {
      const [row]: { step: { id: string; leaseId: string; type: string | null } | null }[] = await sql`
        select public.filestore_webhook_step(${project.id}::uuid, ${id}::uuid, ${
        tried && JSON.stringify(tried)
      }::text::jsonb) as step`;
      if (!row?.step) break;
      tried = { id: row.step.id, leaseId: row.step.leaseId, type: "change", attempt: 1, status: 200 };
    }
  }
  return deliveries;
}

Deno.test("a write in a project with ten webhooks does what one without them does", async () => {
  const server = await startPostgres();
  const { superuserUrl } = await createMigrated(server, "webhook_cost");
  const sql = connect(superuserUrl, 1);
  try {
    const [plain, hooked] = [await makeProject(sql, "plain"), await makeProject(sql, "hooked")];
    await sql`update filestore.api_keys set scopes = '{admin,read,write}'`;
    for (let n = 0; n < PROJECT_WEBHOOKS_MAX; n++) {
      const hook = { id: crypto.randomUUID(), url: "https://hooks.example.com/", secret: "x".repeat(96) };
      await sql`select public.filestore_administer(${hooked.keyHash}, null, 'create_webhook', ${
        JSON.stringify(hook)
      }::text::jsonb)`;
    }
    for (const project of [plain, hooked]) await write(sql, project);
    await deliver(sql, hooked);
    const without = await costOf(sql, () => write(sql, plain));
    const withTen = await costOf(sql, () => write(sql, hooked));
    let deliveries = 0;
    const delivering = await costOf(sql, async () => void (deliveries = await deliver(sql, hooked)));
    assertEquals(deliveries, PROJECT_WEBHOOKS_MAX * WRITES / WEBHOOK_CHANGES_MAX);
    const each = ({ wal, scans, rows }: Cost) =>
      [wal, scans, rows].map((sum) => Math.round(sum / WRITES)).join(" ");
    report("webhook cost of a write: bytes of log, scans, rows", {
      without: each(without),
      "with ten": each(withTen),
      deliveries: each(delivering),
    });
    // The log of the same writes varies by some percent with the pages of indexes that are split.
    assertEquals([withTen.scans, withTen.rows], [without.scans, without.rows]);
    assertLessOrEqual(delivering.wal, without.wal * 0.05);
  } finally {
    await sql.end();
    await server.stop();
  }
});
