/** The versions that a moved file had at earlier paths, below the versions at its current path. */
import { useState } from "preact/hooks";
import { isCode } from "../../api/failure.ts";
import { listVersions, type Version } from "../../api/files.ts";
import { Pending } from "../../components/states.tsx";
import { visible } from "../../format.ts";
import { RENAMES_FOLLOWED_MAX, VERSIONS_PER_PAGE } from "../../limits.ts";
import { hrefOf } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { Timeline } from "./timeline.tsx";

interface Origin {
  readonly path: string;
  readonly version: number;
}

interface Properties {
  readonly projectId: string;
  /** The file's earlier path, and its last version there. */
  readonly origin: Origin;
  /** The number of moves followed so far. */
  readonly depth?: number;
}

/** Returns the origin of the move that brought the file to its path, if its first version there comes from a move. */
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
      <Timeline {...{ projectId, path }} mimeType={data.mimeType} versions={data.versions} />
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

/** Returns the newest versions up to the move, at most VERSIONS_PER_PAGE; later versions at the old path are left out. */
async function versionsUpTo(projectId: string, { path, version }: Origin, signal: AbortSignal) {
  const newest = await listVersions({ projectId, path }, 0, signal);
  const [latest] = newest.versions;
  // The list begins with the latest version.
  const later = latest === undefined ? 0 : Math.max(0, latest.version - version);
  const page = later === 0 ? newest : await listVersions({ projectId, path }, later, signal);
  const versions = page.versions.filter((entry) => entry.version <= version);
  return { mimeType: page.file.mimeType, versions, hasMore: later + VERSIONS_PER_PAGE < page.total };
}
