/** Where a version came from, if from another file: a rename keeps its history in sight. */
import type { Version } from "../../api/records.ts";
import { visible } from "../../format.ts";
import { hrefOf } from "../../state/router.ts";

interface Properties {
  readonly projectId: string;
  readonly path: string;
  readonly entry: Version;
}

/** Nothing for a version that was made at this path. */
export function CameFrom({ projectId, path, entry: { operation, from } }: Properties) {
  if (from === undefined || from.path === path) return null;
  return (
    <div class="came-from">
      {operation === "move" ? "moved" : operation === "copy" ? "copied" : "came"} from{" "}
      <a href={hrefOf({ name: "file", projectId, path: from.path, tab: "history" })}>{visible(from.path)}</a>
    </div>
  );
}
