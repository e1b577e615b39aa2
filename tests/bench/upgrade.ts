/** Measures how long each migration since the first release holds its locks, in a database of many files and in one of few. */
import { startPostgres } from "../support/postgres/postgres.ts";
import {
  applyMigrations,
  createHostedLike,
  listMigrations,
  withConnection,
} from "../support/postgres/postgres_hosted.ts";
import { type Bench, sized } from "./bench.ts";
import type { Times } from "./measure.ts";
import { populate } from "./populate.ts";
import { atMost } from "./report.ts";

const MANY = 1_000_000;
const FEW = 1_000;
const ROUNDS = 3;
/** No table of files is locked for longer. */
const LOCKED_MILLISECONDS_MAX = 1_000;

export async function upgrade({ report }: Bench): Promise<void> {
  report.group("Migrations, each in its transaction, at 1,000,000 files");
  const server = await startPostgres({ durable: true });
  const times = new Map<string, { many: number[]; few: number[] }>();
  const [initial = "", ...later] = listMigrations();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [kind, files] of [["many", sized(MANY)], ["few", FEW]] as const) {
        const database = await createHostedLike(server, `${kind}_${round}`);
        await withConnection(database.url, (sql) => applyMigrations(sql, [initial]));
        await withConnection(database.superuserUrl, async (sql) => {
          const [project] = await sql<{ id: string }[]>`
            insert into filestore.projects (name, tier) values ('large', 'enterprise') returning id`;
          const script = (text: string) => sql.begin((transaction) => transaction.unsafe(text).simple());
          if (project) await populate({ script }, [project], { files, filesPerDirectory: 1000 });
        });
        await withConnection(database.url, async (sql) => {
          for (const name of later) {
            const started = performance.now();
            await applyMigrations(sql, [name]);
            const found = times.get(name) ?? { many: [], few: [] };
            found[kind].push(performance.now() - started);
            times.set(name, found);
          }
        });
      }
    }
  } finally {
    await server.stop();
  }
  for (const [name, { many, few }] of times) {
    report.times(name, many satisfies Times, "at 1,000 files", few, atMost(LOCKED_MILLISECONDS_MAX, "value"));
  }
}
