/** A link lets its holder read one file, or write it once; contract D1. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { LINK_REQUESTS_PER_MINUTE, PROJECT_LINKS_MAX } from "../../supabase/functions/api/limits.ts";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { newKey } from "../../supabase/local/admin/new_key.ts";
import { claimsOf, owner, signUp } from "../support/client/accounts.ts";
import {
  type Answer,
  assertRefused,
  type Code,
  dataOf,
  fileRecord,
  issuePaths,
  linkList,
  newLink,
  revokedLink,
  rotatedKeyRecord,
} from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { inParallel } from "../support/in_parallel.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

type Fields = Readonly<Record<string, unknown>>;

function tryLink(own: Files, path: string, fields: Fields): Promise<Answer> {
  return own.request("POST", "/links", { body: { path, ...fields } });
}

async function link(own: Files, path: string, fields: Fields) {
  const made = dataOf(await tryLink(own, path, fields), "create_link", newLink);
  return { ...made, target: made.url.slice(service.baseUrl.length) };
}

const readLink = (own: Files, path: string, fields: Fields = {}) =>
  link(own, path, { for: "read", ...fields });
const writeLink = (own: Files, path: string, fields: Fields = {}) =>
  link(own, path, { for: "write", ...fields });

async function links(own: Files) {
  return dataOf(await own.request("GET", "/links"), "list_links", linkList).links;
}

/** Other tests of this process fail to authenticate, too, and use up the failures allowed to their address. */
const ADDRESS = { "cf-connecting-ip": "203.0.113.71" };

/** Sends a request without a key. */
function use(method: string, target: string, body?: unknown, headers: Record<string, string> = {}) {
  return service.request(null, method, target, { body, headers: { ...ADDRESS, ...headers } });
}

function assertUnusable(answer: Answer, code: Code): void {
  assertRefused(answer, code, answer.method === "PUT" ? "write_link" : "read_link");
}

/** Asserts that no such link is made. Returns the details of the refusal. */
async function refuse(own: Files, path: string, fields: Fields, code: Code) {
  return assertRefused(await tryLink(own, path, fields), code, "create_link");
}

/** Writes by a link. */
const put = async (target: string, body: string, headers = {}) =>
  dataOf(await use("PUT", target, body, headers), "write_link", fileRecord);

test("a read link gives anyone who has it the bytes, as a download that no browser executes", async (own) => {
  await own.write("seite/Über uns.html", "<script>alert(1)</script>");
  const { target, method, curl } = await readLink(own, "seite/Über uns.html");
  assertEquals(method, "GET");
  assertMatch(target, /^\/l\/[\w-]{43}$/);
  assertEquals(curl, `curl -fsS -o 'Über uns.html' '${service.baseUrl}${target}'`);
  const { status, text, headers } = await use("GET", target);
  assertEquals([status, text], [200, "<script>alert(1)</script>"]);
  assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
  assertEquals(
    headers.get("content-disposition"),
    `attachment; filename="_ber uns.html"; filename*=UTF-8''%C3%9Cber%20uns.html`,
  );
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assert(headers.get("content-security-policy")?.startsWith("sandbox"));
  assertEquals(headers.get("referrer-policy"), "no-referrer");
  const head = await use("HEAD", target);
  assertEquals([head.status, head.text, head.headers.get("content-length")], [200, "", String(text.length)]);
});

test("ranges, If-Range and If-None-Match of a read link are those of a read", async (own) => {
  await own.write("f.txt", "0123456789");
  const { target } = await readLink(own, "f.txt");
  const whole = await use("GET", target);
  const tag = whole.headers.get("etag") ?? "";
  const part = await use("GET", target, undefined, { range: "bytes=2-4", "if-range": tag });
  assertEquals([part.status, part.text, part.headers.get("content-range")], [206, "234", "bytes 2-4/10"]);
  const other = await use("GET", target, undefined, { range: "bytes=2-4", "if-range": '"other"' });
  assertEquals([other.status, other.text], [200, "0123456789"]);
  assertUnusable(await use("GET", target, undefined, { range: "bytes=10-" }), "RANGE_NOT_SATISFIABLE");
  assertEquals((await use("GET", target, undefined, { "if-none-match": tag })).status, 304);
  assertUnusable(await use("GET", target, undefined, { "if-none-match": "bad" }), "VALIDATION_ERROR");
});

