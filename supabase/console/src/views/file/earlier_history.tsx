/** The versions that a moved file had at its old paths, below those that it has here: one history, whatever its name. */
import { useState } from "preact/hooks";
import { isCode } from "../../api/failure.ts";
import { listVersions, type Version } from "../../api/files.ts";
import { Pending } from "../../components/states.tsx";
import { visible } from "../../format.ts";
import { RENAMES_FOLLOWED_MAX, VERSIONS_PER_PAGE } from "../../limits.ts";
import { hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { VersionsTable } from "./versions_table.tsx";

interface Origin {
  readonly path: string;
  readonly version: number;
}

interface Properties {
  readonly projectId: string;
  /** Where the file was, and its last version there. */
  readonly origin: Origin;
  /** How many moves were followed already. */
  readonly depth?: number;
}

/** The move that brought a file to its path, if its first version there was made by one. */
export function originOf(path: string, versions: readonly Version[]): Origin | undefined {
  const first = versions.find(({ version }) => version === 1);
  return first?.operation === "move" && first.from?.path !== path ? first.from : undefined;
}

export function EarlierHistory({ projectId, origin, depth = 0 }: Properties) {
  const { path, version } = origin;
  const [isShown, setShown] = useState(depth === 0);
  const { data, error, reload } = useLoad(
    `earlier ${projectId} ${path} ${version} ${isShown}`,
    (signal) => isShown ? versionsUpTo(projectId, origin, signal) : Promise.resolve(null),
  );
  const title = `Before the move, as ${path}`;
  if (!isShown) {
    return (
      <button type="button" onClick={() => setShown(true)}>Show what was before, as {visible(path)}</button>
    );
  }
  if (isCode(error, "FILE_NOT_FOUND")) return null;
  if (data === undefined || data === null) {
    return <Pending {...{ error, reload }} what={`the history of ${path}`} />;
  }
  const before = originOf(path, data.versions);
  return (
    <section class="earlier" aria-label={title}>
      <h2>
        Before the move, as{" "}
        <a href={hrefOf({ name: "file", projectId, path, tab: "history" })}>{visible(path)}</a>
      </h2>
      <VersionsTable {...{ projectId, path }} versions={data.versions} />
      {data.hasMore && (
        <p class="hint">
          <a href={hrefOf({ name: "file", projectId, path, tab: "history" })}>
            All versions of {visible(path)}
          </a>
        </p>
      )}
      {before !== undefined && depth < RENAMES_FOLLOWED_MAX && (
        <EarlierHistory projectId={projectId} origin={before} depth={depth + 1} />
      )}
    </section>
  );
}

/** The newest of them, VERSIONS_PER_PAGE at most; what was written there after the move is left out. */
async function versionsUpTo(projectId: string, { path, version }: Origin, signal: AbortSignal) {
  const newest = await listVersions({ projectId, path }, 0, signal);
  const [latest] = newest.versions;
  // The list begins with the latest version.
  const later = latest === undefined ? 0 : Math.max(0, latest.version - version);
  const page = later === 0 ? newest : await listVersions({ projectId, path }, later, signal);
  const versions = page.versions.filter((entry) => entry.version <= version);
  return { versions, hasMore: later + VERSIONS_PER_PAGE < page.total };
}
