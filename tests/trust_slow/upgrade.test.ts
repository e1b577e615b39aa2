/**
 * Each released version is upgraded to this one: its rows stay as they are, no table of files is locked for long, all of
 * its versions have their bytes, and the service answers as on a new database. Then the function of the release runs on
 * the upgraded database, as after a deployment that is taken back. Its projects can be exported and imported elsewhere.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { newVerification, verify } from "../../supabase/local/admin/verification.ts";
import { effectiveLines } from "../../supabase/client/transfer/check_import.ts";
import { exportFiles } from "../../supabase/client/transfer/export.ts";
import { importFiles } from "../../supabase/client/transfer/import.ts";
import { filesOf, MANIFEST } from "../../supabase/client/transfer/manifest.ts";
import { Api } from "../../supabase/client/library/api.ts";
import { webhookList } from "../../supabase/functions/api/contract/webhooks.ts";
import { signInWith } from "../support/client/accounts.ts";
import { dataOf } from "../support/client/contract.ts";
import { membersOf } from "../support/client/members.ts";
import { connected } from "../support/client/oauth.ts";
import { assertAgrees, modelRuns } from "../support/model/agreement.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { withConnection } from "../support/postgres/postgres_hosted.ts";
import { assertFrozen, digestOfRows, pushAll } from "../support/releases/migration.ts";
import { createDatabase, openRelease, type Release, RELEASES } from "../support/releases/release.ts";
import { IS_LONG, report, rounds } from "../support/runner/long.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { type Service, startService } from "../support/stack/service.ts";

const ACCEPTANCE = fileURLToPath(new URL("../acceptance/run.ts", import.meta.url));
/** How many projects are exported and imported, and the folder of the first, which has most versions. */
const EXPORTED = rounds(40, 10_000);
const OF_LARGEST = IS_LONG ? "" : "reports/3";

/** Returns the number of versions, all of which have their bytes. `isHashed`: reads these. */
async function assertWhole(service: Service, isHashed: boolean): Promise<number> {
  const state = newVerification(isHashed);
  const operator = new Administration(service.stack.supabaseUrl, service.stack.secretKey);
  await verify(operator, state, { projectId: undefined, repairs: false, onSlice: () => Promise.resolve() });
  // What uploads of the fixture left unfinished is unneeded once a day has passed, until the sweep removes it.
  assertEquals(state.unreadable, []);
  return state.versions;
}

/** The release's credentials are still valid: a key, a password, an app's token, a link, and a webhook's secret. */
async function assertCredentials(
  service: Service,
  { manifest: { person, appToken, link } }: Release,
): Promise<void> {
  const { status } = await service.request(person.key, "GET", "/files/notes/plan.md");
  assertEquals(status, 200);
  const account = (await signInWith(service, person)).about(person.projectId);
  assertEquals((await account.projects()).map(({ id, role }) => [id, role]), [[person.projectId, "owner"]]);
  assert((await membersOf(account)).length > 4);
  assertEquals((await fetch(service.baseUrl + link)).status, 200);
  const text = await connected(service, appToken).call("read_file", { path: "notes/plan.md" });
  assert(text.includes("Another plan"), text);
  const hooks = dataOf(await account.request("GET", "/project/webhooks"), "list_webhooks", webhookList);
  // The database is another one than where it was made.
  assertEquals(hooks.webhooks.map(({ state, reason }) => [state, reason]), [["paused", "other_database"]]);
}

async function assertAccepted(service: Service, ...areas: string[]): Promise<void> {
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", ACCEPTANCE, "--url", service.baseUrl, ...areas],
    env: { SUPABASE_SECRET_KEY: service.stack.secretKey },
    stdin: "null",
    stderr: "inherit",
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stdout).slice(-4000));
}

/** What an export says of each version that an import writes again: not of what was erased. */
async function exported(service: Service, key: string, directory: string, folder: string) {
  const api = new Api({ url: service.baseUrl, key });
  await exportFiles(api, folder, { directory, at: undefined, hasHistory: true });
  const versions: unknown[] = [];
  for await (const lines of filesOf(join(folder, MANIFEST))) {
    for (const { path, sha256, size, type, actor, note, deleted } of effectiveLines(lines)) {
      versions.push({ path, sha256, size, type, actor, note, deleted });
    }
  }
  return versions;
}

/** Imports projects of `from` into new ones of `to`, and compares the exports of both. Returns the number of versions. */
async function leave(from: Service, to: Service, { manifest: { keys } }: Release): Promise<number> {
  let count = 0;
  for (const [index, { key }] of keys.slice(0, EXPORTED).entries()) {
    await withScratchDirectory(async (folder) => {
      const directory = index === 0 ? OF_LARGEST : "";
      const versions = await exported(from, key, directory, join(folder, "out"));
      const other = await to.project("enterprise");
      const api = new Api({ url: to.baseUrl, key: other.key });
      await importFiles(api, join(folder, "out"), { overwrites: false });
      assertEquals(await exported(to, other.key, directory, join(folder, "again")), versions);
      count += versions.length;
    });
  }
  return count;
}

for (const version of RELEASES) {
  Deno.test({
    name: `release ${version} is upgraded to this one, is whole, and can be gone back to and left`,
    sanitizeOps: false,
    sanitizeResources: false,
    fn: (t) => withScratchDirectory((folder) => upgrade(t, version, folder)),
  });
}

async function upgrade(t: Deno.TestContext, version: string, folder: string): Promise<void> {
  const server = await startPostgres();
  const services: Service[] = [];
  const start = async (options: Parameters<typeof startService>[0]) => {
    const service = await startService({ functionProcesses: 2, ...options });
    services.push(service);
    return service;
  };
  try {
    const release = await openRelease(version, folder, server);
    const databaseUrl = await release.restoreDatabase(server, "upgraded");
    const dataDir = join(folder, "data");
    await release.restoreData(dataDir, databaseUrl);
    const figures: Record<string, unknown> = { version };

    await t.step(
      "its migrations are those of this repository, and the later ones change no row that there was, and read no table of files under a lock",
      async () => {
        await withConnection(databaseUrl, async (sql) => {
          await assertFrozen(sql);
          const before = await digestOfRows(sql);
          figures["locks"] = await pushAll(sql);
          assertEquals(await digestOfRows(sql, before.columns), before);
        });
      },
    );

    const service = await start({ dataDir, databaseUrl });
    await t.step(
      "every version has its bytes, and keys, sessions, apps, links and webhooks are those of before",
      async () => {
        figures["versions"] = await assertWhole(service, true);
        await assertCredentials(service, release);
      },
    );
    await t.step("the service keeps the contract on it", () => assertAccepted(service));
    await t.step(
      "it answers as the model does",
      () => assertAgrees(`model on an upgraded ${version}`, service, modelRuns(rounds(100, 1000))),
    );
    await t.step(
      "its projects are exported, and imported into an empty service, with the same history",
      async () => {
        const empty = await start({ databaseUrl: await createDatabase(server, "empty") });
        figures["exported"] = await leave(service, empty, release);
        await empty.stop();
      },
    );
    await service.stop();

    await t.step(
      "the function of the release runs on the upgraded database, and reads what was written since",
      async () => {
        const { functionEntry } = release;
        const back = await start({ dataDir, databaseUrl, functionEntry });
        await assertWhole(back, false);
        await assertCredentials(back, release);
        await assertAgrees(`model by ${version} on the upgraded database`, back, modelRuns(rounds(12, 1000)));
        await back.stop();
      },
    );
    report("upgrade", figures);
  } finally {
    for (const service of services) await service.stop().catch(() => {});
    await server.stop();
  }
}
