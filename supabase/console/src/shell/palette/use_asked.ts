/** Asks the service for names while the palette does not know all names. */
import { cursorBefore, listFiles, search } from "../../api/files.ts";
import { directoryOf, joinPath, nameOf } from "../../format.ts";
import { PALETTE_QUERY_LENGTH_MIN, PALETTE_SHOWN_MAX } from "../../limits.ts";
import { hasShareLeft } from "../../session/rate_window.ts";
import { useLoad, useSettled } from "../../state/use_load.ts";
import { distance, wordsOf } from "./match.ts";

export interface Asked {
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

interface Asking extends Asked {
  readonly isBusy: boolean;
  readonly isAnswered: boolean;
}

const NOTHING: Asked = { files: [], folders: [] };

/** Sends two requests for each text after a pause in typing, and none while agents need the requests. */
export function useAsked(projectId: string, text: string, isNeeded: boolean): Asking {
  const settled = useSettled(text.trim());
  const isAsked = isNeeded && settled.length >= PALETTE_QUERY_LENGTH_MIN;
  const { data, isLoading } = useLoad(`palette ${projectId} ${isAsked ? settled : ""}`, async (signal) => {
    if (!isAsked || !hasShareLeft(projectId)) return null;
    const [named, begun] = await Promise.all([
      byWords(projectId, settled, signal).catch(() => null),
      byBeginning(projectId, settled, signal).catch(() => null),
    ]);
    if (named === null && begun === null) return null;
    return {
      files: [...begun?.files ?? [], ...named ?? []],
      folders: begun?.folders ?? [],
    };
  });
  return {
    ...data ?? NOTHING,
    isBusy: isNeeded && (settled !== text.trim() || (isAsked && isLoading)),
    isAnswered: isNeeded && Boolean(data),
  };
}

/** Finds files in all folders whose path contains the words: a search weighs names more than content. */
async function byWords(projectId: string, text: string, signal: AbortSignal): Promise<readonly string[]> {
  const query = {
    q: text,
    mode: "hybrid",
    directory: undefined,
    glob: undefined,
    caseSensitive: false,
    offset: 0,
  };
  const { results } = await search(projectId, query, signal);
  const words = wordsOf(text);
  return results.map(({ path }) => path).filter((path) => distance(words, path) !== null);
}

/** Finds paths that begin with the text, within the folder it names. */
async function byBeginning(projectId: string, text: string, signal: AbortSignal): Promise<Asked> {
  const [directory, prefix] = [directoryOf(text), nameOf(text)];
  const after = prefix === "" ? undefined : cursorBefore(directory, prefix);
  const list = await listFiles(projectId, { directory, after, limit: PALETTE_SHOWN_MAX }, signal);
  return {
    files: list.files.map(({ path }) => path).filter((path) => path.startsWith(text)),
    folders: (list.directories ?? []).map((name) => joinPath(directory, name)),
  };
}
