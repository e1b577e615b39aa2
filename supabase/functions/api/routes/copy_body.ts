/** The body of copy and move. */
import { z } from "zod";
import { checkPath } from "../http/path.ts";
import { failField } from "../errors.ts";
import { ifVersionField } from "./schemas.ts";

export const copyBody = z.object({
  destination: z.string().meta({ minLength: 1, description: "The path the content goes to." }),
  overwrite: z.boolean().nullish().meta({
    description: "Add a version if a file exists at the destination.",
  }),
  ...ifVersionField,
});

/** The destination; `prefix` stands before the field's name in a fault. Throws INVALID_PATH, or VALIDATION_ERROR if it is the source path. */
export function parseDestination(path: string, fields: z.infer<typeof copyBody>, prefix = "") {
  const destination = checkPath(fields.destination);
  if (destination === path) failField(`${prefix}destination`, "must differ from the source path");
  return { destination, overwrite: fields.overwrite ?? false };
}
