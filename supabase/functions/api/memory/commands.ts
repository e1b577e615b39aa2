/** The input of the memory tool `memory_20250818`, as a model sends it. Later versions of the tool may add fields. */
import { z } from "zod";

const path = z.string();

const COMMANDS = {
  view: z.looseObject({ command: z.literal("view"), path, view_range: z.array(z.number()).nullish() }),
  create: z.looseObject({ command: z.literal("create"), path, file_text: z.string() }),
  str_replace: z.looseObject({
    command: z.literal("str_replace"),
    path,
    old_str: z.string(),
    // Models leave it out to remove text.
    new_str: z.string().nullish().transform((text) => text ?? ""),
  }),
  insert: z.looseObject({
    command: z.literal("insert"),
    path,
    insert_line: z.number(),
    insert_text: z.string(),
  }),
  delete: z.looseObject({ command: z.literal("delete"), path }),
  rename: z.looseObject({ command: z.literal("rename"), old_path: path, new_path: path }),
};

export type CommandName = keyof typeof COMMANDS;
export type Command<Name extends CommandName> = z.output<(typeof COMMANDS)[Name]>;
export type AnyCommand = { [Name in CommandName]: Command<Name> }[CommandName];

/** The fields of each command; also the schema in /openapi.json. */
export const memoryInput = z.discriminatedUnion("command", [
  COMMANDS.view,
  COMMANDS.create,
  COMMANDS.str_replace,
  COMMANDS.insert,
  COMMANDS.delete,
  COMMANDS.rename,
]);

export function isCommandName(name: unknown): name is CommandName {
  return typeof name === "string" && Object.hasOwn(COMMANDS, name);
}
