/** `deno task acceptance` against a whole stack, as an operator runs it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { IS_LONG } from "../support/runner/long.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const { service, files } = await privateSuite({});

const RUN = fileURLToPath(new URL("../acceptance/run.ts", import.meta.url));

/**
 * The areas to run; an empty list means all. Other test files run each area against the same service, so the short form
 * has only one that uses both projects.
 */
const FIRST_AREAS = IS_LONG ? [] : ["isolation"];

function command(args: readonly string[], secretKey: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", RUN, "--url", service.baseUrl, ...args],
    env: { SUPABASE_SECRET_KEY: secretKey },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function run(args: readonly string[], secretKey = "") {
  const { code, stdout, stderr } = await command(args, secretKey).output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

/** Files of acceptance runs, in any folder, that are not deleted. */
async function filesLeft(): Promise<number> {
  const [row] = await service.sql<{ count: number }>(
    "select count(*)::integer as count from filestore.files where path like 'acceptance-%' and not is_deleted",
  );
  return row?.count ?? NaN;
}

test("acceptance: with the secret key every guarantee that is asked for is checked and holds; files and keys are gone afterwards", async () => {
  for (const areas of [FIRST_AREAS, ["restore"]]) {
    const { code, text } = await run(areas, service.stack.secretKey);
    assertEquals(code, 0, text);
    assertMatch(text, /\n\d+ passed, 0 failed; \d+ requests\n$/);
  }
  assertEquals(await filesLeft(), 0);
  const keys = await service.sql(
    `select count(distinct p.name)::integer as projects, count(*)::integer as keys, count(k.revoked_at)::integer as revoked
     from filestore.api_keys k join filestore.projects p on p.id = k.project_id where p.name like 'acceptance%'`,
  );
  // The second run creates no more projects.
  assertEquals(keys, [{ projects: 2, keys: 4, revoked: 4 }]);
});

test("acceptance: with a key alone it works in that project, and says what it leaves out", async () => {
  const own = await files("pro");
  await own.write("mine.txt", "kept");
  const { code, text } = await run(["--key", own.key, "delete", "restore"]);
  assertEquals(code, 0, text);
  assertMatch(text, /\n\d+ passed, 0 failed, 1 left out, which need the secret key; \d+ requests\n$/);
  assert(text.includes("  ok    200: a delete is the next version"), text);
  assertEquals(await own.paths({ recursive: true }), ["mine.txt"]);
});

test("acceptance: what does not hold is named with its reason, the status is 1, and the files are removed all the same", async () => {
  const own = await files();
  service.proxy.hook = (call, forward) =>
    call.path.includes("filestore_content") ? new Response("down", { status: 502 }) : forward();
  try {
    const { code, text } = await run(["--key", own.key, "restore"]);
    assertEquals(code, 1, text);
    assertMatch(text, /\n {2}FAIL {2}.*\n {10}.*503/s);
    assertMatch(text, /\n\d+ passed, [1-9]\d* failed; \d+ requests\n$/);
  } finally {
    service.proxy.hook = null;
  }
  assertEquals(await own.paths({ recursive: true }), []);
});

test("acceptance: Ctrl-C removes what was written", async () => {
  const own = await files();
  const child = command(["--key", own.key, "paths", "content"], "");
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  let text = "";
  for await (const part of lines) {
    if (!text.includes("  ok ") && (text + part).includes("  ok ")) child.kill("SIGINT");
    text += part;
  }
  const { code } = await child.status;
  await child.stderr.cancel();
  assertEquals(code, 130, text);
  assert(text.includes("Interrupted"), text);
  assertEquals(await own.paths({ recursive: true }), []);
});

test("acceptance: an address or a key that is none ends with one line", async () => {
  const unknown = await run(["--key", "oa_nonsense"]);
  assertEquals(unknown.code, 1);
  assertMatch(unknown.text, /\nError: The service does not take this key \(status 401\)\.\n$/);
  const other = await run(["--key", "oa_x", "--url", `${service.stack.supabaseUrl}/functions/v1/other`]);
  assertEquals(other.code, 1);
  assertMatch(other.text, /^Error: .*parse|^Error: .*is not this service/);
});
