/** `deno task acceptance`: checks a running service from outside, guarantee by guarantee. */
import { loadEnvFile } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { AREAS } from "./areas.ts";
import { Deployment, removeAll, stateOf } from "./deployment.ts";
import { FolderFiles } from "./folder_files.ts";
import { makeKeys } from "./operator.ts";
import { canRun, type Case, type Cases, takeOpened, useTarget } from "./suite.ts";

const USAGE = `Usage: deno task acceptance [--url URL] [--key KEY] [AREA…]

  --url URL   the service, like https://REF.supabase.co/functions/v1/api (default: the local stack)
  --key KEY   a key of any project that may read and write; without it the secret key of that Supabase project is
              needed, as SUPABASE_SECRET_KEY in the environment or in .env: then two projects without limits are made,
              and how projects are kept apart is checked, too
  AREA        only areas whose name contains this (--list prints them)
  --help      print this text

Everything is written into a folder of its own, which is removed afterwards. Some 7,000 requests: where the project's
limit is reached, it waits for the next minute.`;

const LOCAL_URL = "http://127.0.0.1:54321/functions/v1/api";
const INTERRUPTED_EXIT_CODE = 130;

class Interrupted extends Error {}

function print(line: string): void {
  const bytes = new TextEncoder().encode(line + "\n");
  for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
}

function parse(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      url: { type: "string" },
      key: { type: "string" },
      list: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  const chosen = AREAS.filter(({ title }) =>
    positionals.length === 0 || positionals.some((word) => title.toLowerCase().includes(word.toLowerCase()))
  );
  if (chosen.length === 0) throw new Error(`There is no area named ${positionals.join(" or ")}.`);
  return { ...values, areas: chosen };
}

interface Counts {
  passed: number;
  failed: number;
  leftOut: number;
}

/** Runs the areas one after another, and stops early if interrupted. */
async function runAreas(areas: readonly Cases[], signal: AbortSignal): Promise<Counts> {
  const counts = { passed: 0, failed: 0, leftOut: 0 };
  for (const { title, cases } of areas) {
    print(`\n${title}`);
    for (const one of cases) {
      if (signal.aborted) return counts;
      if (!canRun(one)) counts.leftOut++;
      else await runCase(one, counts, signal);
    }
  }
  return counts;
}

async function runCase({ name, run }: Case, counts: Counts, signal: AbortSignal): Promise<void> {
  try {
    await run();
    counts.passed++;
    print(`  ok    ${name}`);
  } catch (error) {
    // A case that the interruption has stopped says nothing about the service.
    if (signal.aborted) return;
    counts.failed++;
    const reason = error instanceof Error ? error.message : String(error);
    print(`  FAIL  ${name}\n${reason.trim().replace(/^/gm, "          ")}`);
  } finally {
    takeOpened();
  }
}

async function main(): Promise<number> {
  const { url, key, list, help, areas } = parse(Deno.args);
  if (help || list) {
    print(help ? USAGE : AREAS.map(({ title }) => title).join("\n"));
    return 0;
  }
  const baseUrl = (url ?? ownUrl() ?? LOCAL_URL).replace(/\/+$/, "");
  const interruption = new AbortController();
  const interrupt = () => {
    // A second interruption exits at once.
    if (interruption.signal.aborted) Deno.exit(INTERRUPTED_EXIT_CODE);
    print("\nInterrupted: what was written is removed.");
    interruption.abort(new Interrupted("interrupted"));
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(name, interrupt);
  const onWait = (seconds: number) =>
    print(`  …     the window is used up: the next one begins in ${seconds} s`);
  const service = new Deployment({ baseUrl, signal: interruption.signal, onWait });
  const { version } = await service.connect();
  print(`${baseUrl}, version ${version}`);
  const made = key === undefined ? await makeKeys(url?.replace(/\/functions\/v1\/api\/*$/, "")) : null;
  const keys = made === null ? [key ?? ""] : [made.key, made.strangerKey];
  const folder = `acceptance-${crypto.randomUUID().slice(0, 8)}`;
  const [own = "", strangerKey = null] = keys;
  if (key !== undefined) await service.ensureKey(key);
  try {
    const passesHead = await service.passesHead();
    useTarget({ api: service, key: own, strangerKey, passesHead, folder, snapshot: stateOf });
    const counts = await runAreas(areas, interruption.signal);
    const { passed, failed, leftOut } = counts;
    const reasons = [
      strangerKey === null && "the secret key",
      !passesHead && "a platform that passes HEAD on",
    ];
    const left = leftOut === 0
      ? ""
      : `, ${leftOut} left out, which need ${reasons.filter(Boolean).join(" or ")}`;
    print(`\n${passed} passed, ${failed} failed${left}; ${service.requestCount} requests`);
    if (interruption.signal.aborted) return INTERRUPTED_EXIT_CODE;
    return failed > 0 ? 1 : 0;
  } finally {
    // On connections of its own, since those of the run may have been aborted.
    const cleaner = new Deployment({ baseUrl, signal: new AbortController().signal, onWait });
    await cleaner.connect();
    for (const used of keys) await removeAll(new FolderFiles(cleaner, used, folder));
    await made?.revoke();
  }
}

/** The service of the Supabase project in the environment or in `.env`, found as the other commands find it. */
function ownUrl(): string | undefined {
  try {
    loadEnvFile(fileURLToPath(new URL("../../.env", import.meta.url)));
  } catch { /* no .env */ }
  const url = Deno.env.get("SUPABASE_URL");
  return url === undefined || url === "" ? undefined : `${url.replace(/\/+$/, "")}/functions/v1/api`;
}

if (import.meta.main) {
  try {
    Deno.exit(await main());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(new TextEncoder().encode(`Error: ${reason}\n`));
    Deno.exit(1);
  }
}
