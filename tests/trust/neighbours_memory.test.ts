/**
 * What a neighbour cannot do with an isolate's memory: bodies that are announced, or begun, and do not come keep nobody
 * else from writing.
 */
import { assertEquals } from "@std/assert";
import { exchange } from "../support/client/raw_connection.ts";
import { codeOf, Laboratory, send, text } from "../support/faults/laboratory.ts";
import { test } from "../support/stack/suite.ts";

const lab = await Laboratory.start({ withFaultProxy: false });
Deno.test.afterAll(() => lab.stop());

const KIB = 1024;
/** For the attackers' connections, which nobody answers. */
const PATIENCE_MILLISECONDS = 8_000;

/** What an attacker sends before the trickle. */
function begin(key: string, headers: string): string {
  return `POST /api/files HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;
}

const ATTACKS: readonly (readonly [string, (key: string) => (string | number)[]])[] = [
  ["a chunked body that trickles", (key) => [
    begin(key, "transfer-encoding: chunked"),
    '1b\r\n{"path":"t.txt","content":"\r\n',
    ...Array.from({ length: 20 }, () => ["1\r\nx\r\n", 300]).flat(),
  ]],
  [
    "a body of 32 MB that is announced and never comes",
    (key) => [begin(key, `content-length: ${32 * KIB * KIB}`)],
  ],
  ["a raw body of 32 MB that is announced and never comes", (key) => [
    begin(key, `content-length: ${32 * KIB * KIB}`).replace("/api/files", "/api/files?path=r.bin"),
  ]],
];

test("bodies that trickle or never come, several of each, refuse no neighbour's write of 100 KB or 10 MB", async () => {
  const origin = new URL(lab.soundUrl).origin;
  const attackers = await Promise.all(Array.from({ length: 4 }, () => lab.tenant()));
  const neighbour = await lab.tenant();
  const attacks = attackers.flatMap(({ key }) =>
    ATTACKS.map(([, parts]) =>
      exchange(origin, { parts: parts(key), timeoutMilliseconds: PATIENCE_MILLISECONDS })
    )
  );
  // The attackers' requests have begun.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  for (const size of [100 * KIB, 10_000 * KIB]) {
    const body = { path: `${size}.txt`, content: "x".repeat(size) };
    for (
      const sending of [
        { method: "POST", path: "/files", body },
        { method: "POST", path: `/files?path=raw-${size}`, body: new TextEncoder().encode(body.content) },
      ]
    ) {
      const outcome = await send(lab.soundUrl, neighbour.key, sending);
      assertEquals([outcome.status, codeOf(outcome)], [200, undefined], text(outcome).slice(0, 200));
    }
  }
  const ended = (await Promise.all(attacks)).filter(({ answers }) => answers.length > 0);
  assertEquals(ended.map(({ answers }) => answers[0]?.status), [], "the attackers were still at it");
});
