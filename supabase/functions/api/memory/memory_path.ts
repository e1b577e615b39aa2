/** Paths of the memory tool: `/memories/notes.md` stands for `notes.md` in the root folder. */
import { unescapeHidden } from "../runtime/hidden_characters.ts";

const ROOT = "/memories";

/**
 * The path below the root folder, "" for the folder itself. Resolves `.`, `..` and empty names as a file system does,
 * and accepts the escapes with which listings show paths. Fails where the path leads out of the folder.
 */
export function resolveMemoryPath(memoryPath: string): string {
  if (!memoryPath.startsWith(ROOT)) failMemory(`Path must start with /memories, got: ${memoryPath}`);
  const relative = unescapeHidden(memoryPath.slice(ROOT.length)).replace(/^\//, "");
  const names = [ROOT];
  for (const name of relative.split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) break;
    } else if (name !== "" && name !== ".") {
      // `../memories/x` resolves back into the root.
      names.push(names.length === 0 && `/${name}` === ROOT ? ROOT : name);
    }
  }
  const [root, ...rest] = names;
  if (root !== ROOT) failMemory(`Path ${memoryPath} would escape /memories directory`);
  return rest.join("/");
}

/** A failure whose message is the answer to the model. */
export class MemoryFailure extends Error {
  override readonly name = "MemoryFailure";
}

export function failMemory(message: string): never {
  throw new MemoryFailure(message);
}
