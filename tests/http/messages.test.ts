/** The whole text of messages: each tells what was wrong and how to send the request instead. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { CONTENT_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import type { RequestOptions } from "../support/client/api.ts";
import type { Answer } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const account = await owner(service);
const { key: all } = await account.createKey({ scopes: ["read", "write"] });
const { key: reading } = await account.createKey({ scopes: ["read"] });
const { key: narrow } = await account.createKey({ scopes: ["read", "write"], pathPrefix: "notes" });
const own = new Files(service, all);
await own.write("notes/plan.md", "# Plan\n");
await own.write("gone.md", "x");
await own.remove("gone.md");

const RAW = "To store a file as it is, send its bytes as the body of `POST /files?path=…`.";
const EDIT = "PUT /files/edit/notes/plan.md";
const TIME =
  "must be a time in ISO 8601 with a zone, such as 2026-01-31T12:00:00Z, or a cursor of the change feed";
const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
const json = (content: string) => ({ body: content, headers: { "content-type": "application/json" } });

const failure = z.looseObject({ success: z.literal(false), error: z.looseObject({ message: z.string() }) });
const done = z.looseObject({ success: z.literal(true), message: z.string() });

function messageOf({ body }: Answer): string {
  const answer = z.union([failure, done]).parse(body);
  return answer.success ? answer.message : answer.error.message;
}

/** The key, the request, and the message. */
const ROWS: readonly (readonly [string | null, string, string, RequestOptions?])[] = [
  [null, "GET /files", "Send an API key in the header `x-api-key`."],
  ["oa_wrong", "GET /files", "The API key is not valid: it is malformed, unknown, revoked or expired."],
  [
    all,
    "PUT /files/x",
    "The methods of this path are GET, HEAD, DELETE. To change a file, PUT to /files/append/…, /files/overwrite/… or " +
    "/files/edit/…; POST /files creates one.",
  ],
  [all, "GET /files?at=yesterday", `at: ${TIME}`],
  [all, `GET /files/notes/plan.md?at=0123`, `at: ${TIME}`],
  [all, `GET /files?at=${tomorrow}`, "at: must not be in the future"],
  [all, "GET /changes?after=yesterday", "after: must be a cursor, or now"],
  [
    all,
    "PUT /files/append/notes/plan.md",
    "The file is at version 1, which is not the one that the request expects. Nothing was done. `If-Match` takes the " +
    "`ETag` of a read.",
    { body: { content: "x" }, headers: { "if-match": '"5"' } },
  ],
  [all, "GET /search?mode=regex&q=(a", "q: has a `(` without `)`"],
  [
    all,
    "POST /files",
    `The body must be JSON in UTF-8, with Content-Type application/json. ${RAW}`,
    { body: "--x--", headers: { "content-type": "multipart/form-data; boundary=x" } },
  ],
  [
    all,
    "POST /files",
    `\`content\` has at most ${CONTENT_LENGTH_MAX} characters. ${RAW}`,
    json(`{"path":"a","content":"${"a".repeat(16_000_000)}"}`),
  ],
  [all, "GET /files/notes", "This path is a directory, which can be listed but not read."],
  [all, "GET /files/none", "There is no file at this path."],
  [all, "GET /files/gone.md", "The file was deleted by its version 2."],
  [all, "DELETE /folders/none", "There are no files below `none`."],
  [narrow, "GET /files/o.md", "There is no file at this path. The key reaches only paths below `notes`."],
  [narrow, "POST /files", "The key can write only below `notes`.", { body: { path: "o.md", content: "x" } }],
  [reading, "POST /files", "The key lacks the scope `write`.", { body: { path: "a", content: "x" } }],
  [all, "POST /files", "path: must be a string", { body: { path: 5, content: "x" } }],
  [all, "POST /files", "path: is required", { body: { content: "x" } }],
  [all, EDIT, "oldString: must not be empty", { body: { oldString: "", newString: "x" } }],
  [all, "PUT /files/append/notes/plan.md", "content: must not be empty", { body: { content: "" } }],
  [all, "GET /files?limit=0", "limit: must be at least 1"],
  [all, "GET /files?limit=101", "limit: must be at most 100"],
  [all, "GET /files?sortOrder=up", 'sortOrder: must be one of "asc", "desc"'],
  [all, "POST /batch", "operations: must have at least 1 item", { body: { operations: [] } }],
  [all, EDIT, "replaceAll: must be true or false", {
    body: { oldString: "a", newString: "b", replaceAll: "yes" },
  }],
];

for (const [key, request, message, options] of ROWS) {
  test(`${request}: ${message}`, async () => {
    const [method = "", path = ""] = request.split(" ");
    const answer = await service.request(key, method, path, options);
    assertEquals(messageOf(answer), message);
  });
}

test("a message names one thing in the singular, and any other number in the plural", async () => {
  const messages = {
    ...{ "/changes?limit=1": "1 change.", "/changes?limit=2": "2 changes." },
    ...{ "/files?directory=notes": "1 of 1 file.", "/files?directory=none": "0 of 0 files." },
  };
  for (const [path, message] of Object.entries(messages)) {
    assertEquals(messageOf(await service.request(all, "GET", path)), message);
  }
});
