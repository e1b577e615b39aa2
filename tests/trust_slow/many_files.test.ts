/**
 * Batches and undos of very many clients on the same files, over HTTP, on a real Postgres, with three processes of the
 * function that alternate. Each is committed as a whole or not at all, and no client sees half of one.
 */
import { assert, assertEquals } from "@std/assert";
import { assertRefused } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { inParallel } from "../support/in_parallel.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { report, rounds } from "../support/runner/long.ts";
import { onPostgres } from "../support/stack/on_postgres.ts";
import type { Service } from "../support/stack/service.ts";

const PROCESSES = 3;
const CLIENTS = 64;
const MOVES_EACH = rounds(2, 60);
const ACCOUNTS = 8;
const AMOUNT = 100;

Deno.test(`${CLIENTS} clients move amounts between files, and take moves back, in ${PROCESSES} processes: none is lost or half done`, async () => {
  await onPostgres(PROCESSES, async (service) => {
    await moveAmounts(service);
    await assertConsistent((statement) => service.sql(statement));
  });
});

const pathOf = (account: number) => `accounts/${account}`;

async function moveAmounts(service: Service): Promise<void> {
  const own = new Files(service, (await service.project("enterprise")).key);
  for (let account = 0; account < ACCOUNTS; account++) await own.write(pathOf(account), String(AMOUNT));
  /** The amount that each account must have at the end: acknowledged moves count, except those undone. */
  const amounts = Array.from({ length: ACCOUNTS }, () => AMOUNT);
  const book = (from: number, to: number) => {
    amounts[from] = (amounts[from] ?? 0) - 1;
    amounts[to] = (amounts[to] ?? 0) + 1;
  };
  const counts = { moved: 0, overtaken: 0, undone: 0, conflicts: 0, reads: 0 };
  let isOver = false;
  const reading = (async () => {
    while (!isOver) {
      const { files } = await own.list({ directory: "accounts" });
      const versions = files.reduce((sum, { version }) => sum + version, 0);
      assertEquals((versions - ACCOUNTS) % 2, 0, "a move makes two versions: half of one was seen");
      counts.reads++;
    }
  })();
  await inParallel(Array.from({ length: CLIENTS }, (_, client) => client), CLIENTS, async (client) => {
    for (let round = 0; round < MOVES_EACH; round++) {
      const from = (client + round) % ACCOUNTS;
      const to = (from + 1 + client % (ACCOUNTS - 1)) % ACCOUNTS;
      const run = `move-${client}-${round}`;
      if (!await move(own, from, to, run)) {
        counts.overtaken++;
        continue;
      }
      counts.moved++;
      book(from, to);
      if (round % 2 === 1) continue;
      if (await takeBack(own, run)) {
        counts.undone++;
        book(to, from);
      } else {
        counts.conflicts++;
      }
    }
  });
  isOver = true;
  await reading;
  for (const [account, amount] of amounts.entries()) {
    assertEquals((await own.read(pathOf(account))).content, String(amount), pathOf(account));
  }
  assert(counts.moved > 0 && counts.overtaken > 0 && counts.undone > 0, JSON.stringify(counts));
  report("moves", counts);
}

/** Returns false if another client was faster; then nothing is changed. */
async function move(own: Files, from: number, to: number, run: string): Promise<boolean> {
  const [source, target] = await Promise.all([own.read(pathOf(from)), own.read(pathOf(to))]);
  const operation = (account: number, amount: number, ifVersion: number) => ({
    op: "overwrite",
    path: pathOf(account),
    content: String(amount),
    ifVersion,
  });
  const answer = await own.request("POST", "/batch", {
    body: {
      operations: [
        operation(from, Number(source.content) - 1, source.version),
        operation(to, Number(target.content) + 1, target.version),
      ],
    },
    headers: { "x-run-id": run },
  });
  if (answer.status === 200) return true;
  assertRefused(answer, "PRECONDITION_FAILED", "batch");
  return false;
}

/** Returns false if another client has written one of the files since; then nothing is changed. */
async function takeBack(own: Files, run: string): Promise<boolean> {
  const answer = await own.request("POST", `/runs/${run}/undo`, { body: { dryRun: false } });
  if (answer.status === 200) return true;
  assertRefused(answer, "RUN_CONFLICT", "undo_run");
  return false;
}
