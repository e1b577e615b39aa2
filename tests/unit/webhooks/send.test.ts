/** One delivery: to whom it is sent and to whom not, what it says, and what counts as its result. */
import { assertEquals, assertMatch } from "@std/assert";
import { Webhook } from "standardwebhooks";
import { WEBHOOK_MILLISECONDS } from "../../../supabase/functions/api/limits.ts";
import { Outside } from "../../../supabase/functions/api/outbound/outside.ts";
import { addressProblem, privateProblem } from "../../../supabase/functions/api/webhooks/address.ts";
import { WebhookSecrets } from "../../../supabase/functions/api/webhooks/secrets.ts";
import { sendDelivery } from "../../../supabase/functions/api/webhooks/send.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { dialler, host, type Pieces, PUBLIC } from "../outbound/host.ts";

const NOT_PUBLIC = "The address is not that of a public host.";
const URL_ = "https://app.example/hook?a=1";
const NOW = Date.parse("2026-11-29T10:00:00.500Z");
const secrets = new WebhookSecrets(["key"]);
const secret = secrets.create();
const id = "d0000000-0000-4000-8000-000000000000";

async function deliver(outside: Outside, url = URL_, more: Readonly<Record<string, unknown>> = {}) {
  return await sendDelivery({ secrets, outside, now: () => NOW }, "p", {
    ...{ id: "m", leaseId: "l", webhookId: id, attempt: 2, url, type: "change" },
    ...{ timestamp: "2026-11-29T09:00:00.000Z", cursor: "c", changes: [{ path: "ä" }], branch: null },
    ...{ secret: await secrets.seal(id, secret), previousSecret: null, ...more },
  });
}

/** The result behind TLS at a public address, with this answer. */
async function resultOf(pieces: Pieces) {
  await using server = host(true, () => pieces);
  const { status, error } = await deliver(new Outside([], dialler(server.port, [PUBLIC]).dialler));
  return [status, error];
}

Deno.test("a delivery is one POST to the address that was checked, signed, with the certificate of its name", async () => {
  await using server = host(true, () => ["HTTP/1.1 204 No Content\r\n\r\n"]);
  const { dialler: own, dialled } = dialler(server.port, [PUBLIC]);
  const outside = new Outside([], own);
  assertEquals(await deliver(outside), { id: "m", leaseId: "l", type: "change", attempt: 2, status: 204 });
  assertEquals(dialled, [`${PUBLIC} 443`]);
  const [head = "", body = ""] = (server.requests[0] ?? "").split("\r\n\r\n");
  assertMatch(head, /^POST \/hook\?a=1 HTTP\/1\.1\r\nHost: app\.example\r\n/);
  assertEquals(
    body,
    '{"type":"change","timestamp":"2026-11-29T09:00:00.000Z","data":{"projectId":"p","cursor":"c","changes":[{"path":"ä"}]}}',
  );
  const fields = Object.fromEntries(head.split("\r\n").slice(1).map((line) => line.split(": ", 2)));
  assertEquals([fields["webhook-id"], fields["webhook-timestamp"]], ["m", String(Math.floor(NOW / 1000))]);
  assertEquals(fields["webhook-signature"], new Webhook(secret).sign("m", new Date(NOW), body));
  assertEquals(Number(fields["Content-Length"]), new TextEncoder().encode(body).length);

  // The certificate is not the other name's.
  const { status } = await deliver(
    new Outside([], dialler(server.port, [PUBLIC]).dialler),
    "https://other.example/",
  );
  assertEquals([status, server.requests.length], [null, 1]);
});

