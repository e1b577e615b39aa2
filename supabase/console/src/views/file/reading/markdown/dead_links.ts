/** The links of a document to files that do not exist, found with one list for each folder that the document links to. */
import { createContext } from "preact";
import { listFiles } from "../../../../api/files.ts";
import { directoryOf, joinPath } from "../../../../format.ts";
import { LINKED_FOLDERS_MAX } from "../../../../limits.ts";
import type { FilePlace } from "../../../../state/router.ts";
import { useLoad } from "../../../../state/use_load.ts";
import { addressOf } from "./address.ts";
import type { MarkdownNode } from "./parse.ts";

const NONE: ReadonlySet<string> = new Set();

/** The paths without a file. */
export const DeadLinks = createContext(NONE);

export function useDeadLinks(nodes: readonly MarkdownNode[] | null, place: FilePlace): ReadonlySet<string> {
  const { projectId, path: own } = place;
  const linked = [...linkedPaths(nodes ?? [], place)].filter((path) => path !== own);
  const directories = [...new Set(linked.map(directoryOf))].slice(0, LINKED_FOLDERS_MAX);
  const { data = NONE } = useLoad(`dead ${projectId} ${linked.join("\n")}`, async (signal) => {
    const dead = await Promise.all(directories.map(async (directory) => {
      const isThere = await namesIn(projectId, directory, signal);
      return linked.filter((path) => directoryOf(path) === directory && !isThere(path));
    }));
    return new Set(dead.flat());
  });
  return data;
}

function* linkedPaths(nodes: readonly MarkdownNode[], place: FilePlace): Iterable<string> {
  for (const node of nodes) {
    if (typeof node === "string") continue;
    const address = node.tag === "a" ? addressOf(node.attributes.href ?? "", place) : null;
    if (address?.kind === "file") yield address.place.path;
    yield* linkedPaths(node.children, place);
  }
}

/** Returns whether a path is there, or may be, because the list ends before it. */
async function namesIn(
  projectId: string,
  directory: string,
  signal: AbortSignal,
): Promise<(path: string) => boolean> {
  const { files, directories = [], hasMore } = await listFiles(projectId, { directory }, signal);
  const known = new Set([
    ...files.map(({ path }) => path),
    ...directories.map((name) => joinPath(directory, name)),
  ]);
  return (path) => hasMore || known.has(path);
}
