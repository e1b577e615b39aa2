import type { FileRecord } from "../../api/records.ts";
import { TEXT_PREVIEW_BYTES_MAX } from "../../limits.ts";
import { shownType } from "./shown_type.ts";
import { previewKind } from "./text.ts";

/** Whether type and size allow editing; the content has to be text, too. */
export function mayBeEdited(record: FileRecord): boolean {
  return previewKind(shownType(record)) === "text" && record.size <= TEXT_PREVIEW_BYTES_MAX;
}
