/**
 * What each role may do: every route over HTTP, and every SQL function that people may call directly at PostgREST. Both
 * tables are compared with what there is, so that a new route or function needs its row.
 */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { ENTRIES, entryOf } from "../../supabase/functions/api/routes/mod.ts";
import { type Account, owner, signUp } from "../support/client/accounts.ts";
import { apiAt } from "../support/client/api.ts";
import { assertRefused, dataOf, newKeyRecord, newLink } from "../support/client/contract.ts";
import {
  aboutFile,
  FILE_ROUTES,
  MEMBER_ROUTES,
  PROJECT_ROUTES,
  type RouteCall,
  RUN,
} from "../support/client/every_route.ts";
import { accept, addressOf, invited, joined } from "../support/client/members.ts";
import { App, connected } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const NOBODY = "d0000000-0000-4000-8000-000000000000";

/** The scopes of each role; null: it sees no project. */
const ROLES = {
  owner: ["read", "write", "admin"],
  admin: ["read", "write", "admin"],
  editor: ["read", "write"],
  viewer: ["read"],
  guest: null,
  stranger: null,
} as const;
type Role = keyof typeof ROLES;
const roles = Object.keys(ROLES).filter((name): name is Role => Object.hasOwn(ROLES, name));

/** One project with a person in each role, and one who was invited. */
async function team(): Promise<Record<Role, Account>> {
  const by = await owner(service);
  const guest = await signUp(service);
  await invited(by, addressOf(guest), "admin");
  return {
    owner: by,
    admin: await joined(by, "admin"),
    editor: await joined(by, "editor"),
    viewer: await joined(by, "viewer"),
    guest: guest.about(by.projectId),
    stranger: (await owner(service)).about(by.projectId),
  };
}

/** Routes of projects that the table of keys lacks. */
const OTHER_ROUTES: readonly RouteCall[] = [
  { name: "links", method: "GET", path: "/links", scopes: ["read"] },
  { name: "end a link", method: "DELETE", path: `/links/${NOBODY}`, scopes: ["write"], status: 404 },
  { name: "search", method: "GET", path: "/search?q=one", scopes: ["read"] },
  {
    name: "memory",
    method: "POST",
    path: "/memory",
    scopes: ["read"],
    body: { command: "view", path: "/memories" },
  },
  {
    name: "memory that writes",
    method: "POST",
    path: "/memory",
    scopes: ["write"],
    body: { command: "create", path: "/memories/{new}", file_text: "x" },
  },
];
const ROUTES = [...FILE_ROUTES, ...PROJECT_ROUTES, ...MEMBER_ROUTES, ...OTHER_ROUTES];

/** Routes that are about no project, or that take no person's token; `/mcp` is below, since its tools decide. */
const ELSEWHERE = `
GET /health, GET /projects, POST /projects, GET /account, DELETE /account, POST /invitations/:id/accept,
POST /invitations/:id/decline, GET /l/:token, PUT /l/:token, POST /mcp, POST /connect,
GET /connect/oauth-protected-resource, GET /.well-known/openid-configuration,
GET /.well-known/oauth-authorization-server, GET /oauth/jwks, POST /oauth/register, GET /oauth/authorize,
POST /oauth/token, POST /oauth/revoke, GET /oauth/requests/:request, POST /oauth/consent, POST /sweep,
GET /openapi.json, GET /llms.txt`.trim().split(/,\s+/);

test("every route has its row in the table of roles", () => {
  const rows = new Set(ROUTES.map(({ method, path }) => {
    const entry = entryOf(method, path.replace(/\?.*/, "").replace("{file}", "f"));
    return `${entry?.method} ${entry?.pattern}`;
  }));
  const all = ENTRIES.map(({ method, pattern }) => `${method} ${pattern}`);
  assertEquals(all.filter((route) => !rows.has(route)).sort(), ELSEWHERE.toSorted());
  assertEquals([...rows].filter((route) => ELSEWHERE.includes(route) || !all.includes(route)), []);
});

const people = await team();

for (const route of ROUTES) {
  test(`${route.name}: what each role is answered`, async () => {
    for (const role of roles) {
      const file = `${role} ${route.name}.txt`;
      for (
        const [method, path, body, headers] of [
          ["POST", "/files", { path: file, content: "one" }, {}],
          ["PUT", `/files/append/${encodeURIComponent(file)}`, { content: "two" }, {}],
          ["POST", "/files", { path: `${file}/in.txt`, content: "in" }, { "x-run-id": RUN }],
        ] as const
      ) if (FILE_ROUTES.includes(route)) await people.owner.request(method, path, { body, headers });
      const { path, options } = aboutFile(route, file);
      const answer = await people[role].request(route.method, path, options);
      const held: readonly string[] | null = ROLES[role];
      const missing = route.scopes.filter((scope) => held !== null && !held.includes(scope));
      if (held === null) assertRefused(answer, "PROJECT_NOT_FOUND");
      else if (missing.length > 0) {
        const { scope } = assertRefused(answer, "FORBIDDEN_SCOPE");
        assertEquals(missing.some((one) => one === scope), true, `${role}: ${scope}`);
      } else if (route.isForOwner && role !== "owner") {
        assertEquals(assertRefused(answer, "FORBIDDEN_SCOPE"), { role: "owner" }, role);
      } else assertEquals(answer.status, route.status ?? 200, `${role}: ${answer.text}`);
    }
  });
}

