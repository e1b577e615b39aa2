/** POST /files/redact/{path}: erases the content of versions for good; their numbers stay. */
import { z } from "zod";
import { redacted } from "../contract/files.ts";
import { readFields } from "../http/json_request.ts";
import { CHANGE_NOTE_LENGTH_MAX, INTEGER_MAX, REDACT_VERSIONS_MAX } from "../limits.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";

const body = z.object({
  versions: z.array(z.int().min(1).max(INTEGER_MAX)).min(1).max(REDACT_VERSIONS_MAX),
  note: z.string().refine((note) => !/\p{Cc}/u.test(note), "must have no control characters").refine(
    (note) => [...note].length <= CHANGE_NOTE_LENGTH_MAX,
    "is too long",
  )
    .nullish().meta({
      maxLength: CHANGE_NOTE_LENGTH_MAX,
      description: "Becomes the change note of these versions; their old notes are erased.",
    }),
});

export const redact = defineRoute({
  operation: "redact_versions",
  allows: { admin: "erase files and versions for good" },
  scopes: ["admin"],
  parse: ({ params }) => ({ path: params.path }),
  async handle(context, { path }) {
    const { versions, note } = await readFields(context, body);
    const { gate, metadata } = context;
    const redaction = { path, versions, note: note ?? undefined };
    const erased = gate.unwrap(await metadata.redact(gate.caller, redaction));
    const message = `Erased the content of ${counted(erased.versions.length, "version")} for good.`;
    return { data: { path, ...erased }, message };
  },
  openapi: {
    summary: "Erase the content of versions for good",
    description:
      "Erasing the content of versions is called redaction. The latest version cannot be redacted, unless the file is " +
      "deleted. Redacted versions stay in the version list, with `redactedAt`; reading, restoring or comparing one is " +
      "`VERSION_REDACTED`. A repeated request returns the versions that remain at that time.",
    body,
    answer: redacted,
    errors: ["FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_CURRENT"],
    example: { versions: [2], note: "a password" },
  },
});
