/**
 * `deno task files purge` and `redact` erase for good, and only with the path confirmed. A refusal is one line and
 * status 1, or 2 for a command line that cannot be executed.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { REDACT_VERSIONS_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused } from "../support/client/contract.ts";
import { administrator } from "../support/client/erasure.ts";
import type { Files } from "../support/client/files.ts";
import { runCommand } from "../support/stack/command.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

const to = (project: Files) => ["--url", service.baseUrl, "--key", project.key];

async function succeed(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await runCommand("files.ts", ...args);
  assertEquals(code, 0, stderr);
  return { stdout, stderr };
}

async function refuse(status: 1 | 2, expected: string, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await runCommand("files.ts", ...args);
  assertEquals([code, stdout, stderr.trimEnd().split("\n").length], [status, "", 1], stderr);
  assertStringIncludes(stderr, expected);
}

test("purge erases a file, also a deleted one, once its path is confirmed", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("a b/ö.txt", "secret");
  await own.append("a b/ö.txt", "s");
  await own.write("gone.txt", "x");
  await own.remove("gone.txt");
  const before = await service.tables();
  await refuse(2, "requires --confirm PATH", "purge", "a b/ö.txt", ...to(admin));
  await refuse(
    1,
    "Nothing was erased: the confirmation is not the path a b/ö.txt",
    "purge",
    "a b/ö.txt",
    "--confirm",
    "ö.txt",
    ...to(admin),
  );
  assertEquals(await service.tables(), before);
  await refuse(1, "FORBIDDEN_SCOPE", "purge", "a b/ö.txt", "--confirm", "a b/ö.txt", ...to(own));
  await refuse(1, "FILE_NOT_FOUND", "purge", "none", "--confirm", "none", ...to(admin));
  const { stdout } = await succeed("purge", "a b/ö.txt", "--confirm", "a b/ö.txt", ...to(admin));
  assertEquals(stdout, "Erased a b/ö.txt for good: 2 versions with 7 bytes.\n");
  assertRefused(await own.request("GET", "/files/a%20b/%C3%B6.txt?versions"), "FILE_NOT_FOUND");
  const json = await succeed("purge", "gone.txt", "--confirm", "gone.txt", "--json", ...to(admin));
  assertEquals(JSON.parse(json.stdout), { path: "gone.txt", versions: 2, bytes: 1, pendingVersions: 0 });
});

test("redact erases versions by number and range, and names what still shares a piece", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  for (let n = 1; n <= 5; n++) await own.write("log", `${n}`);
  await own.put("restore", "log", { version: 2 });
  await refuse(1, "FORBIDDEN_SCOPE", "redact", "log", "--versions", "1", ...to(own));
  await refuse(1, "VERSION_CURRENT", "redact", "log", "--versions", "1,6", ...to(admin));
  await refuse(1, "VERSION_NOT_FOUND", "redact", "log", "--versions", "7", ...to(admin));
  const { stdout, stderr } = await succeed(
    ...["redact", "log", "--versions", "5,2-3", "--note", "a password", ...to(admin)],
  );
  assertEquals(stdout, "Erased the content of 3 versions of log for good.\n");
  assertStringIncludes(stderr, "contain part of the erased content: log version 6.");
  const { versions } = await own.versions("log", { limit: 100 });
  assertEquals(
    versions.filter(({ redactedAt }) => redactedAt !== undefined).map(({ version, note }) => [version, note]),
    [[5, "a password"], [3, "a password"], [2, "a password"]],
  );
  assertEquals((await own.read("log", { version: 4 })).content, "4");
  const json = await succeed("redact", "log", "--versions", "1", "--json", ...to(admin));
  assertEquals(JSON.parse(json.stdout), { path: "log", versions: [1], remaining: [] });
});

test("what the commands do not accept changes nothing, and says what they do", async () => {
  const own = await files();
  const admin = await administrator(service, own.project.id);
  await own.write("log", "1");
  const before = await service.tables();
  await refuse(2, "missing required argument 'path'", "purge", ...to(admin));
  await refuse(2, "requires --versions", "redact", "log", ...to(admin));
  await refuse(2, "unknown option '--versions'", "purge", "log", "--versions", "1", ...to(admin));
  await refuse(2, "unknown option '--confirm'", "redact", "log", "--confirm", "log", ...to(admin));
  await refuse(2, "A version must be a whole number", "redact", "log", "--versions", "0", ...to(admin));
  await refuse(2, "The end of a range", "redact", "log", "--versions", "3-2", ...to(admin));
  await refuse(2, "numbers or ranges", "redact", "log", "--versions", "1-2-3", ...to(admin));
  await refuse(
    2,
    `at most ${REDACT_VERSIONS_MAX}`,
    ...["redact", "log", "--versions", `1-${REDACT_VERSIONS_MAX + 1}`, ...to(admin)],
  );
  assertEquals(await service.tables(), before);
});
