/** The body of copy and move. */
import { z } from "zod";
import { checkPath } from "../http/path.ts";
import { fail } from "../errors.ts";

export const copyBody = z.object({
  destination: z.string().meta({ minLength: 1, description: "The path the content goes to." }),
  overwrite: z.boolean().nullish().meta({
    description: "Add a version if a file exists at the destination.",
  }),
});

/** The destination. Throws INVALID_PATH, or VALIDATION_ERROR if it is the source path. */
export function parseDestination(path: string, fields: z.infer<typeof copyBody>) {
  const destination = checkPath(fields.destination);
  if (destination === path) {
    const reason = "must differ from the source path";
    fail("VALIDATION_ERROR", `destination: ${reason}`, { issues: [{ path: "destination", reason }] });
  }
  return { destination, overwrite: fields.overwrite ?? false };
}