/** For each role in order: ok, or the code of the refusal. `s`: FORBIDDEN_SCOPE, `n`: PROJECT_NOT_FOUND. */
const FUNCTIONS: Readonly<Record<string, readonly (readonly [string, object, string])[]>> = {
  filestore_account_administer: [
    ...[["project", "ok ok ok ok n n"], ["usage", "ok ok ok ok n n"], ["session", "ok ok ok ok n n"]],
    ["activity", "ok ok ok ok n n"],
    ["rename", "ok ok s s n n"],
    ["keys", "ok ok s s n n"],
    ["create_key", "ok ok s s n n"],
    ["rotate_key", "KEY_NOT_FOUND KEY_NOT_FOUND s s n n"],
    ["regenerate_key", "ok ok s s n n"],
    ["change_key", "KEY_NOT_FOUND KEY_NOT_FOUND s s n n"],
    ["revoke_key", "KEY_NOT_FOUND KEY_NOT_FOUND s s n n"],
    ["delete", "VALIDATION_ERROR s s s n n"],
  ].map(([action = "", expected = ""]) => [action, {}, expected] as const),
  filestore_account_members: [
    ["members", {}, "ok ok ok ok n n"],
    ["invite", { role: "viewer" }, "ok ok s s n n"],
    ["change_member", { role: "admin" }, "MEMBER_NOT_FOUND MEMBER_NOT_FOUND s s n n"],
    ["remove_member", {}, "MEMBER_NOT_FOUND MEMBER_NOT_FOUND s s n n"],
    ["transfer", {}, "MEMBER_NOT_FOUND s s s n n"],
  ],
  filestore_account_consent: [
    ["read", { scopes: ["read"] }, "ok ok ok ok n n"],
    ["write", { scopes: ["read", "write"] }, "ok ok ok s n n"],
    [
      "admin",
      { scopes: ["admin"] },
      "VALIDATION_ERROR VALIDATION_ERROR VALIDATION_ERROR VALIDATION_ERROR n n",
    ],
  ],
};
/** Functions that people may call and that concern no project in particular. */
const OWN_FUNCTIONS =
  `filestore_account_answer_invitation filestore_account_create_project filestore_account_delete
  filestore_account_describe filestore_account_projects filestore_account_request`.split(/\s+/);

const refusal = z.object({ refusal: z.object({ code: z.string() }).optional() });
const hash = () => (crypto.randomUUID() + crypto.randomUUID()).replaceAll("-", "");

async function codeOf(person: Account, name: string, action: string, given: object): Promise<string> {
  const parameters = {
    id: name === "filestore_account_members" && action === "invite" ? crypto.randomUUID() : NOBODY,
    ...{ email: `${crypto.randomUUID()}@example.org`, tokenHash: hash(), limit: 1, confirm: "another" },
    ...action.endsWith("e_key") && action !== "change_key" && action !== "revoke_key" &&
      { keyHash: hash(), prefix: "oa_0123456", environment: "production", scopes: ["read"] },
    ...given,
  };
  const app = {
    ...{ name: "app", clientHash: hash(), clientName: "app", clientHost: "app.example.com" },
    ...{ redirectUri: "https://app.example.com/", challenge: "c".repeat(43) },
    ...given,
  };
  const body = name === "filestore_account_consent"
    ? { p_request_id: crypto.randomUUID(), p_code_hash: hash(), p_project_id: person.projectId, p_app: app }
    : { p_project_id: person.projectId, p_action: action, p_parameters: parameters };
  const answer = await person.callDatabase(name, body);
  const text = await answer.text();
  assertEquals(answer.status, 200, `${name} ${action}: ${text}`);
  const code = refusal.parse(JSON.parse(text)).refusal?.code ?? "ok";
  return { FORBIDDEN_SCOPE: "s", PROJECT_NOT_FOUND: "n" }[code] ?? code;
}

test("every function and action that people may call at PostgREST has its row", async () => {
  const open = await service.sql<{ name: string }>(
    `select p.proname as name from pg_proc p where p.pronamespace in ('public'::regnamespace, 'filestore'::regnamespace)
     and has_function_privilege('authenticated', p.oid, 'execute') and p.proname like 'filestore%' order by 1`,
  );
  assertEquals(open.map(({ name }) => name), [...Object.keys(FUNCTIONS), ...OWN_FUNCTIONS].sort());
  const actions = async (name: string) => {
    const [row] = await service.sql<{ definition: string }>(
      "select pg_get_functiondef(p.oid) as definition from pg_proc p where p.proname = $1",
      [name],
    );
    const named = [...row?.definition.matchAll(/(?:when|p_action =) '(\w+)'/g) ?? []].map(([, action]) =>
      action
    );
    return [...new Set(named)].filter((action) => action !== "owner").sort();
  };
  const rows = (name: string) => (FUNCTIONS[name] ?? []).map(([action]) => action).sort();
  assertEquals([...await actions("administer"), "session"].sort(), rows("filestore_account_administer"));
  assertEquals(await actions("manage_members"), rows("filestore_account_members"));
});

