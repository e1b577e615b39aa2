/** The records that the service returns, as its contract declares them. Types alone: no schema is in the console's bundle. */
import type { ReadRecord } from "../../../functions/api/contract/files.ts";

export type { DiffRecord as Diff, FileList, FileRecord } from "../../../functions/api/contract/files.ts";
export type { Key, KeyList, NewKey } from "../../../functions/api/contract/keys.ts";
export type {
  Account,
  Deletion,
  Project,
  ProjectList,
  Retention,
} from "../../../functions/api/contract/projects.ts";
export type {
  Run,
  RunDetails,
  RunFile,
  RunPage,
  UndoResult as Undo,
} from "../../../functions/api/contract/runs.ts";
export type { SearchResults } from "../../../functions/api/contract/search.ts";
export type { Version, VersionList } from "../../../functions/api/contract/versions.ts";

/** Some lines of a text, each with its line break. */
export type Lines = {
  readonly [Name in "content" | "startLine" | "endLine" | "totalLines"]-?: NonNullable<ReadRecord[Name]>;
};