test("without a version a read link follows the latest, and is 404 while the file is deleted", async () => {
  const own = await files();
  await own.write("f.txt", "one");
  const latest = await readLink(own, "f.txt");
  const first = await readLink(own, "f.txt", { version: 1 });
  await own.write("f.txt", "two");
  assertEquals((await use("GET", latest.target)).text, "two");
  assertEquals((await use("GET", first.target)).text, "one");
  await own.remove("f.txt");
  const missing = assertRefused(await use("GET", latest.target), "FILE_NOT_FOUND", "read_link");
  assertEquals(missing, {}, "a link tells nothing about the project");
  assertEquals((await use("GET", first.target)).text, "one");
  await own.write("f.txt", "four");
  assertEquals((await use("GET", latest.target)).text, "four");
  await refuse(own, "f.txt", { for: "read", version: 3 }, "FILE_NOT_FOUND");
  await refuse(own, "f.txt", { for: "read", version: 9 }, "VERSION_NOT_FOUND");
  await refuse(own, "none.txt", { for: "read" }, "FILE_NOT_FOUND");
});

test("a write link makes exactly one version, as its key, and says so from then on", async (own) => {
  const { target, method, curl } = await writeLink(own, "in/it's.txt");
  assertEquals([method, curl], ["PUT", `curl -fsS -T 'it'\\''s.txt' '${service.baseUrl}${target}'`]);
  const written = await put(target, "by a stranger");
  assertEquals([written.path, written.version, written.mimeType], ["in/it's.txt", 1, "text/plain"]);
  assertUnusable(await use("PUT", target, "again"), "LINK_USED");
  assertEquals((await own.read("in/it's.txt")).content, "by a stranger");
  const [row] = await service.sql<{ key: string }>(
    "select key_id as key from filestore.file_versions where file_id = $1",
    [written.id],
  );
  assertEquals(row?.key, own.project.keyId);
});

test("the type of a PUT is the link's, else the header's, else by extension", async (own) => {
  const typeOf = async (fields: Fields, headers: Record<string, string>) => {
    const { target } = await writeLink(own, "f.md", fields);
    return (await put(target, "{}", headers)).mimeType;
  };
  const json = { "content-type": "application/json" };
  assertEquals(await typeOf({ contentType: "text/csv" }, json), "text/csv");
  assertEquals(await typeOf({}, json), "application/json");
  assertEquals(await typeOf({}, { "content-type": "application/x-www-form-urlencoded" }), "text/markdown");
  assertEquals(await typeOf({}, {}), "text/markdown");
});

test("a refused PUT uses nothing up and stores nothing", async () => {
  const own = await files("enterprise");
  await own.write("f.bin", "version 1");
  const small = await writeLink(own, "f.bin", { maxBytes: 4, ifVersion: 1 });
  const fresh = await writeLink(own, "f.bin", { ifVersion: 0 });
  const next = await writeLink(own, "f.bin", { ifVersion: 2 });
  const before = service.objectsOnDisk();
  const large = assertRefused(await use("PUT", small.target, "12345"), "CONTENT_TOO_LARGE", "write_link");
  assertEquals(large["limitBytes"], 4);
  assertEquals((await use("PUT", fresh.target, "x")).status, 412);
  const stale = assertRefused(await use("PUT", next.target, "x"), "PRECONDITION_FAILED", "write_link");
  assertEquals(stale, { version: 1 });
  assertUnusable(await use("PUT", small.target, "x", { "if-match": '"other"' }), "PRECONDITION_FAILED");
  const compressed = await use("PUT", small.target, "x", { "content-encoding": "gzip" });
  assertUnusable(compressed, "UNSUPPORTED_MEDIA_TYPE");
  assertEquals(service.objectsOnDisk(), before);
  assertEquals((await put(small.target, "1234")).version, 2);
  assertEquals((await put(next.target, "x")).version, 3);
  await own.remove("f.bin");
  assertEquals((await put(fresh.target, "x")).version, 5);
});