Deno.test("one address that is not public is enough to connect to none, whatever an earlier check saw", async () => {
  await using server = host(true, () => ["HTTP/1.1 200 OK\r\n\r\n"]);
  for (
    const address of [
      ...["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"],
      ...["0.0.0.0", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"],
      ...["2002:a00:1::1", "2001:0:a00:1::1"],
    ]
  ) {
    // At the check the name had a public address alone.
    const { dialler: own, dialled } = dialler(server.port, [PUBLIC], [PUBLIC, address]);
    const outside = new Outside([], own);
    assertEquals(await privateProblem(outside, URL_), null);
    const { status, error } = await deliver(outside);
    assertEquals([status, error, dialled], [null, NOT_PUBLIC, []], address);
    const asked = new Outside([], dialler(server.port, [PUBLIC, address]).dialler);
    assertEquals(await privateProblem(asked, URL_), "must be the address of a public host", address);
    const literal = address.includes(":") ? `[${address}]` : address;
    assertEquals((await deliver(asked, `https://${literal}/`)).error, NOT_PUBLIC, literal);
  }
  // A name without an address may get one.
  assertEquals(await privateProblem(new Outside([], dialler(server.port, []).dialler), URL_), null);
  const { error } = await deliver(new Outside([], dialler(server.port, []).dialler));
  assertEquals(error, "The host cannot be reached, or its answer is not HTTP.");
  assertEquals(server.requests, []);
});

Deno.test("hosts that the operator allows may be private and without TLS, at their port alone", async () => {
  await using server = host(false, () => ["HTTP/1.1 200 OK\r\n\r\n"]);
  const outside = new Outside([`127.0.0.1:${server.port}`]);
  assertEquals((await deliver(outside, `http://127.0.0.1:${server.port}/`)).status, 200);
  for (const url of [`http://127.0.0.1:${server.port + 1}/`, `http://localhost:${server.port}/`]) {
    assertEquals((await deliver(outside, url)).error, "The address must begin with https://.", url);
  }
  const names = [
    "https://localhost/",
    "https://a.localhost:8443/",
    "https://nas.local/",
    "https://x.internal/",
  ];
  for (const url of [...names, "https://localhost./"]) {
    assertEquals(
      (await deliver(outside, url)).error,
      "The address must be the address of a public host.",
      url,
    );
  }
  for (const port of [1, 22, 25, 80, 444, 1023]) {
    assertMatch(addressProblem(outside, `https://app.example:${port}/`) ?? "", /port/);
  }
  for (const port of [443, 1024, 8443]) {
    assertEquals(addressProblem(outside, `https://app.example:${port}/`), null);
  }
  assertEquals(server.requests.length, 1);
});

Deno.test("the status is the result, and no redirect is followed", async () => {
  assertEquals(await resultOf(["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"]), [200, undefined]);
  assertEquals(await resultOf(["HTTP/1.1 500 No\r\n\r\n"]), [500, undefined]);
  for (const status of [301, 302, 307, 308]) {
    const location = "Location: https://127.0.0.1/\r\n";
    assertEquals(await resultOf([`HTTP/1.1 ${status} Moved\r\n${location}\r\n`]), [
      status,
      "Redirects are not followed.",
    ]);
  }
  for (
    const nonsense of ["", "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 2\r\n\r\n", "HTTP/1.1 100 Go on\r\n\r\n"]
  ) {
    assertEquals((await resultOf([nonsense]))[0], null, nonsense);
  }
});

Deno.test("an answer whose body never ends is an answer; one without a head ends with the time", async () => {
  const never = new Promise<void>(() => {});
  assertEquals(await resultOf(["HTTP/1.1 202 Accepted\r\n\r\npart", never]), [202, undefined]);
  await using server = host(true, () => ["HTTP/1.1 200 OK\r\n", never]);
  const clock = new ManualClock();
  const { dialler: own } = dialler(server.port, [PUBLIC]);
  const delivering = deliver(new Outside([], own, clock));
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  clock.advance(WEBHOOK_MILLISECONDS);
  assertEquals((await delivering).error, "No answer within 10 seconds.");
});

Deno.test("a secret can be read with each of the service's keys, for its own webhook alone", async () => {
  const sealed = await secrets.seal(id, secret);
  assertEquals(await new WebhookSecrets(["new", "key"]).open(id, sealed), secret);
  assertEquals(await new WebhookSecrets(["new"]).open(id, sealed), undefined);
  assertEquals(await secrets.open("another", sealed), undefined);
  for (const broken of ["", "a", sealed.slice(1), sealed.slice(0, -4)]) {
    assertEquals(await secrets.open(id, broken), undefined, broken);
  }
  assertEquals(sealed.includes(secret.slice(6)), false);
  const { status, reason } = await deliver(new Outside(), URL_, { secret: "x" });
  assertEquals([status, reason], [null, "secret_unreadable"]);
});
