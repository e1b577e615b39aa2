/**
 * A neighbour cannot occupy an isolate's memory: bodies that are announced or begun but never sent do not keep other
 * projects from writing.
 */
import { assertEquals } from "@std/assert";
import { BODY_ATTACKS } from "../support/faults/body_attacks.ts";
import { exchange } from "../support/client/raw_connection.ts";
import { codeOf, Laboratory, send, text } from "../support/faults/laboratory.ts";
import { test } from "../support/stack/suite.ts";

const lab = await Laboratory.start();
Deno.test.afterAll(() => lab.stop());

const KIB = 1024;
/** How long the attackers' connections stay open without an answer. */
const PATIENCE_MILLISECONDS = 8_000;

test("bodies that trickle or never come, several of each, refuse no neighbour's write of 100 KB or 10 MB", async () => {
  const { origin, baseUrl } = await lab.bareFunction();
  const attackers = await Promise.all(Array.from({ length: 4 }, () => lab.tenant()));
  const neighbour = await lab.tenant();
  const attacks = attackers.flatMap(({ key }) =>
    Object.values(BODY_ATTACKS).map((parts) =>
      exchange(origin, { parts: parts(key), timeoutMilliseconds: PATIENCE_MILLISECONDS })
    )
  );
  // Until the attackers' requests have begun.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for (const size of [100 * KIB, 10_000 * KIB]) {
    const body = { path: `${size}.txt`, content: "x".repeat(size) };
    for (
      const sending of [
        { method: "POST", path: "/files", body },
        { method: "POST", path: `/files?path=raw-${size}`, body: new TextEncoder().encode(body.content) },
      ]
    ) {
      const outcome = await send(baseUrl, neighbour.key, sending);
      assertEquals([outcome.status, codeOf(outcome)], [200, undefined], text(outcome).slice(0, 200));
    }
  }
  const ended = (await Promise.all(attacks)).filter(({ answers }) => answers.length > 0);
  assertEquals(ended.map(({ answers }) => answers[0]?.status), [], "the attackers were still at it");
});
