/** The types of answers: those of the service's contract, not a second spelling of them. */
export type {
  Branch,
  BranchDetails,
  BranchPage,
  MergeResult,
} from "../../functions/api/contract/branches.ts";
export type {
  BatchResults,
  DiffRecord,
  FileList,
  FileRecord,
  FolderResult,
  Purged,
  ReadRecord,
  Redacted,
} from "../../functions/api/contract/files.ts";
export type { CreatedLink, Link, LinkList, RevokedLink } from "../../functions/api/contract/links.ts";
export type { Run, RunDetails, RunPage, UndoResult } from "../../functions/api/contract/runs.ts";
export type { SearchResults } from "../../functions/api/contract/search.ts";
export type { Change, ChangePage, Version, VersionList } from "../../functions/api/contract/versions.ts";
