/** What copy and move are told, and the one thing they refuse alike. */
import { z } from "zod";
import { checkPath } from "../http/path.ts";
import { fail } from "../errors.ts";

export const copyBody = z.object({
  destination: z.string().meta({ minLength: 1, description: "The path the content goes to." }),
  overwrite: z.boolean().nullish().meta({ description: "Let a file at the destination get a next version." }),
});

/** The destination, which is another path. Throws INVALID_PATH and VALIDATION_ERROR. */
export function destinationOf(path: string, fields: z.infer<typeof copyBody>) {
  const destination = checkPath(fields.destination);
  if (destination === path) {
    const reason = "is the path itself";
    fail("VALIDATION_ERROR", `destination: ${reason}`, { issues: [{ path: "destination", reason }] });
  }
  return { destination, overwrite: fields.overwrite ?? false };
}