test("the key's quota and tier hold for what its links write", async () => {
  const own = await files("free", { maxFileBytes: 10 });
  const { target } = await writeLink(own, "f.txt");
  const refused = assertRefused(await use("PUT", target, "x".repeat(11)), "CONTENT_TOO_LARGE", "write_link");
  assertEquals(refused["limitBytes"], 10);
  assertEquals((await use("PUT", target, "x".repeat(10))).status, 200);
});

test("an Idempotency-Key makes a repeated PUT the same one", async (own) => {
  const { target } = await writeLink(own, "f.txt");
  const once = { "idempotency-key": "once" };
  const first = await put(target, "x", once);
  const again = await use("PUT", target, "x", once);
  assertEquals(dataOf(again, "write_link", fileRecord), first);
  assertEquals(again.headers.get("idempotency-replayed"), "true");
  assertUnusable(await use("PUT", target, "y", once), "IDEMPOTENCY_KEY_REUSED");
  assertUnusable(await use("PUT", target, "x", { "idempotency-key": "other" }), "LINK_USED");
  const keys = await own.post({ path: "g.txt", content: "x" }, once);
  assertEquals([keys.status, keys.headers.get("idempotency-replayed")], [200, null], "the key has its own");
  assertEquals((await own.versions("f.txt")).total, 1);
});

test("many PUTs at the same time on one write link make one version", async (own) => {
  const { target } = await writeLink(own, "f.txt");
  const numbers = Array.from({ length: 128 }, (_, n) => n);
  const answers = await inParallel(numbers, 64, (n) => use("PUT", target, `${n}`));
  const won = answers.flatMap(({ status }, n) => status === 200 ? [n] : []);
  assertEquals(won.length, 1);
  for (const answer of answers) if (answer.status !== 200) assertUnusable(answer, "LINK_USED");
  assertEquals([(await own.versions("f.txt")).total, (await own.read("f.txt")).content], [1, String(won[0])]);
  const [stored] = await service.sql<{ count: number }>(
    "select count(*)::integer as count from storage.objects where name like $1",
    [`${own.project.id}/%`],
  );
  assertEquals(stored?.count, 1, "what the others uploaded is gone");
});

test("a link dies with its key, survives its rotation, and ends when it is revoked or expires", async () => {
  const account = await owner(service);
  const made = await account.createKey();
  const own = new Files(service, made.key);
  await own.write("f.txt", "x");
  const [reads, writes] = [await readLink(own, "f.txt"), await writeLink(own, "g.txt")];
  const [revoked, expired] = [await readLink(own, "f.txt"), await readLink(own, "f.txt")];
  await service.sql("update filestore.links set expires_at = now() where id = $1", [expired.id]);
  assertUnusable(await use("GET", expired.target), "LINK_EXPIRED");
  const end = await own.request("DELETE", `/links/${revoked.id}`);
  assertEquals(dataOf(end, "revoke_link", revokedLink).id, revoked.id);
  assertUnusable(await use("GET", revoked.target), "LINK_EXPIRED");
  assertEquals((await own.request("DELETE", `/links/${revoked.id}`)).text, end.text, "again is the same");

  const rotation = await account.request("POST", `/project/apikeys/${made.id}/rotate`);
  const rotated = dataOf(rotation, "rotate_api_key", rotatedKeyRecord);
  assertEquals((await use("GET", reads.target)).status, 200);
  assertEquals((await account.request("DELETE", `/project/apikeys/${rotated.id}`)).status, 200);
  assertUnusable(await use("GET", reads.target), "LINK_EXPIRED");
  assertUnusable(await use("PUT", writes.target, "x"), "LINK_EXPIRED");
  assertEquals((await account.request("GET", "/files/g.txt")).status, 404);
});

