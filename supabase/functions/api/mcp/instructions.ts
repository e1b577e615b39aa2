/** The description of the server that a client gives its model once: at most 600 characters. */
export const INSTRUCTIONS =
  "Versioned files that people and other agents use, too. Every change adds a numbered version; old ones stay " +
  "readable and can be restored. Search with list_files, grep_files (exact text) or search_files (a subject); then " +
  "read_file, which shows the version. Change a part with edit_file, add to the end with append_file. write_file " +
  "replaces a whole file and needs the version you read as expected_version. If the file changed meanwhile, the " +
  "result shows how: redo your change on that. A failure begins with a CODE and says what to do next.";
