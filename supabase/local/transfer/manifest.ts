/**
 * The manifest of an export: one line of JSON for each version, in order of path and number. `stored` names the file
 * with the version's bytes; a tombstone has none.
 */
import { z } from "zod";
import { versionOrigin } from "../../functions/api/contract/versions.ts";
import { checkPath } from "../../functions/api/http/path.ts";
import { MANIFEST_LINE_BYTES_MAX } from "../limits.ts";
import { messageOf, StartupError } from "../startup_error.ts";

export const MANIFEST = "manifest.jsonl";
/** The name of the manifest while the export is not complete. */
export const PARTIAL_MANIFEST = "manifest.jsonl.part";

/** A path below the export's folder that cannot lead out of it. */
const stored = z.string().regex(
  // deno-lint-ignore no-control-regex
  /^(files|history)(\/(?!\.{1,2}(\/|$))[^/\\\x00]+)+$/,
  "leads out of the export",
);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "is not a SHA-256");

export const manifestLine = z.object({
  path: z.string().transform((path, context) => {
    try {
      return checkPath(path);
    } catch (error) {
      context.addIssue({ code: "custom", message: messageOf(error) });
      return z.NEVER;
    }
  }),
  version: z.int().min(1),
  size: z.int().min(0),
  createdAt: z.string(),
  updatedAt: z.string(),
  ...versionOrigin.shape,
  type: z.string().optional(),
  sha256: sha256.optional(),
  stored: stored.optional(),
  /** A tombstone. */
  deleted: z.literal(true).optional(),
  /** A version whose content was erased. */
  redacted: z.literal(true).optional(),
}).refine(
  ({ deleted, redacted, sha256, stored }) =>
    (deleted ?? redacted ?? false) === (stored === undefined && sha256 === undefined) &&
    (stored === undefined) === (sha256 === undefined),
  "must have either both stored and sha256, or deleted or redacted",
);
export type ManifestLine = z.infer<typeof manifestLine>;

/** A line of a version with bytes. */
export type StoredLine = ManifestLine & { readonly stored: string; readonly sha256: string };

export function isStored(line: ManifestLine): line is StoredLine {
  return line.stored !== undefined && line.sha256 !== undefined;
}

const encoder = new TextEncoder();

/** Compares by UTF-8 bytes, as the service sorts. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Yields the lines, which must be in order, and holds one at a time. Throws a `StartupError` that names the faulty line. */
export async function* readManifest(file: string): AsyncGenerator<ManifestLine, void, void> {
  let number = 0;
  let last: ManifestLine | undefined;
  for await (const text of linesOf(file)) {
    number++;
    const line = parseLine(text, `${MANIFEST}, line ${number}`);
    const order = last === undefined ? 1 : comparePaths(line.path, last.path) || line.version - last.version;
    if (order <= 0) {
      throw new StartupError(`${MANIFEST}, line ${number}: not in the order of paths and versions.`);
    }
    last = line;
    yield line;
  }
}

function parseLine(text: string, place: string): ManifestLine {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new StartupError(`${place}: not JSON.`);
  }
  const line = manifestLine.safeParse(json);
  if (line.success) return line.data;
  const [issue] = line.error.issues;
  throw new StartupError(`${place}: ${issue?.path.join(".") || "line"} ${issue?.message ?? "is invalid"}.`);
}

/** Yields the lines. Throws if the file does not end with a line feed. */
async function* linesOf(file: string): AsyncGenerator<string, void, void> {
  let rest = "";
  const text = (await open(file)).readable.pipeThrough(new TextDecoderStream("utf-8", { fatal: true }));
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MANIFEST_LINE_BYTES_MAX) {
      throw new StartupError(`${MANIFEST} has a line that is too long.`);
    }
    yield* lines;
  }
  if (rest !== "") throw new StartupError(`${MANIFEST} ends in the middle of a line.`);
}

async function open(file: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(file);
  } catch (error) {
    throw new StartupError(`${file} cannot be read (${messageOf(error)}).`);
  }
}

/** Yields, for each file of the project, all of its lines. */
export async function* filesOf(file: string): AsyncGenerator<readonly ManifestLine[], void, void> {
  let lines: ManifestLine[] = [];
  for await (const line of readManifest(file)) {
    if (lines.length > 0 && lines[0]?.path !== line.path) {
      yield lines;
      lines = [];
    }
    lines.push(line);
  }
  if (lines.length > 0) yield lines;
}