test("an operator's rotation keeps links, too; a key's expiry ends them", async (own) => {
  await own.write("f.txt", "x");
  const { target } = await readLink(own, "f.txt");
  const { apiKey, stored } = await newKey();
  const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);
  await administration.rotateKey(own.project.keyId, stored, 0);
  assertEquals((await use("GET", target)).status, 200);
  await new Files(service, apiKey).read("f.txt");
  const expire = "update filestore.api_keys set expires_at = now() where project_id = $1";
  await service.sql(expire, [own.project.id]);
  assertUnusable(await use("GET", target), "LINK_EXPIRED");
});

test("one made in the console ends with the ownership", async () => {
  const [account, next] = [await owner(service), await signUp(service)];
  await account.request("POST", "/files", { body: { path: "f.txt", content: "x" } });
  const make = async (kind: "read" | "write") => {
    const answer = await account.request("POST", "/links", { body: { path: "f.txt", for: kind } });
    return dataOf(answer, "create_link", newLink).url.slice(service.baseUrl.length);
  };
  const [reads, writes] = [await make("read"), await make("write")];
  assertEquals((await use("GET", reads)).status, 200);
  const email = String(claimsOf(next.token)["email"]);
  const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);
  await administration.updateProject(account.projectId, { owner: email });
  assertUnusable(await use("GET", reads), "LINK_EXPIRED");
  assertUnusable(await use("PUT", writes, "x"), "LINK_EXPIRED");
});

test("a suspended project's links are refused", async (own) => {
  await own.write("f.txt", "x");
  const { target } = await readLink(own, "f.txt");
  await service.sql("update filestore.projects set suspended_at = now() where id = $1", [own.project.id]);
  assertUnusable(await use("GET", target), "FORBIDDEN_SCOPE");
});

test("an address that nobody made is 404, a method that the link is not for 405", async (own) => {
  await own.write("f.txt", "x");
  for (const token of ["x", "A".repeat(43), "A".repeat(44), "%00", "a b"]) {
    assertUnusable(await use("GET", `/l/${encodeURIComponent(token)}`), "LINK_NOT_FOUND");
    assertUnusable(await use("PUT", `/l/${encodeURIComponent(token)}`, "x"), "LINK_NOT_FOUND");
  }
  const { target: reads } = await readLink(own, "f.txt");
  const { target: writes } = await writeLink(own, "f.txt");
  for (const [method, target, allowed] of [["PUT", reads, "GET, HEAD"], ["GET", writes, "PUT"]] as const) {
    const answer = await use(method, target);
    assertUnusable(answer, "METHOD_NOT_ALLOWED");
    assertEquals(answer.headers.get("allow"), allowed);
  }
  const other = await use("DELETE", reads);
  assertEquals([other.status, other.headers.get("allow")], [405, "GET, HEAD, PUT"]);
});

test("a token is no key, and is stored nowhere", async (own) => {
  await own.write("f.txt", "x");
  const { target } = await readLink(own, "f.txt");
  const token = target.slice("/l/".length);
  assertRefused(await service.request(token, "GET", "/files/f.txt"), "INVALID_API_KEY", "read_file");
  assertEquals((await use("GET", target)).status, 200);
  const rows = await service.sql<{ text: string }>("select l::text as text from filestore.links l");
  assert(rows.length > 0 && rows.every(({ text }) => !text.includes(token)));
  assert(service.log.every((line) => !line.includes(token)), "the log has the token");
});

test("scopes: a link needs what it gives, and a key to write", async () => {
  const account = await owner(service);
  const by = async (scopes: string[]) => new Files(service, (await account.createKey({ scopes })).key);
  const [reader, writer] = [await by(["read"]), await by(["write"])];
  await writer.write("f.txt", "x");
  assertEquals(await refuse(writer, "f.txt", { for: "read" }, "FORBIDDEN_SCOPE"), { scope: "read" });
  for (const kind of ["read", "write"]) {
    assertEquals(await refuse(reader, "f.txt", { for: kind }, "FORBIDDEN_SCOPE"), { scope: "write" });
  }
  const { id } = await writeLink(writer, "f.txt");
  assertRefused(await reader.request("DELETE", `/links/${id}`), "FORBIDDEN_SCOPE", "revoke_link");
  assertRefused(await writer.request("GET", "/links"), "FORBIDDEN_SCOPE", "list_links");
  const [shown] = await links(reader);
  assertEquals([shown?.id, shown?.keyId], [id, undefined]);
  const [owners] = dataOf(await account.request("GET", "/links"), "list_links", linkList).links;
  assertEquals([owners?.id, typeof owners?.keyId], [id, "string"]);
});

