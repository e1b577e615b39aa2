import { assertEquals, assertMatch } from "@std/assert";
import { ClientDocuments } from "../../../supabase/functions/api/oauth/client_documents.ts";
import { Outside } from "../../../supabase/functions/api/outbound/outside.ts";
import type { Dialler } from "../../../supabase/functions/api/outbound/public_request.ts";
import {
  OAUTH_DOCUMENT_BYTES_MAX,
  OAUTH_DOCUMENT_DEFAULT_SECONDS,
  OAUTH_DOCUMENT_FAILED_SECONDS,
  OAUTH_DOCUMENT_HEAD_BYTES_MAX,
  OAUTH_DOCUMENT_MILLISECONDS,
  OAUTH_DOCUMENT_SECONDS_MAX,
  OAUTH_DOCUMENTS_REMEMBERED_MAX,
} from "../../../supabase/functions/api/limits.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { dialler, host, type Pieces, PUBLIC } from "../outbound/host.ts";

const ID = "https://app.example/client.json";
const DESCRIPTION = { name: "App", redirectUris: ["https://app.example/back"] };

function documentOf(id: string, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    client_id: id,
    client_name: "App",
    redirect_uris: DESCRIPTION.redirectUris,
    ...more,
  });
}

function answer(body: string, headers: Readonly<Record<string, string>> = {}, status = "200 OK"): string {
  const all = { "Content-Type": "application/json", "Content-Length": String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${body}`;
}

/** What is found behind TLS at a public address, with this answer. */
async function found(pieces: Pieces, id = ID) {
  await using server = host(true, () => pieces);
  return await new ClientDocuments(new Outside([], dialler(server.port, [PUBLIC]).dialler)).find(id);
}

Deno.test("a client's document is fetched from the address that was checked, with the certificate of its name", async () => {
  await using server = host(true, () => [answer(documentOf(ID))]);
  const { dialler: own, dialled } = dialler(server.port, [PUBLIC]);
  const documents = new ClientDocuments(new Outside([], own));
  assertEquals(documents.isAvailable, true);
  assertEquals(await documents.find(ID), DESCRIPTION);
  assertEquals(dialled, [`${PUBLIC} 443`]);
  assertMatch(server.requests[0] ?? "", /^GET \/client\.json HTTP\/1\.1\r\nHost: app\.example\r\n/);

  // The certificate is not the other name's.
  const other = "https://other.example/client.json";
  assertEquals(
    await new ClientDocuments(new Outside([], dialler(server.port, [PUBLIC]).dialler)).find(other),
    undefined,
  );
  assertEquals(server.requests.length, 1);
});

Deno.test("one resolved address that is not public is enough to connect to none", async () => {
  await using server = host(true, () => [answer(documentOf(ID))]);
  const mapped = ["::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "2001:0:a00:1::1", "fe80::1", "::1"];
  for (
    const address of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "0.0.0.0", ...mapped, ""]
  ) {
    const { dialler: own, dialled } = dialler(server.port, address === "" ? [] : [PUBLIC, address]);
    assertEquals(await new ClientDocuments(new Outside([], own)).find(ID), undefined, address);
    assertEquals(dialled, [], address);
  }
  const literals = [
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "[::ffff:7f00:1]",
    "127.0.0.1.",
    "10.0.0.1",
  ];
  for (const literal of literals) {
    const { dialler: own, dialled } = dialler(server.port, [PUBLIC]);
    const id = `https://${literal}/client.json`;
    assertEquals(await new ClientDocuments(new Outside([], own)).find(id), undefined, literal);
    assertEquals(dialled, [], literal);
  }
});

Deno.test("DNS that changes between two answers gains nothing: the name is resolved once for each fetch", async () => {
  await using server = host(true, () => [answer(documentOf(ID), { "Cache-Control": "no-store" })]);
  const { dialler: own, dialled } = dialler(server.port, [PUBLIC], ["127.0.0.1"]);
  const documents = new ClientDocuments(new Outside([], own));
  assertEquals(await documents.find(ID), DESCRIPTION);
  assertEquals(await documents.find(ID), undefined);
  assertEquals(dialled, [`${PUBLIC} 443`]);
});

Deno.test("only an https address with a path, written in the one way, is a client's id", async () => {
  await using server = host(true, () => [answer(documentOf(ID))]);
  const { dialler: own, dialled } = dialler(server.port, [PUBLIC]);
  const documents = new ClientDocuments(new Outside([], own));
  const origin = "https://app.example";
  const ids = [
    ...[
      "",
      "/",
      "/client.json#a",
      "/client.json#",
      "/a/../client.json",
      "/a/%2e%2e/client.json",
      "\\client.json",
    ]
      .map((path) => origin + path),
    ...["http://app.example/client.json", "ftp://app.example/client.json", "file:///etc/passwd", "data:,a"],
    ...[
      "HTTPS://app.example/client.json",
      "https://APP.example/client.json",
      "https://app.example:443/client.json",
    ],
    ...[
      "https://user@app.example/client.json",
      "https://:p@app.example/client.json",
      "https:app.example/client.json",
    ],
    ` ${ID}`,
    `${ID}\n`,
    `${origin}/${"a".repeat(512)}`,
  ];
  for (const id of ids) assertEquals(await documents.find(id), undefined, id);
  assertEquals([dialled, server.requests], [[], []]);
});

