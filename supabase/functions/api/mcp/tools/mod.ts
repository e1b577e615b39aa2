/** All tools, in the order in which clients show them. */
import type { Tool } from "../tool.ts";
import { createBranch, finishBranch } from "./branches.ts";
import { recentChanges, undoRun } from "./changes.ts";
import { createLink } from "./create_link.ts";
import { editFile } from "./edit_file.ts";
import { listFiles } from "./list_files.ts";
import { deleteFile, moveFile } from "./move_delete.ts";
import { readFile } from "./read_file.ts";
import { grepFiles, searchFiles } from "./search.ts";
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
  createBranch,
  finishBranch,
  createLink,
];
