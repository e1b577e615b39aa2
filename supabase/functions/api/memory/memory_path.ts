/** Paths of the memory tool: `/memories/notes.md` stands for `notes.md` in the root folder. */
import { unescapeHidden } from "../runtime/hidden_characters.ts";
import { failMemory } from "./failure.ts";

const ROOT = "/memories";

/**
 * The path below the root folder, "" for the folder itself. As in a file system `.`, `..` and empty names are resolved.
 * Fails where it leads out of the folder. What the listing of a folder escapes may be escaped.
 */
export function resolveMemoryPath(memoryPath: string): string {
  if (!memoryPath.startsWith(ROOT)) failMemory(`Path must start with /memories, got: ${memoryPath}`);
  const relative = unescapeHidden(memoryPath.slice(ROOT.length)).replace(/^\//, "");
  const names = [ROOT];
  for (const name of relative.split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) break;
    } else if (name !== "" && name !== ".") {
      // Whoever left the folder by its own name comes back by it.
      names.push(names.length === 0 && `/${name}` === ROOT ? ROOT : name);
    }
  }
  const [root, ...rest] = names;
  if (root !== ROOT) failMemory(`Path ${memoryPath} would escape /memories directory`);
  return rest.join("/");
}
