/** All areas, in the order of the contract. */
import badValues from "./bad_values.ts";
import compression from "./compression.ts";
import content from "./content.ts";
import contentTypes from "./content_types.ts";
import copyMove from "./copy_move.ts";
import deletes from "./delete.ts";
import diff from "./diff.ts";
import edit from "./edit.ts";
import edits from "./edits.ts";
import entityTags from "./entity_tags.ts";
import envelope from "./envelope.ts";
import idempotency from "./idempotency.ts";
import isolation from "./isolation.ts";
import lines from "./lines.ts";
import list from "./list.ts";
import paging from "./paging.ts";
import paths from "./paths.ts";
import preconditions from "./preconditions.ts";
import rawRead from "./raw_read.ts";
import rawWrite from "./raw_write.ts";
import restore from "./restore.ts";
import search from "./search.ts";
import type { Cases } from "./suite.ts";
import versions from "./versions.ts";

export const AREAS: readonly Cases[] = [
  envelope,
  paths,
  content,
  contentTypes,
  versions,
  list,
  edit,
  isolation,
  entityTags,
  preconditions,
  idempotency,
  deletes,
  restore,
  copyMove,
  rawRead,
  rawWrite,
  compression,
  lines,
  edits,
  diff,
  paging,
  badValues,
  search,
];