test("prefixes: a key makes, sees and revokes links below its prefix alone", async () => {
  const account = await owner(service);
  const whole = new Files(service, (await account.createKey()).key);
  const own = new Files(service, (await account.createKey({ pathPrefix: "team" })).key);
  await whole.write("secret.txt", "x");
  await whole.write("team/f.txt", "x");
  const outside = await writeLink(whole, "secret.txt");
  const inside = await readLink(whole, "team/f.txt");
  for (const kind of ["read", "write"]) {
    assertEquals(await refuse(own, "secret.txt", { for: kind }, "FORBIDDEN_SCOPE"), { pathPrefix: "team" });
  }
  const mine = await readLink(own, "team/f.txt");
  assertEquals((await links(own)).map(({ id }) => id).sort(), [inside.id, mine.id].sort());
  assertRefused(await own.request("DELETE", `/links/${outside.id}`), "LINK_NOT_FOUND", "revoke_link");
  assertEquals((await own.request("DELETE", `/links/${inside.id}`)).status, 200);
  assertEquals((await use("PUT", outside.target, "y")).status, 200);
});

test("a list shows what can be used, newest first, without addresses", async (own) => {
  await own.write("f.txt", "x");
  const fields = { contentType: "text/csv", maxBytes: 5, ifVersion: 1, expiresIn: 60 };
  const used = await writeLink(own, "f.txt");
  assertEquals((await use("PUT", used.target, "x")).status, 200);
  const first = await writeLink(own, "f.txt", fields);
  const second = await readLink(own, "f.txt", { version: 1 });
  const listed = await links(own);
  assertEquals(listed.map(({ id }) => id), [second.id, first.id]);
  const { expiresIn, ...rest } = fields;
  const createdAt = listed[1]?.createdAt ?? "";
  const { id, expiresAt } = first;
  assertEquals(listed[1], { id, for: "write", path: "f.txt", ...rest, createdAt, expiresAt });
  assertEquals(Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000), expiresIn);
});

test("60 reads a minute of each link, outside the project's window, and all together as its limit", async () => {
  const own = await files("free", { requestsPerMinute: 70 });
  await own.write("f.txt", "x");
  const [first, second] = [await readLink(own, "f.txt"), await readLink(own, "f.txt")];
  const before = (await own.get("f.txt")).headers.get("x-ratelimit-remaining");
  await freezeLinkWindow(own.project.id, first.id, LINK_REQUESTS_PER_MINUTE - 1);
  const last = await use("GET", first.target);
  assertEquals([last.status, last.headers.get("x-ratelimit-remaining")], [200, "0"]);
  assertUnusable(await use("GET", first.target), "RATE_LIMIT_EXCEEDED");
  assertEquals((await use("GET", second.target)).status, 200, "another link has its own");
  await freezeLinkWindow(own.project.id, ALL_LINKS, 70);
  const third = await readLink(own, "f.txt");
  assertUnusable(await use("GET", third.target), "RATE_LIMIT_EXCEEDED");
  assert(Number(before) > 0 && (await own.get("f.txt")).status === 200, "the project's window is its own");
});

test("refused PUTs of a link are limited as its reads are", async (own) => {
  const { id, target } = await writeLink(own, "f.txt", { ifVersion: 7 });
  assertUnusable(await use("PUT", target, "x"), "PRECONDITION_FAILED");
  await freezeLinkWindow(own.project.id, id, LINK_REQUESTS_PER_MINUTE - 1);
  assertUnusable(await use("PUT", target, "x"), "PRECONDITION_FAILED");
  assertUnusable(await use("PUT", target, "x"), "RATE_LIMIT_EXCEEDED");
});

const ALL_LINKS = "00000000-0000-0000-0000-000000000000";

