/** All tools, in the order in which clients show them. */
import type { Tool } from "../tool.ts";
import { appendFile } from "./append_file.ts";
import { createLink } from "./create_link.ts";
import { deleteFile } from "./delete_file.ts";
import { diffVersions } from "./diff_versions.ts";
import { editFile } from "./edit_file.ts";
import { fileHistory } from "./file_history.ts";
import { grepFiles } from "./grep_files.ts";
import { listFiles } from "./list_files.ts";
import { moveFile } from "./move_file.ts";
import { readFile } from "./read_file.ts";
import { recentChanges } from "./recent_changes.ts";
import { restoreFile } from "./restore_file.ts";
import { searchFiles } from "./search_files.ts";
import { undoRun } from "./undo_run.ts";
import { writeFile } from "./write_file.ts";

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
