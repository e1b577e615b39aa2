/** `deno task verify`: checks that Storage has the bytes of every version of every project. */
import type { Administration } from "../admin/administration.ts";
import { newVerification, type Verification, verification, verify } from "../admin/verification.ts";
import { readJsonFile, writeJsonFile } from "../stack/json_file.ts";
import { StartupError } from "../startup_error.ts";
import { escapeControls, parseCommand, printLine, printNotice, run, UsageError } from "./command_line.ts";
import { connect, CONNECTION_OPTIONS, CONNECTION_USAGE } from "./connection.ts";

const USAGE = `deno task verify [--project PROJECT] [--sha256] [--repair] [--state FILE]

  Checks that the bytes of every version are in Storage. Reports versions that cannot be read, and unneeded data that the
  sweep does not find: objects, folders of projects, and rows of segments. Exits with status 1 if a version cannot be read.

  --project PROJECT  verify only this project, by id or name (default: all)
  --owner ACCOUNT    PROJECT is the name of a project of this account, by e-mail address or id (default: of no account)
  --sha256           read the bytes and compare their SHA-256, instead of only asking Storage for their sizes
  --repair           remove the unneeded data, rows by the next sweep; data that a version needs, or that is being
                     uploaded, is never touched
  --state FILE       save the progress in FILE, and continue from it after an interruption
${CONNECTION_USAGE}`;

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  project: { type: "string" },
  owner: { type: "string" },
  sha256: { type: "boolean" },
  repair: { type: "boolean" },
  state: { type: "string" },
} as const;

await run(USAGE, async () => {
  const { values } = parseCommand(Deno.args, OPTIONS, USAGE);
  if (values.owner !== undefined && values.project === undefined) {
    throw new UsageError("--owner requires --project.");
  }
  const to = await connect(values);
  const projectId = await projectOf(to, values.project, values.owner);
  const isHashed = values.sha256 ?? false;
  const state = await begin(values.state, projectId ?? null, isHashed);
  await verify(to, state, {
    projectId,
    repairs: values.repair ?? false,
    onSlice: async (reached) => {
      if (values.state !== undefined) await save(values.state, projectId ?? null, reached);
      if (!values.json) {
        printNotice(`Checked ${reached.versions} versions, ${reached.unreadableCount} without their bytes …`);
      }
    },
  });
  if (values.state !== undefined) await Deno.remove(values.state).catch(() => {});
  report(state, values.json ?? false);
  if (state.unreadableCount > 0) {
    throw new StartupError(`${state.unreadableCount} of ${state.versions} versions cannot be read.`);
  }
});

async function projectOf(to: Administration, name: string | undefined, owner: string | undefined) {
  return name === undefined ? undefined : (await to.findProject(name, owner)).id;
}

/** The saved state of a verification with the same options, or a new state. */
async function begin(file: string | undefined, of: string | null, isHashed: boolean): Promise<Verification> {
  if (file === undefined) return newVerification(isHashed);
  const saved = await readJsonFile(file).catch(() => undefined);
  if (saved === null) return newVerification(isHashed);
  const found = verification.safeParse(Object(saved).state);
  if (found.success && Object(saved).of === of && found.data.isHashed === isHashed) return found.data;
  throw new StartupError(
    `${file} is not the state file of a verification with these options; name another file.`,
  );
}

async function save(file: string, of: string | null, state: Verification): Promise<void> {
  await writeJsonFile(file, { of, state });
}

function report(state: Verification, json: boolean): void {
  const { versions, segments, unreadable, unreadableCount } = state;
  const { unneeded, removed, unknownProjects, unneededRows, removedRows } = state;
  if (json) {
    const found = { versions, segments, unreadable, unreadableCount };
    return printLine(
      JSON.stringify({ ...found, unneeded, removed, unknownProjects, unneededRows, removedRows }),
    );
  }
  for (const { projectId, path, version, reason } of unreadable) {
    printLine(escapeControls(`Cannot be read: ${projectId} ${path}, version ${version}: ${reason}`));
  }
  printLine(
    `${versions} versions checked, ${unreadableCount} without their bytes; ${segments} segments inspected; ` +
      `${unneeded} unneeded objects, ${removed} of them removed; ` +
      `${unknownProjects} folders with objects of projects that do not exist; ` +
      `${unneededRows} unneeded rows of segments, ${removedRows} of them left to the sweep.`,
  );
}