Deno.test("a redirect is not followed, and no other status is a document", async () => {
  for (
    const status of [
      "301 Moved",
      "302 Found",
      "307 Temporary Redirect",
      "404 Not Found",
      "500 Oops",
      "204 None",
    ]
  ) {
    const location = { Location: "https://app.example/other.json" };
    assertEquals(await found([answer(documentOf(ID), location, status)]), undefined, status);
  }
});

Deno.test("a document that names another client, has a secret, is no JSON or describes no client is none", async () => {
  const bodies = [
    documentOf("https://app.example/other.json"),
    documentOf(`${ID}/`),
    documentOf(ID, { client_secret: "a" }),
    documentOf(ID, { redirect_uris: [] }),
    documentOf(ID, { redirect_uris: ["javascript:alert(1)"] }),
    documentOf(ID, { grant_types: ["client_credentials"] }),
    ...["", "null", "[]", "{", `"${ID}"`, "\xff"],
  ];
  for (const body of bodies) assertEquals(await found([answer(body)]), undefined, body);
  assertEquals(await found([answer(documentOf(ID), { "Content-Type": "text/html" })]), undefined);
  const type = { "Content-Type": "application/client+json; charset=utf-8" };
  assertEquals(await found([answer(documentOf(ID), type)]), DESCRIPTION);
});

Deno.test("a document may have 64 KiB, and not one byte more", async () => {
  const fill = (bytes: number) =>
    documentOf(ID, { fill: "a".repeat(bytes - documentOf(ID, { fill: "" }).length) });
  const largest = fill(OAUTH_DOCUMENT_BYTES_MAX);
  assertEquals(largest.length, 65_536);
  assertEquals(await found([answer(largest)]), DESCRIPTION);
  assertEquals(await found([answer(fill(OAUTH_DOCUMENT_BYTES_MAX + 1))]), undefined);
  const head = { "X-Fill": "a".repeat(OAUTH_DOCUMENT_HEAD_BYTES_MAX) };
  assertEquals(await found([answer(largest, head)]), undefined);
  // An answer without end is cut off by its size.
  const endless = new Array<string>(100).fill("a".repeat(64 * 1024));
  assertEquals(
    await found(["HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", ...endless]),
    undefined,
  );
});

Deno.test("chunked bodies are put together, and broken ones are none", async () => {
  const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const body = documentOf(ID);
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  const halves = chunk(body.slice(0, 10)) + chunk(body.slice(10));
  assertEquals(await found([head, halves, "0\r\n\r\n"]), DESCRIPTION);
  assertEquals(await found([head, ...[...halves].map(String), "0;last\r\nTrailer: a\r\n\r\n"]), DESCRIPTION);
  for (
    const broken of [
      halves,
      `fffff\r\n${body}`,
      `3\r\n${body}\r\n0\r\n\r\n`,
      `${body}`,
      "-1\r\n\r\n0\r\n\r\n",
      "",
    ]
  ) {
    assertEquals(await found([head, broken]), undefined, broken);
  }
});

Deno.test("an answer that ends early or is not HTTP is none", async () => {
  const whole = answer(documentOf(ID), { "Content-Length": "5000" });
  for (
    const text of [
      whole,
      "",
      documentOf(ID),
      "HTTP/2 200\r\n\r\n",
      whole.replace("HTTP", "http"),
      "HTTP/1.1 200 OK",
    ]
  ) {
    assertEquals(await found([text]), undefined, text);
  }
});

Deno.test("a slow host is given up after 5 seconds, over all its parts, and its connection closed", async () => {
  const never = new Promise<never>(() => {});
  for (
    const pieces of [[never], [answer(documentOf(ID)).slice(0, 60), never], [answer(documentOf(ID)), never]]
  ) {
    const asked = Promise.withResolvers<void>();
    await using server = host(true, () => {
      asked.resolve();
      return pieces;
    });
    const clock = new ManualClock();
    const documents = new ClientDocuments(
      new Outside([], dialler(server.port, [PUBLIC]).dialler, clock),
      clock,
    );
    const finding = documents.find(ID);
    await asked.promise;
    clock.advance(OAUTH_DOCUMENT_MILLISECONDS - 1);
    assertEquals(await Promise.race([finding, nextTurns().then(() => "pending")]), "pending");
    clock.advance(1);
    assertEquals(await finding, undefined);
  }
});

