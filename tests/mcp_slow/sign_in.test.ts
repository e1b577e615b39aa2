/**
 * Both official clients sign in by themselves: they discover the server, register, prove the code's owner and refresh.
 * Only the person's consent is scripted. At the local address, and where a host answers at one path alone, as that of a
 * hosted project does.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FormerClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FormerTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { createServer, request as forward } from "node:http";
import { z } from "zod";
import { type Account, owner } from "../support/client/accounts.ts";
import { answerRequest, redirectOf } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

const CALLBACK = "http://127.0.0.1:51234/callback";
const METADATA = {
  client_name: "Agent",
  redirect_uris: [CALLBACK],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
};
const stored = z.looseObject({ access_token: z.string(), refresh_token: z.string() });
const result = z.looseObject({
  content: z.array(z.looseObject({ type: z.literal("text"), text: z.string() })),
});

/** What an app keeps between its starts, in the shape that both clients ask for. */
class Memory {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = METADATA;
  /** Where the person was sent. */
  sentTo: URL[] = [];
  #client: never | undefined;
  #tokens: never | undefined;
  #verifier = "";
  #discovery: never | undefined;

  state = () => "a state";
  clientInformation = () => this.#client;
  saveClientInformation = (client: unknown) => void (this.#client = Object(client));
  tokens = () => this.#tokens;
  saveTokens = (tokens: unknown) => void (this.#tokens = Object(tokens));
  redirectToAuthorization = (url: URL) => void this.sentTo.push(url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: unknown) => void (this.#discovery = Object(state));
  discoveryState = () => this.#discovery;
  invalidateCredentials = (what: string) => void (what === "tokens" && (this.#tokens = undefined));

  get lastSentTo(): URL {
    const url = this.sentTo.at(-1);
    if (url === undefined) throw new Error("nobody was sent to sign in");
    return url;
  }

  get accessToken(): string {
    return stored.parse(this.#tokens).access_token;
  }
}

/** One start of an app: connected, or the person was sent to sign in, and `finish` takes what came back. */
interface Start {
  connect(): Promise<void>;
  finish(callback: URLSearchParams): Promise<void>;
  call(name: string, args: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

type StartApp = (url: URL, memory: Memory) => Start;

const INFO = { name: "agent", version: "1.0.0" };
const textOf = (given: unknown) => result.parse(given).content.map(({ text }) => text).join("\n");

const modern: StartApp = (url, authProvider) => {
  const client = new Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  return started(client, new StreamableHTTPClientTransport(url, { authProvider }));
};

const byDefault: StartApp = (url, authProvider) =>
  started(new Client(INFO), new StreamableHTTPClientTransport(url, { authProvider }));

function started(client: Client, transport: StreamableHTTPClientTransport): Start {
  return {
    connect: () => client.connect(transport),
    finish: (callback) => transport.finishAuth(callback),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

const former: StartApp = (url, authProvider) => {
  const client = new FormerClient(INFO);
  const transport = new FormerTransport(url, { authProvider });
  return {
    connect: () => client.connect(transport),
    finish: (callback) => transport.finishAuth(callback.get("code") ?? ""),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
};

const APPS: Readonly<Record<string, StartApp>> = {
  "@modelcontextprotocol/client, 2026-07-28": modern,
  "@modelcontextprotocol/client, as it comes": byDefault,
  "@modelcontextprotocol/sdk 1.x": former,
};

/** Forwards the service's path, and answers nothing anywhere else. `asked`: the other paths that were asked for. */
async function hostedProject() {
  const asked: string[] = [];
  const { port } = new URL(service.stack.supabaseUrl);
  const server = createServer((incoming, outgoing) => {
    const { url = "/", method, headers } = incoming;
    if (!url.startsWith("/functions/v1/api/")) {
      asked.push(url);
      outgoing.writeHead(404, { "content-type": "application/json" });
      return void outgoing.end('{"error":"requested path is invalid"}');
    }
    const onward = forward({ host: "127.0.0.1", port, path: url, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    base: `http://127.0.0.1:${address.port}/functions/v1/api`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** What the person chooses; the rest is what the console offers first. */
type Choice = Readonly<Record<string, unknown>>;

/** The person answers in the console, and the browser brings what comes back to the app. */
async function answer(account: Account, sentTo: URL, choice: Choice = {}): Promise<URLSearchParams> {
  const { headers } = await fetch(sentTo, { redirect: "manual" });
  const [toConsole, request = ""] = (headers.get("location") ?? "").split("?request=");
  assertEquals(toConsole, `${service.stack.supabaseUrl}/console/authorize`);
  const back = redirectOf(await answerRequest(account, request, choice));
  assertEquals(back.origin + back.pathname, CALLBACK);
  return back.searchParams;
}

/** Starts the app until it is connected: at first it has no tokens, so the person is sent to sign in. */
async function signIn(start: StartApp, base: string, account: Account, choice: Choice = {}) {
  const memory = new Memory();
  const url = new URL(`${base}/connect`);
  const first = start(url, memory);
  await assertRejects(() => first.connect(), Error);
  const sentTo = memory.lastSentTo;
  await first.finish(await answer(account, sentTo, choice));
  await first.close();
  const app = start(url, memory);
  await app.connect();
  return { app, memory, sentTo };
}

/** Ends all access tokens, as an hour does. */
async function anHourPasses(): Promise<void> {
  await service.sql("update filestore.app_tokens set expires_at = clock_timestamp() where kind = 'access'");
}

async function works(start: StartApp, base: string): Promise<void> {
  const account = await owner(service);
  const { app, memory, sentTo } = await signIn(start, base, account);
  try {
    assertEquals(sentTo.searchParams.get("resource"), `${base}/connect`);
    assertEquals(sentTo.searchParams.get("code_challenge_method"), "S256");
    assertEquals(sentTo.searchParams.get("scope"), "files:read files:write");
    const file = { path: "notes/plan.md", content: "# Plan\n" };
    assertMatch(await app.call("write_file", file), /^Created notes\/plan.md: version 1/);

    const before = memory.accessToken;
    await anHourPasses();
    assertMatch(await app.call("read_file", { path: file.path }), /# Plan/);
    assertNotEquals(memory.accessToken, before);
    assertEquals(memory.sentTo.length, 1);
  } finally {
    await app.close();
  }
}

for (const [name, start] of Object.entries(APPS)) {
  test(`${name}: signs in at the local address, writes, and refreshes its token by itself`, async () => {
    await works(start, service.baseUrl);
  });

  test(`${name}: signs in where nothing is answered at the root of the host`, async () => {
    await using project = await hostedProject();
    await works(start, project.base);
    assertEquals(project.asked.filter((path) => !path.startsWith("/.well-known/")), []);
  });

  test(`${name}: has the rights that the person gave, and asks again after these were taken back`, async () => {
    const account = await owner(service);
    const { app, memory } = await signIn(start, service.baseUrl, account, { scopes: ["read"] });
    try {
      assertMatch(await app.call("write_file", { path: "a.md", content: "" }), /FORBIDDEN_SCOPE/);
      const { body } = await account.request("GET", "/project/apikeys");
      const keys = z.object({
        data: z.object({ keys: z.array(z.looseObject({ id: z.string(), kind: z.string() })) }),
      });
      const [own] = keys.parse(body).data.keys.filter(({ kind }) => kind === "app");
      await account.request("DELETE", `/project/apikeys/${own?.id}`);
      await assertRejects(() => app.call("list_files", {}), Error);
      assertEquals(memory.sentTo.length, 2);
    } finally {
      await app.close();
    }
  });
}

test("a person who refuses sends the app away, and the answer names its server", async () => {
  const memory = new Memory();
  const app = byDefault(new URL(`${service.baseUrl}/connect`), memory);
  await assertRejects(() => app.connect(), Error);
  const account = await owner(service);
  const back = await answer(account, memory.lastSentTo, { approve: false });
  assertEquals(Object.fromEntries(back), { error: "access_denied", state: "a state", iss: service.baseUrl });
  await assertRejects(() => app.finish(back), Error);

  // A code that comes with another server's name is not exchanged: the app has mixed up two servers.
  const mixedUp = new URLSearchParams({ code: "a", state: "a state", iss: "https://evil.example" });
  await assertRejects(() => app.finish(mixedUp), Error, "Issuer mismatch");
  await app.close();
});