for (const [name, rows] of Object.entries(FUNCTIONS)) {
  test(`${name} answers each role as the table says, called directly at PostgREST`, async () => {
    const others = await team();
    for (const [action, given, expected] of rows) {
      const found: string[] = [];
      for (const role of roles) found.push(await codeOf(others[role], name, action, given));
      assertEquals(found.join(" "), expected, action);
    }
  });
}

test("no table of the service is open to a member at PostgREST", async () => {
  for (const table of ["members", "projects", "console_sessions", "api_keys", "links"]) {
    const answer = await fetch(`${service.stack.supabaseUrl}/rest/v1/${table}`, {
      headers: {
        "apikey": service.stack.publishableKey,
        "authorization": `Bearer ${people.admin.token}`,
        "accept-profile": "filestore",
      },
    });
    await answer.body?.cancel();
    assertEquals([404, 406].includes(answer.status), true, `${table}: ${answer.status}`);
  }
});

test("a removal and a demotion end with the next request in each of three processes: console, app, link", async () => {
  const by = await owner(service);
  const member = await joined(by, "admin");
  await by.request("POST", "/files", { body: { path: "f.txt", content: "x" } });
  const app = await App.register(service);
  const { access_token: token } = await app.connect(member);
  const { key } = dataOf(
    await member.request("POST", "/project/apikeys", { body: {} }),
    "create_api_key",
    newKeyRecord,
  );
  const made = await member.request("POST", "/links", { body: { path: "f.txt", for: "read" } });
  const { pathname } = new URL(dataOf(made, "create_link", newLink).url);
  const variables = { CONSOLE_URL: `${service.stack.supabaseUrl}/console` };
  const origins: string[] = [];
  /** Of each process: a read, a small and a large write, a list of keys, the app, the link, and the key. */
  const answers = async () => {
    const found: string[] = [];
    for (const origin of origins) {
      const api = apiAt(`${origin}/api`);
      const ask = async (method: string, path: string, body?: object, headers = member.headers) => {
        const answer = await api.request(null, method, path, { headers, ...body && { body } });
        return answer.status;
      };
      const write = { path: `${crypto.randomUUID()}.txt`, content: "x" };
      const statuses = [
        await ask("GET", "/files/f.txt"),
        await ask("POST", "/files", write),
        await ask("POST", "/files", { ...write, content: "x".repeat(100_000) }),
        await ask("GET", "/project/apikeys"),
        await ask("GET", "/files", undefined, { "x-api-key": key }),
        await ask("GET", pathname.slice(pathname.indexOf("/l/")), undefined, {}),
      ];
      found.push(statuses.join(" "));
    }
    return found;
  };
  const three = <T>(one: T): T[] => [one, one, one];
  const change = (role: string) => by.request("PATCH", `/project/members/${member.id}`, { body: { role } });
  const inThree = async (work: () => Promise<void>, count = 3): Promise<void> => {
    if (count === 0) return await work();
    await service.withBareFunction(async (origin) => {
      origins.push(origin);
      await inThree(work, count - 1);
    }, variables);
  };
  const appWrites = async () =>
    (await connected(service, token).result("write_file", { path: "app.txt", content: "x" })).isError ===
      true;
  await inThree(async () => {
    assertEquals(await answers(), three("200 200 200 200 200 200"));
    assertEquals(await appWrites(), false);
    await change("editor");
    assertEquals(await answers(), three("200 200 200 403 200 200"));
    await change("viewer");
    assertEquals(await answers(), three("200 403 403 403 200 200"));
    assertEquals(await appWrites(), true);
    await change("admin");
    assertEquals(await answers(), three("200 200 200 200 200 200"), "a promotion, too");
    await by.request("DELETE", `/project/members/${member.id}`);
    assertEquals(await answers(), three("404 404 404 404 200 410"));
    assertEquals((await connected(service, token).rpc("tools/list")).status, 401);
    await accept(member, (await invited(by, addressOf(member), "viewer")).id);
    assertEquals(await answers(), three("200 403 403 403 200 410"), "only the link does not return");
  });
});

test("the tools of /mcp are those of the role", async () => {
  const tools = async (role: Role) => {
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "write_file",
        arguments: { path: "mcp.txt", content: "x" },
      },
    };
    const headers = { accept: "application/json, text/event-stream" };
    return (await people[role].request("POST", "/mcp", { body, headers })).text;
  };
  for (const role of ["owner", "admin", "editor"] as const) {
    assertEquals(/FORBIDDEN_SCOPE/.test(await tools(role)), false, role);
  }
  assertEquals(/lacks the scope `write`/.test(await tools("viewer")), true);
  for (const role of ["guest", "stranger"] as const) {
    assertEquals(/PROJECT_NOT_FOUND/.test(await tools(role)), true, role);
  }
});
