/** The parts that the routes about projects and keys have in common. */
import { z } from "zod";
import { readFields } from "../http/json_request.ts";
import type { Context } from "../context.ts";
import { ADMINISTRATION_BYTES_MAX, NAME_LENGTH_MAX } from "../limits.ts";
import type { AdministrativeAction } from "../ports/accounts.ts";
import { withoutNul } from "./schemas.ts";

/**
 * The name of a project or key: no control characters, no characters that change the direction of text, no space at
 * either end. Its length is counted in code points, as Postgres and JSON Schema count it.
 */
export function nameSchema(minimum: number) {
  return z.string().min(minimum, "must not be empty")
    .refine(
      // No character takes more than two UTF-16 code units.
      (text) => text.length <= 2 * NAME_LENGTH_MAX && [...text].length <= NAME_LENGTH_MAX,
      `must have at most ${NAME_LENGTH_MAX} characters`,
    )
    .regex(
      /^(?!\s)[^\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*(?<!\s)$/u,
      "must have no control characters and no space at either end",
    )
    .refine((text) => text.isWellFormed(), "must be well-formed Unicode")
    .meta({ maxLength: NAME_LENGTH_MAX });
}

/** The query of a deletion for good; `what` describes the text that the client repeats. */
export function confirmation(what: string) {
  return z.object({ confirm: z.string().min(1).refine(...withoutNul).meta({ description: what }) });
}

/** The body of a request about projects and keys. */
export function readAdministrationFields<Fields>(
  context: Context,
  schema: z.ZodType<Fields>,
): Promise<Fields> {
  return readFields(context, schema, { fieldsBytesMax: ADMINISTRATION_BYTES_MAX });
}

/** Performs `action` on the caller's project: the key's, or the one that the account names. Throws its refusal. */
export async function administer(
  { gate, metadata, accounts }: Context,
  action: AdministrativeAction,
  parameters: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { account } = gate;
  if (!account) return gate.unwrap(await metadata.administer(gate.caller, action, parameters));
  const { accessToken, projectId } = account;
  return gate.unwrapAccount(await accounts.administer(accessToken, projectId, action, parameters));
}
