/**
 * Webhooks beside many writers, over HTTP, on a real Postgres, while processes of the function are killed at random: a
 * receiver that always answers, one that fails and hangs, and one that goes away and comes back. Each gets every change at
 * least once, in order, and none is skipped.
 */
import { assert, assertEquals } from "@std/assert";
import { newWebhook } from "../../supabase/functions/api/contract/webhooks.ts";
import { dataOf } from "../support/client/contract.ts";
import { sweepAll } from "../support/client/erasure.ts";
import { perform } from "../support/client/files_client.ts";
import { Receiver, verify } from "../support/client/receiver.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { report, rounds } from "../support/runner/long.ts";
import { onPostgres } from "../support/stack/on_postgres.ts";
import { kill } from "../support/stack/processes.ts";
import type { Service } from "../support/stack/service.ts";

const PROCESSES = 2;
const WRITERS = 64;
/** Acknowledged writes of each client. */
const WRITES_EACH = rounds(4, 500);
const FILES = 40;
const KILL_PAUSE_MILLISECONDS = 4_000;
/** Longer than a receiver may take. */
const HANG_MILLISECONDS = 11_000;
const END = "end.txt";

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Does `work` again and again until the returned function is called, which waits for its end. */
function repeat(work: () => Promise<void>): () => Promise<void> {
  let isOver = false;
  const working = (async () => {
    while (!isOver) await work();
  })();
  working.catch(() => {/* awaited below */});
  return () => {
    isOver = true;
    return working;
  };
}

function misbehave(receiver: Receiver, random: Random): void {
  receiver.behaviour = async () => {
    const chance = random.below(100);
    if (chance < 2) await pause(HANG_MILLISECONDS);
    return new Response(null, { status: chance < 40 ? 500 : 200 });
  };
}

Deno.test(`${WRITERS} writers and kills: each webhook gets every change, in order, whatever its receiver does`, async () => {
  const receivers = [new Receiver(), new Receiver(), new Receiver()] as const;
  const hosts = receivers.map(({ host }) => host).join();
  try {
    await onPostgres(PROCESSES, (service) => deliver(service, receivers), {
      functionVariables: { OUTBOUND_ALLOWED_HOSTS: hosts },
    });
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  }
});

async function deliver(service: Service, receivers: readonly [Receiver, Receiver, Receiver]): Promise<void> {
  const random = randomFrom(SEED);
  const { id, key, keyId } = await service.project("enterprise");
  await service.sql("update filestore.api_keys set scopes = '{read,write,admin}' where id = $1", [keyId]);
  const secrets = await Promise.all(receivers.map(async (receiver) => {
    const answer = await service.request(key, "POST", "/project/webhooks", {
      body: { url: receiver.urlOf("a") },
    });
    return dataOf(answer, "create_webhook", newWebhook).secret;
  }));
  const [, failing, leaving] = receivers;
  misbehave(failing, random);
  let kills = 0;
  const stopKilling = repeat(async () => {
    await pause(random.below(KILL_PAUSE_MILLISECONDS));
    const pids = service.stack.functionPids;
    if (pids.length > 0 && kill(random.pick(pids))) kills++;
  });
  const stopLeaving = repeat(async () => {
    await pause(500 + random.below(1_000));
    await leaving.stop();
    await pause(random.below(1_000));
    leaving.start();
  });
  // Lets the time of the next try come, and the sweep find what killed processes have left.
  const stopSweeping = repeat(async () => {
    await pause(300);
    await service.sql("update filestore.webhooks set next_at = now() where next_at > now()");
    await service.sql("update filestore.webhooks set failures = 0 where failures > 5");
    await sweepAll(service).catch(() => {/* the process was killed */});
  });
  const target = { baseUrl: service.baseUrl, key };
  await Promise.all(Array.from({ length: WRITERS }, async (_, writer) => {
    for (let made = 0; made < WRITES_EACH;) {
      const path = `folder ${random.below(7)}/file ${random.below(FILES)}.txt`;
      const { kind } = await perform(target, { kind: "write", path, text: `writer ${writer}\n` });
      if (kind === "made") made++;
      if (kind === "unknown") await pause(100);
    }
  }));
  await Promise.all([stopKilling(), stopLeaving()]);
  while ((await perform(target, { kind: "write", path: END, text: "the end\n" })).kind !== "made") {
    await pause(100);
  }
  // After many writes the receivers that misbehave are far behind. As long as they get further, it is not too late.
  for (let waits = 0, before = 0; !receivers.every(hasEnd); waits++) {
    const accepted = receivers.flatMap(({ received }) =>
      received.filter(({ isAccepted }) => isAccepted)
    ).length;
    if (accepted > before) waits = 0;
    before = accepted;
    assert(waits < 1_200, "a receiver never got the end");
    await pause(100);
  }
  await stopSweeping();
  const stored = await service.sql<{ entry: string }>(
    `select f.path || ' ' || v.version as entry from filestore.file_versions v join filestore.files f on f.id = v.file_id
     where v.project_id = $1 order by v.position`,
    [id],
  );
  const expected = stored.map(({ entry }) => entry);
  const repeated = receivers.map((receiver, n) => assertInOrder(receiver, secrets[n], expected));
  assert(kills > 0, "nothing was killed");
  report("webhooks", {
    seed: SEED,
    writers: WRITERS,
    kills,
    versions: expected.length,
    repeated: repeated.join(" "),
  });
}

function hasEnd({ received }: Receiver): boolean {
  return received.some(({ isAccepted, body }) =>
    isAccepted && body.data.changes.some(({ path }) => path === END)
  );
}

/** Returns the number of deliveries that came more than once. */
function assertInOrder(receiver: Receiver, secret: string | undefined, expected: readonly string[]): number {
  const texts = new Map<string, string>();
  const found: string[] = [];
  const accepted = new Set<string>();
  let last = "";
  let repeated = 0;
  for (const { id, text, body, isAccepted } of receiver.received) {
    assertEquals(texts.get(id) ?? text, text, "a delivery has the same content each time");
    if (texts.has(id)) {
      assertEquals(id, last, "no delivery comes again after a later one");
      repeated++;
    }
    // What a receiver has refused it has not got.
    if (isAccepted && !accepted.has(id)) {
      accepted.add(id);
      found.push(...body.data.changes.map(({ path, version }) => `${path} ${version}`));
    }
    texts.set(id, text);
    last = id;
  }
  verify(secret, receiver.at(-1));
  // Versions after the end marker were not waited for.
  assertEquals(found, expected.slice(0, found.length));
  assert(found.includes(`${END} 1`));
  return repeated;
}
