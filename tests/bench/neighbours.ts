/**
 * The time of a write while bodies of other projects trickle, or are announced and never sent, at the same process; and
 * beside costly requests of another account.
 */
import { BODY_ATTACKS } from "../support/faults/body_attacks.ts";
import { exchange } from "../support/client/raw_connection.ts";
import { accountAttacks } from "./account_attacks.ts";
import { type Bench, fewer, sized } from "./bench.ts";
import { Client } from "./client.ts";
import { KILOBYTE, lines } from "./contents.ts";
import { median } from "./measure.ts";
import { atMost } from "./report.ts";

const ATTACKERS = 4;
/** Longest duration of an attack: the time that the service waits for a stalled body. */
const ATTACK_MILLISECONDS = 6_000;
const BEGUN_AFTER_MILLISECONDS = 500;

export async function neighbours(bench: Bench): Promise<void> {
  await bodyAttacks(bench);
  await accountAttacks(bench);
}

async function bodyAttacks({ stack, rounds, report }: Bench): Promise<void> {
  report.group("A write of 100 KB while others keep bodies open");
  const own = await stack.ownFunction({});
  try {
    const client = new Client(own.baseUrl, (await stack.project()).key);
    const content = lines(100 * KILOBYTE);
    const writes = async () => {
      const times: number[] = [];
      for (let round = 0; round < fewer(rounds, 4); round++) {
        const started = performance.now();
        await client.write("neighbour.txt", content);
        times.push(performance.now() - started);
      }
      return median(times);
    };
    await writes();
    const { origin } = new URL(own.baseUrl);
    for (const [name, parts] of Object.entries(BODY_ATTACKS)) {
      const usual = await writes();
      const keys = await Promise.all(
        Array.from({ length: ATTACKERS }, async () => (await stack.project()).key),
      );
      const attacks = keys.map((key) =>
        exchange(origin, { parts: parts(key), timeoutMilliseconds: sized(ATTACK_MILLISECONDS) })
      );
      await new Promise((resolve) => setTimeout(resolve, sized(BEGUN_AFTER_MILLISECONDS)));
      report.against(`beside ${ATTACKERS} × ${name}`, await writes(), "ms", "alone", usual, atMost(2));
      await Promise.all(attacks);
    }
  } finally {
    await own.stop();
  }
}
