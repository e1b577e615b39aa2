/** All tools, in the order in which clients show them. */
import type { Tool } from "../tool.ts";
import { createLink } from "./create_link.ts";
import { deleteFile } from "./delete_file.ts";
import { editFile } from "./edit_file.ts";
import { listFiles } from "./list_files.ts";
import { moveFile } from "./move_file.ts";
import { readFile } from "./read_file.ts";
import { recentChanges } from "./recent_changes.ts";
import { grepFiles, searchFiles } from "./search.ts";
import { undoRun } from "./undo_run.ts";
import { diffVersions, fileHistory, restoreFile } from "./versions.ts";
import { appendFile, writeFile } from "./write.ts";

export const TOOLS: readonly Tool[] = [
  readFile,
  listFiles,
  grepFiles,
  searchFiles,
  writeFile,
  editFile,
  appendFile,
  deleteFile,
  moveFile,
  fileHistory,
  diffVersions,
  restoreFile,
  recentChanges,
  undoRun,
  createLink,
];