Deno.test("a connection that opens after the time is over is closed, and nothing is sent over it", async () => {
  const gate = Promise.withResolvers<void>();
  const secured = Promise.withResolvers<string>();
  await using server = host(true, () => []);
  const { dialler: own } = dialler(server.port, [PUBLIC]);
  const clock = new ManualClock();
  const late: Dialler = {
    ...own,
    async connect(address, port) {
      await gate.promise;
      return await own.connect(address, port);
    },
    async secure(connection, name) {
      const secure = await own.secure(connection, name).catch((error) => {
        secured.resolve("closed");
        throw error;
      });
      secured.resolve("open");
      return secure;
    },
  };
  const finding = new ClientDocuments(new Outside([], late, clock), clock).find(ID);
  clock.advance(OAUTH_DOCUMENT_MILLISECONDS);
  assertEquals(await finding, undefined);
  gate.resolve();
  assertEquals([await secured.promise, server.requests], ["closed", []]);
});

Deno.test("a document is remembered as its headers say, a day at most, and a failure for a minute", async () => {
  const cases: readonly (readonly [string | undefined, number])[] = [
    ["max-age=600", 600],
    ['public, Max-Age="30"', 30],
    ["max-age=999999999", OAUTH_DOCUMENT_SECONDS_MAX],
    [undefined, OAUTH_DOCUMENT_DEFAULT_SECONDS],
    ["max-age=0", 0],
    ["max-age=600, no-store", 0],
    ["no-cache", 0],
  ];
  for (const [header, seconds] of cases) {
    const headers = header === undefined ? {} : { "Cache-Control": header };
    await assertRemembered([answer(documentOf(ID), headers)], seconds, `${header}`);
  }
  await assertRemembered(
    [answer("", { "Cache-Control": "max-age=600" }, "404 No")],
    OAUTH_DOCUMENT_FAILED_SECONDS,
    "404",
  );
  assertEquals([OAUTH_DOCUMENT_SECONDS_MAX, OAUTH_DOCUMENT_FAILED_SECONDS], [24 * 60 * 60, 60]);
});

async function assertRemembered(pieces: Pieces, seconds: number, about: string): Promise<void> {
  await using server = host(true, () => pieces);
  const clock = new ManualClock();
  const documents = new ClientDocuments(
    new Outside([], dialler(server.port, [PUBLIC]).dialler, clock),
    clock,
  );
  await documents.find(ID);
  if (seconds > 0) {
    clock.advance(seconds * 1000 - 1);
    await documents.find(ID);
    assertEquals(server.requests.length, 1, about);
    clock.advance(1);
  }
  await documents.find(ID);
  assertEquals(server.requests.length, 2, about);
}

Deno.test("requests at the same time fetch a document once, and the one that was not used longest is forgotten", async () => {
  await using server = host(false, () => [answer("", {}, "404 Not Found")]);
  const trusted = `127.0.0.1:${server.port}`;
  const documents = new ClientDocuments(new Outside([trusted]));
  const find = (name: number) => documents.find(`http://${trusted}/${name}.json`);
  await Promise.all([find(0), find(0)]);
  assertEquals(server.requests.length, 1);
  for (let name = 1; name <= OAUTH_DOCUMENTS_REMEMBERED_MAX; name++) await find(name);
  await find(1);
  assertEquals(server.requests.length, OAUTH_DOCUMENTS_REMEMBERED_MAX + 1);
  await find(0);
  assertEquals(server.requests.length, OAUTH_DOCUMENTS_REMEMBERED_MAX + 2);
});

Deno.test("a host that the operator trusts may be private and without TLS, and no other one on the same machine", async () => {
  await using server = host(false, () => [answer(documentOf(`http://127.0.0.1:${server.port}/client.json`))]);
  const id = `http://127.0.0.1:${server.port}/client.json`;
  assertEquals(await new ClientDocuments(new Outside([`127.0.0.1:${server.port}`])).find(id), DESCRIPTION);
  assertEquals(await new ClientDocuments(new Outside([`127.0.0.1:${server.port + 1}`])).find(id), undefined);
  assertEquals(await new ClientDocuments(new Outside([`localhost:${server.port}`])).find(id), undefined);
  assertEquals(server.requests.length, 1);
});

Deno.test({
  name: "where the runtime may not call any host, the feature is off",
  permissions: { net: ["127.0.0.1"], read: true },
  fn() {
    assertEquals(new ClientDocuments(new Outside()).isAvailable, false);
    assertEquals(new ClientDocuments(new Outside(["127.0.0.1:80"])).isAvailable, true);
  },
});

/** Long enough for what has arrived to be read. */
async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