/** Sets the count for the minute ten minutes ahead, which no clock ends during the test. */
async function freezeLinkWindow(projectId: string, id: string, count: number) {
  await service.sql(
    `insert into filestore.link_windows values
       ($1, $2, date_trunc('minute', clock_timestamp()) + interval '10 minutes', $3)
     on conflict (project_id, link_id) do update
       set window_start = excluded.window_start, request_count = excluded.request_count`,
    [projectId, id, count],
  );
}

test("a project has a bounded number of usable links, and deletes the oldest of the others", async (own) => {
  await own.write("f.txt", "x");
  const { id, target } = await readLink(own, "f.txt");
  await service.sql(
    `insert into filestore.links (id, project_id, token_hash, scope, path, key_id, key_hash, created_at, expires_at)
     select gen_random_uuid(), l.project_id, sha256(n::text::bytea), l.scope, l.path, l.key_id, l.key_hash,
       l.created_at - n * interval '1 second',
       case when n < $2 then l.expires_at else l.created_at end
     from filestore.links l, generate_series(1, 2 * $2::integer - 1) n where l.id = $1`,
    [id, PROJECT_LINKS_MAX],
  );
  const refused = await refuse(own, "f.txt", { for: "read" }, "LINK_LIMIT_REACHED");
  assertEquals(refused, { limit: PROJECT_LINKS_MAX });
  assertEquals((await own.request("DELETE", `/links/${id}`)).status, 200);
  await readLink(own, "f.txt");
  const [row] = await service.sql<{ count: number; oldest: boolean }>(
    `select count(*)::integer as count, bool_or(token_hash = sha256($2::text::bytea)) as oldest
     from filestore.links where project_id = $1`,
    [own.project.id, String(2 * PROJECT_LINKS_MAX - 1)],
  );
  assertEquals([row?.count, row?.oldest], [2 * PROJECT_LINKS_MAX, false]);
  assertUnusable(await use("GET", target), "LINK_EXPIRED");
});

test("the sweep forgets links that ended long ago", async (own) => {
  await own.write("f.txt", "x");
  const { id, target } = await readLink(own, "f.txt");
  await service.sql("update filestore.links set expires_at = now() - interval '8 days' where id = $1", [id]);
  assertUnusable(await use("GET", target), "LINK_EXPIRED");
  await service.sql("select public.filestore_sweep_next()");
  await service.restartFunction();
  assertUnusable(await use("GET", target), "LINK_NOT_FOUND");
});

test("400 for what makes no sense, and nothing is made", async (own) => {
  await own.write("f.txt", "x");
  const wrong: readonly (readonly [Fields, string])[] = [
    [{}, "for"],
    [{ for: "both" }, "for"],
    [{ for: "read", expiresIn: 59 }, "expiresIn"],
    [{ for: "read", expiresIn: 604_801 }, "expiresIn"],
    [{ for: "write", expiresIn: 3601 }, "expiresIn"],
    [{ for: "read", expiresIn: "60" }, "expiresIn"],
    [{ for: "write", version: 1 }, "version"],
    [{ for: "read", version: 0 }, "version"],
    [{ for: "read", contentType: "text/plain" }, "contentType"],
    [{ for: "write", contentType: "text/x" }, "contentType"],
    [{ for: "read", maxBytes: 1 }, "maxBytes"],
    [{ for: "write", maxBytes: 0 }, "maxBytes"],
    [{ for: "read", ifVersion: 1 }, "ifVersion"],
    [{ for: "write", ifVersion: -1 }, "ifVersion"],
  ];
  for (const [fields, path] of wrong) {
    const details = await refuse(own, "f.txt", fields, "VALIDATION_ERROR");
    assertEquals(issuePaths(details), [path], JSON.stringify(fields));
  }
  await refuse(own, "/f.txt", { for: "read" }, "INVALID_PATH");
  assertRefused(await own.request("DELETE", "/links/nonsense"), "LINK_NOT_FOUND", "revoke_link");
  assertEquals(await links(own), []);
  assertEquals((await readLink(own, "f.txt", { version: null, expiresIn: null })).path, "f.txt");
});
