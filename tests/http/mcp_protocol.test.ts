/** POST /mcp as a protocol: handshakes of both eras, credentials, protocol errors, the window, and what a key can see. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { owner } from "../support/client/accounts.ts";
import { assertRefused, rateOf } from "../support/client/contract.ts";
import { Agent, ERAS, faultOf, LEGACY_VERSION, messageOf, MODERN_VERSION } from "../support/client/mcp.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const READING = "read_file list_files grep_files search_files file_history diff_versions recent_changes"
  .split(" ");
const ALL = [
  ..."read_file list_files grep_files search_files write_file edit_file append_file delete_file".split(" "),
  ..."move_file file_history diff_versions restore_file recent_changes undo_run".split(" "),
  ..."create_branch finish_branch create_link".split(" "),
];

const HANDSHAKE = {
  protocolVersion: LEGACY_VERSION,
  capabilities: {},
  clientInfo: { name: "test", version: "1.0.0" },
};

test("both eras learn what the server is: tools and nothing else, and instructions of at most 600 characters", async () => {
  const { key } = await files();
  const modern = await new Agent(service, key, "modern").rpc("server/discover");
  const legacy = await new Agent(service, key, "legacy").rpc("initialize", HANDSHAKE);
  const { result: { supportedVersions, ...discovered } } = Object(modern.body);
  const { result: initialized } = Object(legacy.body);
  assertEquals(supportedVersions, [MODERN_VERSION]);
  assertEquals(initialized.protocolVersion, LEGACY_VERSION);
  for (const { capabilities, instructions } of [discovered, initialized]) {
    assertEquals(capabilities, { tools: {} });
    assert(instructions.length > 100 && instructions.length <= 600, `${instructions.length} characters`);
  }
  for (const version of ["2025-11-25", "2025-03-26", "2024-11-05"]) {
    const handshake = { ...HANDSHAKE, protocolVersion: version };
    const answer = await new Agent(service, key, "legacy").rpc("initialize", handshake);
    assertEquals(Object(answer.body).result.protocolVersion, version);
  }
});

for (const era of ERAS) {
  test(`${era}: the tools come in their order, with flat schemas, hints, and nothing that promises structure`, async () => {
    const tools = await new Agent(service, (await files()).key, era).tools();
    assertEquals(tools.map(({ name }) => name), ALL);
    for (const { name, inputSchema, annotations, ...rest } of tools) {
      assertEquals(Object.keys(rest).toSorted(), ["description", "title"], name);
      for (const [argument, property] of Object.entries(inputSchema.properties)) {
        assert(["string", "integer", "boolean"].includes(String(property["type"])), `${name}.${argument}`);
        assert(typeof property["description"] === "string", `${name}.${argument} is described`);
        const { enum: words = [], ...others } = property;
        const areWords = Array.isArray(words) && words.every((word) => typeof word === "string");
        assert(areWords, `${name}.${argument}`);
        for (const value of Object.values(others)) assert(typeof value !== "object", `${name}.${argument}`);
      }
      const isReading = READING.includes(name);
      const replaces = ["write_file", "delete_file", "move_file", "restore_file", "undo_run"].includes(name);
      assertEquals(annotations, {
        title: rest.title,
        readOnlyHint: isReading,
        destructiveHint: replaces,
        idempotentHint: isReading,
        openWorldHint: false,
      });
    }
  });

  test(`${era}: faults of the protocol have JSON-RPC's codes`, async () => {
    const { key } = await files();
    const agent = new Agent(service, key, era);
    const { body: message, headers } = messageOf(era, "tools/list");
    const post = (body: string | Uint8Array) => agent.rpc("tools/list", {}, { body });
    for (const body of ['{"jsonrpc":', "", Uint8Array.of(0x22, 0xff, 0x22)]) {
      assertEquals(faultOf(await post(body)), [400, -32700]);
    }
    for (const body of [JSON.stringify([message]), "[]"]) {
      assertEquals(faultOf(await post(body)), [400, -32600]);
    }
    const unknownTool = await agent.rpc("tools/call", { name: "drop_table", arguments: {} });
    assertEquals(faultOf(unknownTool), [200, -32602]);
    const unknownMethod = await agent.rpc("files/list");
    // Revisions of 2025 define no status for it, and their clients treat 404 as the end of the session.
    assertEquals(faultOf(unknownMethod), [era === "modern" ? 404 : 200, -32601]);
    const otherVersion = await service.request(key, "POST", "/mcp", {
      body: JSON.stringify(message).replace(MODERN_VERSION, "1999-01-01"),
      headers: { ...headers, "mcp-protocol-version": "1999-01-01" },
    });
    assertEquals(faultOf(otherVersion), [400, -32022]);
    assertEquals(Object(otherVersion.body).error.data.requested, "1999-01-01");
  });

  test(`${era}: a notification is accepted without an answer`, async () => {
    const { key } = await files();
    const { body, headers } = messageOf(era, "notifications/initialized");
    const { id: _, ...notification } = body;
    const answer = await service.request(key, "POST", "/mcp", { body: notification, headers });
    assertEquals([answer.status, answer.text], [202, ""]);
  });

  test(`${era}: every message counts one request of the window, however many calls it makes`, async () => {
    const own = await files("pro");
    const agent = new Agent(service, own.key, era);
    await own.write("a.txt", "one\n");
    await own.append("a.txt", "two\n");
    await service.freezeWindow(own.project.id);
    let used = 0;
    const tools: [string, Record<string, unknown>?][] = [
      ["nothing"],
      ["read_file", {}],
      ["read_file", { path: "a.txt" }],
      ["read_file", { path: "missing" }],
      ["write_file", { path: "a.txt", content: "three", expected_version: 1 }],
      ["append_file", { path: "b.txt", content: "x" }],
      ["edit_file", { path: "a.txt", old_string: "twice", new_string: "2" }],
      ["restore_file", { path: "a.txt", version: 1 }],
      ["list_files", { glob: "*.md", recursive: true }],
    ];
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ...["ping", "tools/list", "files/list"].map((method) => [method, {}] as const),
      ...tools.map(([name, args]) => ["tools/call", { name, arguments: args }] as const),
    ];
    for (const [method, params] of calls) {
      if (era === "modern" && method === "ping") continue;
      const answer = await agent.rpc(method, params);
      assertEquals(rateOf(answer.headers).remaining, 1000 - ++used, `${method} ${JSON.stringify(params)}`);
    }
    await service.freezeWindow(own.project.id, 1000);
    for (const [method, params] of calls) {
      const answer = await agent.rpc(method, params);
      assertEquals(assertRefused(answer, "RATE_LIMIT_EXCEEDED", "mcp"), {}, method);
    }
  });

  test(`${era}: 401 in the envelope for every message of a key that is not valid, and nothing to sign in with`, async () => {
    const { project } = await files();
    const revoked = await service.key(project.id);
    await service.revokeKey(revoked.id);
    for (const key of [null, "oa_short", revoked.key]) {
      const calls: readonly (readonly [string, Record<string, unknown>?])[] = [
        [era === "modern" ? "server/discover" : "initialize", HANDSHAKE],
        ["tools/list"],
        ["tools/call", { name: "list_files" }],
        ["tools/call", { name: "write_file", arguments: { path: "x", content: "x" } }],
        ["tools/call", { name: "read_file", arguments: {} }],
        ["tools/call", { name: "nothing" }],
      ];
      for (const [method, params] of calls) {
        const answer = await new Agent(service, key, era).rpc(method, params);
        assertEquals(assertRefused(answer, "INVALID_API_KEY", "mcp"), {}, `${method} ${params}`);
        assertEquals(answer.headers.get("www-authenticate"), "Bearer");
      }
    }
    // The server of tokens describes itself below the base address; nothing says that it has any for /mcp.
    const descriptions = ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"];
    const paths = descriptions.flatMap((name) => [`/.well-known/${name}/mcp`, `/mcp/.well-known/${name}`]);
    for (const path of ["/.well-known/oauth-protected-resource", "/mcp/oauth-protected-resource", ...paths]) {
      assertRefused(await service.request(null, "GET", path), "ROUTE_NOT_FOUND");
    }
  });

  test(`${era}: a key without write sees only the reading tools, and is refused with the reason if it writes`, async () => {
    const account = await owner(service);
    const { key: whole } = await account.createKey();
    const { key: reading } = await account.createKey({ scopes: ["read"] });
    const { key: writing } = await account.createKey({ scopes: ["write"] });
    await new Agent(service, whole, era).call("write_file", { path: "a.txt", content: "a secret" });
    const reader = new Agent(service, reading, era);
    const writer = new Agent(service, writing, era);
    assertEquals((await reader.tools()).map(({ name }) => name), READING);
    const before = await service.tables();
    for (const isRemembered of [false, true]) {
      const writes = { write_file: {}, append_file: {}, delete_file: {}, restore_file: { version: 1 } };
      for (const [tool, more] of Object.entries(writes)) {
        const text = await reader.refused(tool, { path: "a.txt", content: `${isRemembered}`, ...more });
        assertMatch(text, /^FORBIDDEN_SCOPE: .*lacks the scope `write`/, tool);
      }
      for (const tool of READING) {
        const text = await writer.refused(tool, { path: "a.txt", pattern: "one", query: "one" });
        assertMatch(text, /^FORBIDDEN_SCOPE: .*lacks the scope `read`/, tool);
      }
      const edit = { path: "a.txt", old_string: "one", new_string: "two" };
      assertMatch(await writer.refused("edit_file", edit), /^FORBIDDEN_SCOPE/);
      // The refusal of a write would show text of other users.
      const write = { path: "a.txt", content: "two" };
      const refused = await writer.refused("write_file", { ...write, expected_version: 7 });
      assertMatch(refused, /^PRECONDITION_FAILED: a.txt is at version 1, not 7/);
      assert(!refused.includes("secret"), refused);
      const exists = await writer.refused("write_file", write);
      assertMatch(exists, /^FILE_ALREADY_EXISTS: .*version 1\. Nothing was written/);
    }
    assertEquals(await service.tables(), before, "nothing is done");
  });

  test(`${era}: a key with a path prefix sees and changes only what is below it`, async () => {
    const account = await owner(service);
    const whole = new Agent(service, (await account.createKey()).key, era);
    await whole.call("write_file", { path: "team/in.txt", content: "needle in\n" });
    await whole.call("write_file", { path: "other/out.txt", content: "needle out\n" });
    const inside = new Agent(service, (await account.createKey({ pathPrefix: "/team/" })).key, era);
    const listed = await inside.call("list_files", { recursive: true });
    assert(listed.includes("team/in.txt") && !listed.includes("other"), listed);
    for (const tool of ["read_file", "file_history", "diff_versions"]) {
      const hidden = await inside.refused(tool, { path: "other/out.txt" });
      const missing = await inside.refused(tool, { path: "other/no.txt" });
      assertEquals(hidden, missing, `${tool}: as if it did not exist`);
    }
    const writes = {
      ...{ write_file: { content: "x" }, append_file: { content: "x" }, delete_file: {} },
      ...{ restore_file: { version: 1 }, move_file: { destination: "team/moved.txt" } },
    };
    for (const [tool, more] of Object.entries(writes)) {
      const refused = await inside.refused(tool, { path: "other/out.txt", ...more });
      assertMatch(refused, /^(FORBIDDEN_SCOPE: .*can write only below|FILE_NOT_FOUND)/, tool);
    }
    const out = { path: "team/in.txt", destination: "other/in.txt" };
    assertMatch(await inside.refused("move_file", out), /^FORBIDDEN_SCOPE/);
    assertMatch(await whole.call("read_file", { path: "other/out.txt" }), /\n {5}1\tneedle out$/);
    assertMatch(await inside.call("append_file", { path: "team/in.txt", content: "more\n" }), /version 2/);
  });

  test(`${era}: another project's file is as one that does not exist, for every tool`, async () => {
    const [own, stranger] = [await files(), await files()];
    await own.write("same.txt", "secret of the first\n");
    await own.append("same.txt", "and more\n");
    const agent = new Agent(service, stranger.key, era);
    const calls: [string, Record<string, unknown>][] = [
      ["read_file", {}],
      ["read_file", { version: 1 }],
      ["edit_file", { old_string: "secret", new_string: "x" }],
      ["delete_file", {}],
      ["move_file", { destination: "x" }],
      ["file_history", {}],
      ["diff_versions", {}],
      ["create_link", {}],
      ["restore_file", { version: 1 }],
      ["append_file", { content: "x", expected_version: 2 }],
    ];
    for (const [tool, more] of calls) {
      const there = await agent.refused(tool, { path: "same.txt", ...more });
      const missing = await agent.refused(tool, { path: "none.txt", ...more });
      assertEquals(there.replaceAll("same.txt", "none.txt"), missing, tool);
    }
    const shown: [string, Record<string, unknown>, RegExp][] = [
      ["list_files", { recursive: true }, /^There are no files yet\. write_file creates one\.$/],
      ["grep_files", { pattern: "secret" }, /^No line matches\.$/],
      ["recent_changes", {}, /^Nothing was changed\.\nlater changes: since=[0-9a-f]{32}$/],
      ["search_files", { query: "secret" }, /^No file was found/],
      ["write_file", { path: "same.txt", content: "mine" }, /^Created same.txt: version 1/],
    ];
    for (const [tool, args, text] of shown) assertMatch(await agent.call(tool, args), text);
    assertEquals((await own.read("same.txt")).version, 2);
  });
}

test("413: a body of up to 4 MiB is read, and no longer one, of known length or not", async () => {
  const { key } = await files();
  const agent = new Agent(service, key);
  const { body, headers } = messageOf("modern", "tools/call", { name: "write_file" });
  const filled = (bytes: number, path: string) => {
    const withContent = (content: string) =>
      JSON.stringify({ ...body, params: { ...Object(body["params"]), arguments: { path, content } } });
    return withContent("x".repeat(bytes - withContent("").length));
  };
  const limit = 4 * 1024 * 1024;
  const longest = await service.request(key, "POST", "/mcp", { body: filled(limit, "a.txt"), headers });
  const [{ text }] = Object(longest.body).result.content;
  assertMatch(text, /^Created a.txt: version 1, 1 line, 4,19\d,\d+ bytes/);
  const tooLong = filled(limit + 1, "b.txt");
  const stream = () => new Blob([tooLong]).stream();
  for (const sent of [tooLong, stream()]) {
    const answer = await service.request(key, "POST", "/mcp", { body: sent, headers });
    const { limitBytes } = Object(assertRefused(answer, "CONTENT_TOO_LARGE", "mcp"));
    assertEquals(limitBytes, limit);
  }
  assertMatch(await agent.refused("read_file", { path: "b.txt" }), /^FILE_NOT_FOUND/);
});

test("415: the body is JSON, uncompressed", async () => {
  const { key } = await files();
  const { body, headers } = messageOf("modern", "tools/list");
  const odd = [{ "content-type": "text/plain" }, { "content-type": "" }, { "content-encoding": "gzip" }];
  for (const more of odd) {
    const request = { body: JSON.stringify(body), headers: { ...headers, ...more } };
    const answer = await service.request(key, "POST", "/mcp", request);
    assertRefused(answer, "UNSUPPORTED_MEDIA_TYPE", "mcp");
  }
});

test("Origin: none, loopback and the service's own are served, any other is 403 FORBIDDEN_ORIGIN", async () => {
  const own = await files();
  const append = { name: "append_file", arguments: { path: "log", content: "x" } };
  const call = (origin: string) =>
    new Agent(service, own.key).rpc("tools/call", append, { headers: { origin } });
  const served = ["http://localhost:6274", "https://localhost", "http://127.0.0.1:8080", "http://[::1]:3000"];
  for (const origin of [...served, new URL(service.baseUrl).origin]) {
    assertEquals((await call(origin)).status, 200, origin);
  }
  const before = (await own.record("log")).version;
  const refused = [
    ..."null https://example.com http://localhost.example.com http://127.0.0.1.example.com".split(" "),
    ..."file:// chrome-extension://abc http://localhost:6274/path garbage".split(" "),
  ];
  for (const origin of refused) assertRefused(await call(origin), "FORBIDDEN_ORIGIN", "mcp");
  assertEquals((await own.record("log")).version, before, "nothing is written");
});

test("Origin: a name that was rebound to this machine is refused, though Host says the same", async () => {
  const { key } = await files();
  const host = `evil.example:${new URL(service.baseUrl).port}`;
  const { body, headers } = messageOf("modern", "tools/call", { name: "list_files", arguments: {} });
  const json = JSON.stringify(body);
  const call = (more: Record<string, string>) =>
    service.requestRaw(
      "POST",
      [
        `POST ${new URL(service.baseUrl).pathname}/mcp HTTP/1.1`,
        ...Object.entries({ host, "x-api-key": key, ...headers, "content-length": json.length, ...more })
          .map(([name, value]) => `${name}: ${value}`),
        `\r\n${json}`,
      ].join("\r\n"),
    );
  assertRefused(await call({ origin: `http://${host}` }), "FORBIDDEN_ORIGIN", "mcp");
  assertEquals((await call({})).status, 200, "without an origin");
});

test("a subscription, which would hold a stream open, is no method of the service", async () => {
  const { key } = await files();
  const listened = await new Agent(service, key).rpc("subscriptions/listen", { notifications: {} });
  assertEquals(faultOf(listened), [404, -32601]);
});
