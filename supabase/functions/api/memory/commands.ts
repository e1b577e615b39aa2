/** The input of the memory tool `memory_20250818`, as a model sends it. Later versions of the tool may add fields. */
import { z } from "zod";

const path = z.string();

/** The fields of each command; also the schema in /openapi.json. */
export const memoryInput = z.discriminatedUnion("command", [
  z.looseObject({ command: z.literal("view"), path, view_range: z.array(z.number()).nullish() }),
  z.looseObject({ command: z.literal("create"), path, file_text: z.string() }),
  z.looseObject({
    command: z.literal("str_replace"),
    path,
    old_str: z.string(),
    // Models leave it out to remove text.
    new_str: z.string().nullish().transform((text) => text ?? ""),
  }),
  z.looseObject({ command: z.literal("insert"), path, insert_line: z.number(), insert_text: z.string() }),
  z.looseObject({ command: z.literal("delete"), path }),
  z.looseObject({ command: z.literal("rename"), old_path: path, new_path: path }),
]);

export type AnyCommand = z.output<typeof memoryInput>;
export type CommandName = AnyCommand["command"];
export type Command<Name extends CommandName> = Extract<AnyCommand, { readonly command: Name }>;
